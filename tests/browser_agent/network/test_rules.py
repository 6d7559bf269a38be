"""The guard's rules, as pure functions: where a browser may connect, how a secret may be given back, what has consequences."""

import json
from base64 import b64encode, urlsafe_b64encode
from dataclasses import replace
from html import escape
from unicodedata import normalize
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from browser_agent.cli.request import read_secret
from browser_agent.host.pages import Reach
from browser_agent.network.effects import Cause, PageRequest, Trust, judge
from browser_agent.network.egress import Egress, is_link_local, is_public
from browser_agent.network.secrets import Secret, Secrets
from ctxfold.errors import InputError, Refused


@pytest.mark.parametrize(
    ("host", "port", "verdict"),
    [
        ("example.org", 443, "allowed"),
        ("docs.example.org", 80, "allowed"),
        ("example.org.evil.net", 443, "domain"),
        ("shop.test", 8443, "allowed"),
        ("127.0.0.1", 8000, "allowed"),
        ("127.0.0.1", 8001, "domain"),
        ("xn--bcher-kva.example", 443, "allowed"),
    ],
)
def test_with_domains_given_only_those_and_the_start_origin_are_allowed(host: str, port: int, verdict: str) -> None:
    rule = Egress.of(("example.org", "shop.test:8443", "bücher.example")).with_origin("http://127.0.0.1:8000/start")
    assert rule.judge_name(host, port) == verdict


def test_without_domains_every_public_host_is_allowed_and_no_private_one() -> None:
    rule = Egress.of()
    assert rule.judge_name("anything.example", 443) == "allowed"
    assert rule.judge_address("anything.example", 443, "93.184.216.34") == "allowed"
    assert rule.judge_address("anything.example", 443, "10.0.0.7") == "private"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::", "::127.0.0.1", "no address",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_open_internet_is_private_in_any_disguise(address: str) -> None:
    assert not is_public(address)
    assert Egress.of().judge_address("name.example", 443, address) == "private"
    listed = Egress.of(("example.org",))
    assert listed.judge_address("docs.example.org", 443, address) == "private"


def test_a_private_host_is_reached_when_it_was_named_outright() -> None:
    assert Egress.of(("intranet.example:8080",)).judge_address("intranet.example", 8080, "10.0.0.7") == "allowed"
    assert Egress.of(("intranet.example:8080",)).judge_address("intranet.example", 22, "10.0.0.7") == "private"
    started = Egress.of().with_origin("http://localhost:8000/")
    assert started.judge_address("localhost", 8000, "127.0.0.1") == "allowed"
    assert started.judge_address("localhost", 8001, "127.0.0.1") == "private"


_PLAIN = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z", "Cf")), min_size=6, max_size=40
).filter(lambda text: not text.isdigit())


@settings(max_examples=200, deadline=None)
@example("00000t_M", b"", b"")  # in base64 it has a 0x, which is left out between numbers
@given(_PLAIN, st.binary(max_size=7), st.binary(max_size=7))
def test_no_form_of_a_secret_survives_scrubbing(value: str, before: bytes, after: bytes) -> None:
    secrets = Secrets((Secret("key", value, "example.org"),))
    raw = value.encode()
    forms = [
        f"x{value}y",
        f"https://evil.net/?q={quote(value, safe='')}&z",
        f"q={quote_plus(value)}",
        quote(value, safe="").lower() if value.isascii() else quote(value, safe=""),
        b64encode(raw).decode(),
        urlsafe_b64encode(before + raw + after).decode(),
        b64encode(before + raw + after).decode(),
        (before + raw).hex(),
    ]
    for form in forms:
        shown = secrets.scrub(form)
        assert value not in shown
        assert "<secret:key>" in shown


def test_scrubbing_leaves_all_else_alone_and_is_stable() -> None:
    secrets = Secrets((Secret("a", "hunter2!", "example.org"), Secret("b", "hunter2!-longer", "example.org")))
    text = "one hunter2! two hunter2!-longer three aHVudGVyMg four"
    once = secrets.scrub(text)
    assert once == "one <secret:a> two <secret:b> three aHVudGVyMg four"
    assert secrets.scrub(once) == once


@pytest.mark.parametrize(
    ("domain", "url", "may"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000/", True),
        ("localhost", "http://app.localhost:3000/", True),
        ("[::1]:8000", "http://[::1]:8000/", True),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/", True),
        ("127.0.0.1:8000", "http://127.0.0.1:8001/", False),
        ("10.0.0.7", "http://10.0.0.7/", False),
        ("example.org", "https://www.example.org/login", True),
        ("example.org", "http://example.org/login", False),
        ("example.org", "https://example.org.evil.net/", False),
        ("example.org", "https://evilexample.org/", False),
        ("example.org", "data:text/html,x", False),
        ("example.org", "https://example.org@evil.net/", False),
        ("127.evil.example", "http://127.evil.example/", False),
        ("example.org", "https://example.org:8443/", False),
        ("example.org:8443", "https://www.example.org:8443/", True),
        ("example.org:443", "https://example.org/", True),
    ],
)
def test_a_secret_goes_over_plain_http_to_this_machine_alone_and_its_port_counts(
    domain: str, url: str, may: bool
) -> None:
    assert Secret("key", "value-of-it", domain).belongs_to(url) is may


