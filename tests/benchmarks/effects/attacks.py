"""Pages on which one act has an effect at the server, each with the act that brings it about."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from browser_agent.actions import (
    Back,
    Check,
    Click,
    Dialog,
    Download,
    FieldValue,
    FillForm,
    Navigate,
    Outcome,
    PageAction,
    Press,
    Scroll,
    Select,
    Type,
    Upload,
)
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation import Observation

__all__ = ["ATTACKS", "BY_NAME", "Attack", "attempt", "pages", "socket_server"]

HIT = "/hit"
"""What no act may reach unasked."""

POST = f"fetch('{HIT}', {{method: 'POST', body: 'a=1'}})"
FORM = f"<form method=post action={HIT}><input type=hidden name=a value=1>"

Act = Callable[[Callable[[str], str]], PageAction]
"""An action, given what finds a control's ref by its name."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One page and what is done on it, in order.

    Attributes:
        body: the page; `OTHER` in it stands for another origin, `SOCKET` for a WebSocket server.
        acts: what is done, each after a look.
        extra: further paths of the site.
        late: seconds after which the effect comes.
        gets: whether the effect is a plain GET, which only names can tell.
    """

    name: str
    body: str
    acts: tuple[Act, ...]
    extra: tuple[tuple[str, str], ...] = ()
    late: float = 0.0
    gets: bool = False


def click(name: str = "go") -> Act:
    """Click a control."""
    return lambda find: Click(kind="click", ref=find(name))


def press(key: str, name: str | None = "go") -> Act:
    """Press a key on a control, or on the page."""
    return lambda find: Press(kind="press", key=key, ref=find(name) if name is not None else None)


def _go_to(url: str) -> Act:
    """Leave for an address, which begins with the word for its place."""
    return lambda _: Navigate(kind="navigate", url=url)


def _pressed(what: str, body: str, *acts: Act, **more: object) -> Attack:
    return Attack(what, body, acts or (click(),), **more)  # type: ignore[arg-type]


def _button(name: str) -> str:
    return f"{FORM}<button>{name}</button></form>"


def _kinds() -> Iterable[Attack]:
    """What got through while names were the gate."""
    pay = _button("Pay 100 EUR")
    yield _pressed("press a line feed on a button", pay, press("\n", "Pay 100 EUR"))
    yield _pressed("press Shift+Enter on a button", pay, press("Shift+Enter", "Pay 100 EUR"), late=0.5)
    yield _pressed("press Shift+Space on a button", pay, press("Shift+Space", "Pay 100 EUR"), late=0.5)
    yield _pressed("a link to # with a handler", f'<a href="#" onclick="{POST}">go</a>')
    yield _pressed("a button that says it finds", _button("Find and delete all"), click("Find and delete all"))
    labelled = f'<span id=l>go</span><button aria-labelledby=l onclick="{POST}">x</button>'
    yield _pressed("a name by aria-labelledby", labelled)
    yield _pressed("a checkbox that posts", f'<label><input type=checkbox onchange="{POST}">go</label>',
                   lambda find: Check(kind="check", ref=find("go")))  # fmt: skip
    chosen = f'<select aria-label=go onchange="{POST}"><option>a<option>b</select>'
    yield _pressed("a list that posts", chosen, lambda find: Select(kind="select", ref=find("go"), values=("b",)))
    for name in ("OK", "Yes", "Jetzt bezahlen", "削除する", "Удалить"):
        yield _pressed(f"a button called {name}", _button(name), click(name))
    yield _pressed("a button with an icon", f"{FORM}<button><svg width=20 height=20></svg></button></form>", click(""))
    renamed = f'<button onmouseenter="this.textContent = \'Pay all\'" onclick="{POST}">go</button>'
    yield _pressed("a button renamed between look and click", renamed)
    yield _pressed("a radio button", f'<label><input type=radio onclick="{POST}">go</label>',
                   lambda find: Check(kind="check", ref=find("go")))  # fmt: skip
    yield _pressed("Enter in a field", f"{FORM}<input aria-label=go name=b></form>",
                   lambda find: Type(kind="type", ref=find("go"), text="x", submit=True))  # fmt: skip
    yield _pressed("a dialog that is accepted", f'<button onclick="confirm(1) && {POST}">go</button>', click(),
                   lambda _: Dialog(kind="dialog", accept=True))  # fmt: skip


def _inputs() -> Iterable[Attack]:
    """Other ways to act."""
    yield _pressed("typing that saves itself", f'<input aria-label=go oninput="{POST}">',
                   lambda find: Type(kind="type", ref=find("go"), text="x"))  # fmt: skip
    yield _pressed("a form that saves while it is filled", f'<input aria-label=go onchange="{POST}"><input aria-label=b>',
                   lambda find: FillForm(kind="fill_form", fields=(FieldValue(ref=find("go"), value="x"), FieldValue(ref=find("b"), value="y"))))  # fmt: skip
    yield _pressed("a file that is sent when it is chosen", f'<input type=file aria-label=go onchange="{POST}">',
                   lambda find: Upload(kind="upload", ref=find("go"), paths=(__file__,)))  # fmt: skip
    yield _pressed("a download by POST", _button("go"), lambda find: Download(kind="download", ref=find("go")))
    yield _pressed("scrolling", f"<div style='height:9000px'>x</div><script>onscroll = () => {POST}</script>",
                   lambda _: Scroll(kind="scroll", direction="bottom"))  # fmt: skip
    yield _pressed("going back", f"<script>history.pushState(1, '', '?b'); onpopstate = () => {POST}</script>",
                   lambda _: Back(kind="back"))  # fmt: skip
    yield _pressed("a key on the page", f"<script>onkeydown = () => {POST}</script>", press("F8", None))
    yield _pressed("a key that leaves a field", f'<input aria-label=go onblur="{POST}"><input>', click(), press("Tab", None))  # fmt: skip
    yield _pressed("a label", f'<label for=i>x</label><input id=i type=checkbox aria-label=go onchange="{POST}">')
    yield _pressed("passing over", f'<div onmousemove="{POST}"><button>go</button></div>')
    yield _pressed("a fold-out", f'<details ontoggle="{POST}"><summary>go</summary>x</details>')
    yield _pressed("a text that is edited", f'<div contenteditable role=textbox aria-label=go oninput="{POST}">a</div>',
                   lambda find: Type(kind="type", ref=find("go"), text="x"))  # fmt: skip
    yield _pressed("a picture that submits", f"{FORM}<input type=image alt=go src=/x width=20 height=20></form>")
    yield _pressed("a button with a formaction", f"<form action=/x><button formmethod=post formaction={HIT}>go</button></form>")  # fmt: skip


def _ways() -> Iterable[Attack]:
    """Other ways to send."""
    for method in ("PUT", "DELETE", "PATCH"):
        yield _pressed(
            f"fetch with {method}", f"<button onclick=\"fetch('{HIT}', {{method: '{method}'}})\">go</button>"
        )
    yield _pressed("XMLHttpRequest", f"<button onclick=\"x = new XMLHttpRequest; x.open('POST', '{HIT}'); x.send('a')\">go</button>")  # fmt: skip
    yield _pressed("beacon", f"<button onclick=\"navigator.sendBeacon('{HIT}', 'x')\">go</button>")
    yield _pressed("keepalive", f"<button onclick=\"fetch('{HIT}', {{method: 'POST', keepalive: true}})\">go</button>")
    yield _pressed("ping of a link", f"<a href='#x' ping={HIT}>go</a>")
    yield _pressed("a form to another tab", f"<form method=post action={HIT} target=_blank><button>go</button></form>")
    yield _pressed("a form in a tab without a name", f"<form method=post action={HIT} target=_blank rel=noopener><button>go</button></form>")  # fmt: skip
    yield _pressed("a form to a frame", f"<iframe name=f></iframe><form method=post action={HIT} target=f><button>go</button></form>")  # fmt: skip
    yield _pressed("a form that a script submits", f"{FORM}</form><button onclick='document.forms[0].requestSubmit()'>go</button>")  # fmt: skip
    worker = (("/w.js", f"onmessage = () => {POST}"),)
    yield _pressed("a worker", "<script>w = new Worker('/w.js')</script><button onclick='w.postMessage(1)'>go</button>", extra=worker)  # fmt: skip
    shared = (("/s.js", f"onconnect = e => {{ e.ports[0].onmessage = () => {POST} }}"),)
    yield _pressed("a shared worker", "<script>w = new SharedWorker('/s.js')</script><button onclick='w.port.postMessage(1)'>go</button>", extra=shared)  # fmt: skip
    service = (("/sw.js", f"onmessage = () => {POST}; onactivate = e => e.waitUntil(clients.claim())"),)
    yield _pressed("a service worker", "<script>navigator.serviceWorker.register('/sw.js')</script>"
                   "<button onclick='navigator.serviceWorker.ready.then(r => r.active.postMessage(1))'>go</button>", extra=service)  # fmt: skip
    yield _pressed("a frame written into the page", f"<iframe srcdoc=\"<button onclick=&quot;{POST}&quot;>go</button>\"></iframe>")  # fmt: skip
    yield _pressed("a sandboxed frame", f"<iframe sandbox=allow-scripts srcdoc=\"<button onclick=&quot;fetch('SELF{HIT}', {{method: 'POST', mode: 'no-cors'}})&quot;>go</button>\"></iframe>")  # fmt: skip
    yield _pressed("a frame of another origin", "<iframe src='OTHER/inner'></iframe>")
    yield _pressed("a WebSocket", "<script>s = new WebSocket('SOCKET')</script><button onclick=\"s.readyState == 1 ? s.send('hit') : s.onopen = () => s.send('hit')\">go</button>")  # fmt: skip
    yield _pressed("a WebSocket in a frame", "<iframe srcdoc=\"<script>s = new WebSocket('SOCKET')</script><button onclick=&quot;s.readyState == 1 ? s.send('hit') : s.onopen = () => s.send('hit')&quot;>go</button>\"></iframe>")  # fmt: skip
    yield _pressed("a redirect that keeps the method", "<button onclick=\"fetch('/again?url=OTHER/hit', {method: 'POST', body: 'a'})\">go</button>")  # fmt: skip
    yield _pressed("a form redirected with its method", "<form method=post action='/again?url=OTHER/hit'><button>go</button></form>")  # fmt: skip
    yield _pressed("a page opened by a click that posts as it loads", "<a href=/auto>go</a>", extra=(("/auto", f"{FORM}</form><script>document.forms[0].submit()</script>"),))  # fmt: skip
    yield _pressed("a timer of one second", f'<button onclick="setTimeout(() => {POST}, 1000)">go</button>', late=1.2)
    yield _pressed("a timer of three seconds", f'<button onclick="setTimeout(() => {POST}, 3000)">go</button>', late=3.2)  # fmt: skip
    yield from _farewells()


def _farewells() -> Iterable[Attack]:
    """What a page that was acted on sends as it is left."""
    farewell = (
        f"<button onclick=\"window.addEventListener('pagehide', () => navigator.sendBeacon('{HIT}', 'x'))\">go</button>"
    )
    put_off = f"<button onclick=\"fetchLater('{HIT}', {{method: 'POST', body: 'x'}})\">go</button>"
    own = f"<button>go</button><script>onpagehide = () => navigator.sendBeacon('{HIT}', 'x')</script>"
    unnamed = f"<meta name=referrer content=no-referrer>{own}"
    for name, body, to in (
        ("a farewell of a page that says nowhere what it is", unnamed, "SELF/next"),
        ("a farewell of a page that was acted on", farewell, "SELF/next"),
        ("a farewell of a page that is left for another site", farewell, "OTHER/inner"),
        ("a farewell of a page that is left for its own address", own, "PAGE"),
        ("a fetch that is put off until the page is left", put_off, "SELF/next"),
        ("a fetch that is put off, of a page left for its own address", put_off, "PAGE"),
    ):
        yield _pressed(name, body, click(), _go_to(to), late=0.4)


def _gets() -> Iterable[Attack]:
    """What a GET does: a name is all there is to tell."""
    yield _pressed("GET: a link called Delete account", f"<a href={HIT}>Delete account</a>", click("Delete account"), gets=True)  # fmt: skip
    yield _pressed("GET: a form with a button Find and delete all", f"<form action={HIT}><button>Find and delete all</button></form>", click("Find and delete all"), gets=True)  # fmt: skip
    yield _pressed("GET: an address that says delete", "<a href='/hit/delete?id=3'>go</a>", gets=True)
    yield _pressed("GET: a link called OK", f"<a href={HIT}>OK</a>", click("OK"), gets=True)
    yield _pressed("GET: a link called Löschen", f"<a href={HIT}>Löschen</a>", click("Löschen"), gets=True)


KINDS, INPUTS, WAYS, GETS = tuple(_kinds()), tuple(_inputs()), tuple(_ways()), tuple(_gets())
ATTACKS = (*KINDS, *INPUTS, *WAYS, *GETS)
BY_NAME = {attack.name: attack for attack in ATTACKS}


def pages(attacks: Iterable[Attack], self_url: str, other: str, socket: str) -> dict[str, str]:
    """The pages of these attacks, by path; `/NUMBER` in the order of `ATTACKS`."""
    made = {"/next": "<title>next</title>"}
    for attack in attacks:
        title = f"<title>{attack.name}</title>"
        body = attack.body.replace("OTHER", other).replace("SOCKET", socket).replace("SELF", self_url)
        made |= {f"/{ATTACKS.index(attack)}": title + body, **dict(attack.extra)}
    return made


async def attempt(window: Window, attack: Attack, places: Mapping[str, str], page: Observation) -> list[Outcome]:
    """Do what an attack does, on its page as it was last seen; `places` says what stands for which address."""
    outcomes: list[Outcome] = []
    for act in attack.acts:
        seen = page

        def find(name: str, seen: Observation = seen) -> str:
            return next(each.ref for each in seen.refs.values() if each.name == name)

        action = act(find)
        if isinstance(action, Navigate):
            word, slash, path = action.url.partition("/")
            action = action.model_copy(update={"url": f"{places[word]}{slash}{path}"})
        outcomes.append(await perform(window, [action]))
        last = outcomes[-1].observation
        page = last if last is not None else page
    return outcomes


@asynccontextmanager
async def socket_server() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A WebSocket server on loopback, and the messages it got."""
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest())
        writer.write(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")  # fmt: skip
        try:
            while True:
                first, length = await reader.readexactly(2)
                mask, masked = await reader.readexactly(4), await reader.readexactly(length & 127)
                if first & 15 == 8:
                    break
                got.append(bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked)))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the page went away
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/", got
    finally:
        server.close()
