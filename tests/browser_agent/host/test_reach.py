"""Which address may be opened at a host's word."""

import pytest

from browser_agent.host.pages import Reach
from browser_agent.network.egress import Egress
from ctxfold.errors import Refused

PUBLIC, LOCAL, OTHER, INTRANET = (
    "https://example.org/a",
    "http://localhost:3000/",
    "http://127.0.0.1:8000/",
    "http://10.0.0.7/",
)


def test_a_public_address_is_opened_and_a_private_one_until_a_public_page_was_shown() -> None:
    fresh = Reach(Egress.of())
    assert fresh.judge(PUBLIC) == "open"
    assert {fresh.judge(url) for url in (LOCAL, OTHER, INTRANET, "http://[::1]:80/")} == {"permit"}
    assert fresh.after_showing(LOCAL).judge(OTHER) == "permit"
    told = fresh.with_agreed(LOCAL).after_showing(PUBLIC)
    assert told.judge(PUBLIC) == "open"
    assert told.judge(LOCAL) == "permit"
    assert {told.judge(url) for url in (OTHER, INTRANET, "http://localhost:3001/")} == {"ask"}
    assert told.with_agreed(OTHER).judge(OTHER) == "permit"


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/"]
)
def test_an_address_of_the_link_is_opened_only_where_it_was_listed(url: str) -> None:
    with pytest.raises(Refused, match="--allow"):
        Reach(Egress.of()).judge(url)


@pytest.mark.parametrize("url", [LOCAL, OTHER, INTRANET, "http://[::1]:80/", "http://[::ffff:10.0.0.7]/"])
def test_for_a_host_on_another_machine_what_is_private_is_opened_only_where_it_was_listed(url: str) -> None:
    with pytest.raises(Refused, match="--allow"):
        Reach(Egress.of(), local=False).judge(url)
    assert Reach(Egress.of(("localhost:3000",)), local=False).judge(LOCAL) == "open"


def test_what_was_listed_holds_whatever_the_host_says() -> None:
    listed = Reach(Egress.of(("example.org", "127.0.0.1:8000", "169.254.169.254")))
    assert {listed.judge(url) for url in (PUBLIC, "https://www.example.org/", OTHER)} == {"open"}
    assert listed.judge("http://169.254.169.254/latest") == "open"
    assert listed.after_showing(PUBLIC).judge(OTHER) == "open"
    for url in ("https://example.com/", LOCAL, INTRANET):
        with pytest.raises(Refused, match="--allow"):
            listed.judge(url)