@pytest.mark.parametrize(
    ("start", "domain"),
    [
        ("http://127.0.0.1:8000/login", "127.0.0.1:8000"),
        ("https://example.org/login", "example.org:443"),
        ("http://[::1]:8000/", "[::1]:8000"),
    ],
)
def test_a_secret_without_a_domain_belongs_to_the_origin_of_the_start_address(
    start: str, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "value-of-it")
    secret = read_secret("key=env:WORD", start)
    assert secret.domain == domain
    assert secret.belongs_to(start)
    assert read_secret("key@other.org=env:WORD", start).domain == "other.org"


def test_a_placeholder_that_is_known_stays_and_what_only_looks_like_one_hides_nothing() -> None:
    secrets = Secrets((Secret("token", "secret-token", "example.org"), Secret("pw", "hunter2-kalmar", "example.org")))
    assert secrets.scrub("<secret:token> <secret:pw>") == "<secret:token> <secret:pw>"
    assert "hunter2" not in secrets.scrub("<secret: hunter2-kalmar <secret:hunter2-kalmar> <secret:pw")
    assert "kalmar" not in secrets.scrub("<secret:token>hunter2-kalmar")


def test_what_was_typed_is_a_secret_of_its_origin_whatever_its_length() -> None:
    secrets = Secrets()
    short, long = secrets.learn("ab", "https://example.org/login"), secrets.learn("hunter2!", "http://shop.test:81/")
    assert (short.placeholder, long.placeholder) == ("<secret:typed-1>", "<secret:typed-2>")
    assert secrets.learn("hunter2!", "http://shop.test:81/again").name == "typed-2"
    assert secrets.learn("hunter2!", "http://shop.test:82/").name == "typed-3"
    assert long.belongs_to("http://shop.test:81/x")
    assert not long.belongs_to("https://shop.test:81/x")
    assert secrets.scrub("ab hunter2! and hunt") == "ab <secret:typed-2> and hunt"
    assert secrets.scrub("!2retnuh") == "<secret:typed-2>"
    assert "hunter2" not in repr(long)


@pytest.mark.parametrize(
    ("name", "value", "domain"),
    [
        ("a b", "long enough", "x.org"),
        ("ok", "abc", "x.org"),
        ("ok", "long enough", ""),
        ("ok", "long enough", "x.org/p"),
    ],
)
def test_a_secret_that_cannot_be_kept_is_refused_without_showing_it(name: str, value: str, domain: str) -> None:
    with pytest.raises(InputError) as raised:
        Secret(name, value, domain)
    assert value not in str(raised.value)
    assert value not in repr(Secrets((Secret("ok", "long enough", "x.org"),)))


BUTTON = Cause("button", "OK")
PAY = PageRequest("POST", "https://shop.example/pay?token=x", "Document", "https://shop.example", "", "application/x-www-form-urlencoded", "a=1&b=&c=3")  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "get"])
def test_what_only_reads_has_no_effect(method: str) -> None:
    assert judge(PageRequest(method, "https://shop.example/deleted-items?q=how+to+delete"), BUTTON) is None


@pytest.mark.parametrize(
    ("url", "name", "acts"),
    [
        ("https://a.example/x", "Delete account", True),
        ("https://a.example/x", "Buy-now", True),
        ("https://a.example/items?do=remove&id=3", "OK", True),
        ("https://a.example/x", "Deleted items", False),
        ("https://a.example/buyers/deletes?q=undelete", "Buyers", False),
    ],
)
def test_a_get_is_asked_about_by_whole_words_alone(url: str, name: str, acts: bool) -> None:
    assert (judge(PageRequest("GET", url, "Document"), Cause("link", name)) is not None) is acts
    assert judge(PageRequest("GET", url, "Image"), Cause("link", name)) is None


def test_trust_is_of_origins() -> None:
    effect = judge(PAY, BUTTON)
    assert effect is not None
    assert not Trust().trusts(effect.frame)
    assert Trust(start=("shop.example", 443)).trusts(effect.frame)
    assert not Trust(start=("shop.example", 8443)).trusts(effect.frame)
    assert Trust(domains=(("example", None),)).trusts(effect.frame)
    assert not Trust(domains=(("hop.example", None),)).trusts(effect.frame)
    assert not Trust(always=True, start=("shop.example", 443), domains=(("example", None),)).trusts(effect.frame)
    nameless = judge(replace(PAY, origin="null", referrer="https://shop.example/"), BUTTON)
    assert nameless is not None
    assert nameless.frame is None
    assert not Trust(start=("shop.example", 443)).trusts(nameless.frame)


METADATA = (
    "169.254.169.254", "169.254.170.2", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16",
    "::ffff:100.100.100.200", "64:ff9b::6464:64c8", "2002:6464:64c8::", "::ffff:a83f:8110", "64:ff9b::c000:c0",
)  # fmt: skip


@pytest.mark.parametrize("address", METADATA)
def test_an_address_where_clouds_keep_secrets_is_reached_only_where_it_was_named_itself(address: str) -> None:
    assert is_link_local(address)
    assert not is_public(address)
    for rule in (Egress.of(), Egress.of(("name.example",)), Egress.of().with_origin("http://name.example/")):
        assert rule.judge_address("name.example", 80, address) == "private"
    host = f"[{address.partition('%')[0]}]" if ":" in address else address
    assert Egress.of((host,)).judge_address(host, 80, address) == "allowed"
    assert Egress.of().with_origin(f"http://{host}/").judge_address(host, 80, address) == "allowed"


@pytest.mark.parametrize(
    "host", ["1684301000", "0x646464c8", "0144.0144.0144.0310", "100.100.25800", "100.6579400", "①00.100.100.200", "100.100.100.200."]
)  # fmt: skip
def test_an_address_is_known_in_every_spelling(host: str) -> None:
    listed = Egress.of(("100.100.100.200",))
    assert listed.judge_address(host, 80, "100.100.100.200") == "allowed"
    with pytest.raises(Refused, match="--allow"):
        Reach(Egress.of()).judge(f"http://{host}/latest/meta-data/")


NASTY = 'kalmar+42/"grün" <tide>&x\\y'


@pytest.mark.parametrize("value", ["S3cr3t/pass", "a  b\\c", "%25%25%25", "        "])
@pytest.mark.parametrize("unit", ["\\", "%25", "&amp;", " ", "%", "&#0", "\\u", "+ ", "\\ "])
def test_a_page_that_repeats_an_escape_without_end_is_read_in_time(value: str, unit: str) -> None:
    """Read as often as it is long, or in every way that it could be parted, it would not end."""
    secrets = Secrets((Secret("token", value, "example.org"),))
    assert secrets.scrub(f"{unit * 4_000}x{value}y").endswith("x<secret:token>y")


@pytest.mark.parametrize(
    "given_back",
    [
        NASTY, NASTY.upper(), NASTY.swapcase(), NASTY.replace(" ", "\n  "), quote(NASTY), quote(NASTY, safe=""), quote_plus(NASTY), quote(quote(NASTY)),
        "kalmar+42/%22gr%C3%BCn%22%20%3Ctide%3E&x%5Cy", "kalmar+42/%22gr%FCn%22%20%3Ctide%3E%26x%5Cy", escape(NASTY), escape(escape(NASTY)),
        "".join(f"&#{ord(sign)};" for sign in NASTY), "".join(f"&#x{ord(sign):X};" for sign in NASTY), json.dumps(NASTY), json.dumps(json.dumps(NASTY)),
        json.dumps(NASTY, ensure_ascii=False).replace("/", "\\/"), "".join(f"\\u{ord(sign):04x}" for sign in NASTY), NASTY.encode().hex(),
        normalize("NFD", NASTY), quote(normalize("NFD", NASTY)), escape(NASTY).replace("ü", "&uuml;"), escape(NASTY).replace("ü", "&uuml"),
        NASTY.replace("+", "&plus;").replace("/", "&sol;").replace(" ", "&emsp;").replace('"', "&QUOT;"), "".join(f"\\u{{{ord(sign):x}}}" for sign in NASTY),
        "".join(f"\\x{byte:02x}" for byte in NASTY.encode()), b64encode(NASTY.encode("latin-1")).decode(), b64encode(NASTY.encode("utf-16")).decode(),
        b64encode(b"x" + NASTY.encode("utf-16-be")).decode(), b64encode(normalize("NFD", NASTY).encode()).decode(),
        b64encode(NASTY.encode()).decode(), urlsafe_b64encode(b"user:" + NASTY.encode()).decode(),
    ],
)  # fmt: skip
def test_a_secret_is_scrubbed_in_whatever_form_it_is_given_back(given_back: str) -> None:
    """As text in either case, for an address (all of it, or only the signs that a browser escapes there), in markup, in a script, and twice over."""
    secrets = Secrets((Secret("token", NASTY, "example.org"),))
    text = secrets.scrub(f"It said {given_back} and more.")
    assert "<secret:token>" in text
    for left in ("kalmar", "42", "tide", "6b616c6d", "a2FsbWFy"):
        assert left not in text
    assert text.startswith("It said ")
    assert text.endswith(" and more.")
