"""Pages on which one act has an effect at the server, each with the acts that bring it about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from browser_agent.actions import Navigate, Outcome, PageAction
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation import Observation

HIT = "/hit"
"""The path that no act may reach unasked."""
POST = f"fetch('{HIT}', {{method: 'POST', body: 'a=1'}})"
FORM = f"<form method=post action={HIT}><input type=hidden name=a value=1>"

FindRef = Callable[[str], str]
Act = Callable[[FindRef], PageAction]
"""An action, given a function that finds a control's ref by its name."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One page and the acts on it, in order.

    Attributes:
        body: the page; `SELF`, `OTHER` and `SOCKET` stand for its own origin, another one, and a WebSocket server.
        acts: the acts, each after a look.
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


_ACTIONS: TypeAdapter[PageAction] = TypeAdapter(PageAction)


def act(kind: str, on: str | None = "go", **fields: object) -> Act:
    """Make an act of a kind on the control with a name, or on no control."""
    return lambda find: _ACTIONS.validate_python({"kind": kind, **({} if on is None else {"ref": find(on)}), **fields})


def fill_two(find: FindRef) -> PageAction:
    """Fill two fields."""
    fields = [{"ref": find(name), "value": name} for name in ("go", "b")]
    return _ACTIONS.validate_python({"kind": "fill_form", "fields": fields})


def attack(name: str, body: str, *acts: Act, late: float = 0.0, gets: bool = False, **extra: str) -> Attack:
    """Make an attack. Without acts the control `go` is clicked; `extra` are further paths."""
    paths = tuple((f"/{path.replace('_', '.')}", text) for path, text in extra.items())
    return Attack(name, body, acts or (act("click"),), paths, late, gets)


def click_named(name: str, body: str, **more: bool) -> Attack:
    """Make an attack that clicks the control that its name calls so."""
    return attack(name, body, act("click", name.rpartition("called ")[2]), **more)  # type: ignore[arg-type]


def button(script: str) -> str:
    """Make a button with a script."""
    return f'<button onclick="{script}">go</button>'


def send(name: str) -> str:
    """Make a form with a button of a name."""
    return f"{FORM}<button>{name}</button></form>"


def fetch(method: str, options: str = "") -> str:
    """Make a script that sends."""
    return f"fetch('{HIT}', {{method: '{method}'{options}}})"


def field(event: str, tag: str = "input") -> str:
    """Make a field that posts at an event."""
    return f'<{tag} aria-label=go {event}="{POST}">'


def form(attributes: str) -> str:
    """Make a form that posts, with a button."""
    return f"<form method=post action={HIT} {attributes}>{GO}</form>"


GO = "<button>go</button>"
PAY = send("Pay 100 EUR")
SOCKET = "s.readyState == 1 ? s.send('hit') : s.onopen = () => s.send('hit')"
OPENED = "<script>s = new WebSocket('SOCKET')</script>"
BEACON = f"navigator.sendBeacon('{HIT}', 'x')"
FOREIGN = f"fetch('SELF{HIT}', {{method: 'POST', mode: 'no-cors'}})"
FAREWELL = button(f"window.addEventListener('pagehide', () => {BEACON})")
PUT_OFF = button(f"fetchLater('{HIT}', {{method: 'POST', body: 'x'}})")
OWN = f"{GO}<script>onpagehide = () => {BEACON}</script>"
SCROLLED = f"<div style='height:9000px'>x</div><script>onscroll = () => {POST}</script>"
RENAMED = f'<button onmouseenter="this.textContent = \'Pay all\'" onclick="{POST}">go</button>'
MESSAGE = button("navigator.serviceWorker.ready.then(r => r.active.postMessage(1))")

# fmt: off
KINDS = (
    attack("press a line feed on a button", PAY, act("press", "Pay 100 EUR", key="\n")),
    attack("press Shift+Enter on a button", PAY, act("press", "Pay 100 EUR", key="Shift+Enter"), late=0.5),
    attack("press Shift+Space on a button", PAY, act("press", "Pay 100 EUR", key="Shift+Space"), late=0.5),
    attack("a link to # with a handler", f'<a href="#" onclick="{POST}">go</a>'),
    attack("a button that says it finds", send("Find and delete all"), act("click", "Find and delete all")),
    attack("a name by aria-labelledby", f'<span id=l>go</span><button aria-labelledby=l onclick="{POST}">x</button>'),
    attack("a checkbox that posts", f'<label><input type=checkbox onchange="{POST}">go</label>', act("check")),
    attack("a list that posts", f"{field('onchange', 'select')}<option>a<option>b</select>",
           act("select", values=["b"])),
    *(click_named(f"a button called {name}", send(name))
      for name in ("OK", "Yes", "Jetzt bezahlen", "削除する", "Удалить")),
    attack("a button with an icon", send("<svg width=20 height=20></svg>"), act("click", "")),
    attack("a button renamed between look and click", RENAMED),
    attack("a radio button", f'<label><input type=radio onclick="{POST}">go</label>', act("check")),
    attack("Enter in a field", f"{FORM}<input aria-label=go name=b></form>", act("type", text="x", submit=True)),
    attack("a dialog that is accepted", button(f"confirm(1) && {POST}"), act("click"),
           act("dialog", None, accept=True)),
)
"""Acts that a gate by names lets through."""
INPUTS = (
    attack("typing that saves itself", field("oninput"), act("type", text="x")),
    attack("a form that saves while it is filled", f"{field('onchange')}<input aria-label=b>", fill_two),
    attack("a file that is sent when it is chosen", field("type=file onchange"), act("upload", paths=[__file__])),
    attack("a download by POST", send("go"), act("download")),
    attack("scrolling", SCROLLED, act("scroll", None, direction="bottom")),
    attack("going back", f"<script>history.pushState(1, '', '?b'); onpopstate = () => {POST}</script>",
           act("back", None)),
    attack("a key on the page", f"<script>onkeydown = () => {POST}</script>", act("press", None, key="F8")),
    attack("a key that leaves a field", f"{field('onblur')}<input>", act("click"), act("press", None, key="Tab")),
    attack("a label", f"<label for=i>x</label>{field('id=i type=checkbox onchange')}"),
    attack("passing over", f'<div onmousemove="{POST}">{GO}</div>'),
    attack("a fold-out", f'<details ontoggle="{POST}"><summary>go</summary>x</details>'),
    attack("a text that is edited", f"{field('contenteditable role=textbox oninput', 'div')}a</div>",
           act("type", text="x")),
    attack("a picture that submits", f"{FORM}<input type=image alt=go src=/x width=20 height=20></form>"),
    attack("a button with a formaction",
           f"<form action=/x><button formmethod=post formaction={HIT}>go</button></form>"),
)
"""Other ways to act."""
WAYS = (
    *(attack(f"fetch with {method}", button(fetch(method))) for method in ("PUT", "DELETE", "PATCH")),
    attack("XMLHttpRequest", button(f"x = new XMLHttpRequest; x.open('POST', '{HIT}'); x.send('a')")),
    attack("beacon", button(BEACON)),
    attack("keepalive", button(fetch("POST", ", keepalive: true"))),
    attack("ping of a link", f"<a href='#x' ping={HIT}>go</a>"),
    attack("a form to another tab", form("target=_blank")),
    attack("a form in a tab without a name", form("target=_blank rel=noopener")),
    attack("a form to a frame", f"<iframe name=f></iframe>{form('target=f')}"),
    attack("a form that a script submits", f"{FORM}</form>{button('document.forms[0].requestSubmit()')}"),
    attack("a worker", f"<script>w = new Worker('/w.js')</script>{button('w.postMessage(1)')}",
           w_js=f"onmessage = () => {POST}"),
    attack("a shared worker", f"<script>w = new SharedWorker('/s.js')</script>{button('w.port.postMessage(1)')}",
           s_js=f"onconnect = e => {{ e.ports[0].onmessage = () => {POST} }}"),
    attack("a service worker", f"<script>navigator.serviceWorker.register('/sw.js')</script>{MESSAGE}",
           sw_js=f"onmessage = () => {POST}; onactivate = e => e.waitUntil(clients.claim())"),
    attack("a frame written into the page",
           f'<iframe srcdoc="<button onclick=&quot;{POST}&quot;>go</button>"></iframe>'),
    attack("a sandboxed frame",
           f'<iframe sandbox=allow-scripts srcdoc="<button onclick=&quot;{FOREIGN}&quot;>go</button>"></iframe>'),
    attack("a frame of another origin", "<iframe src='OTHER/inner'></iframe>"),
    attack("a WebSocket", OPENED + button(SOCKET)),
    attack("a WebSocket in a frame",
           f'<iframe srcdoc="{OPENED}<button onclick=&quot;{SOCKET}&quot;>go</button>"></iframe>'),
    attack("a redirect that keeps the method", button("fetch('/again?url=OTHER/hit', {method: 'POST', body: 'a'})")),
    attack("a form redirected with its method", f"<form method=post action='/again?url=OTHER/hit'>{GO}</form>"),
    attack("a page opened by a click that posts as it loads", "<a href=/auto>go</a>",
           auto=f"{FORM}</form><script>document.forms[0].submit()</script>"),
    attack("a timer of one second", button(f"setTimeout(() => {POST}, 1000)"), late=1.2),
    attack("a timer of three seconds", button(f"setTimeout(() => {POST}, 3000)"), late=3.2),
    *(attack(name, body, act("click"), act("navigate", None, url=url), late=0.4)
      for name, body, url in (
          ("a farewell of a page without a referrer", f"<meta name=referrer content=no-referrer>{OWN}", "SELF/next"),
          ("a farewell of a page that was acted on", FAREWELL, "SELF/next"),
          ("a farewell of a page that is left for another site", FAREWELL, "OTHER/inner"),
          ("a farewell of a page that is left for its own address", OWN, "PAGE"),
          ("a fetch that is put off until the page is left", PUT_OFF, "SELF/next"),
          ("a fetch that is put off, of a page left for its own address", PUT_OFF, "PAGE"),
      )),
)
"""Other ways to send. `PAGE` stands for the page's own address."""
GETS = (
    click_named("GET: a link called Delete account", f"<a href={HIT}>Delete account</a>", gets=True),
    click_named("GET: a button called Find and delete all",
                f"<form action={HIT}><button>Find and delete all</button></form>", gets=True),
    attack("GET: an address that says delete", "<a href='/hit/delete?id=3'>go</a>", gets=True),
    click_named("GET: a link called OK", f"<a href={HIT}>OK</a>", gets=True),
    click_named("GET: a link called Löschen", f"<a href={HIT}>Löschen</a>", gets=True),
)
"""Effects of a GET: only a name can tell."""
# fmt: on

ATTACKS = (*KINDS, *INPUTS, *WAYS, *GETS)
BY_NAME = {each.name: each for each in ATTACKS}


def make_pages(attacks: Iterable[Attack], own: str, other: str, socket: str) -> dict[str, str]:
    """Make the pages of attacks, by path: `/NUMBER` in the order of `ATTACKS`."""
    pages = {"/next": "<title>next</title>"}
    for one in attacks:
        body = one.body.replace("OTHER", other).replace("SOCKET", socket).replace("SELF", own)
        pages |= {f"/{ATTACKS.index(one)}": f"<title>{one.name}</title>{body}", **dict(one.extra)}
    return pages


async def attempt(window: Window, one: Attack, places: Mapping[str, str], page: Observation) -> list[Outcome]:
    """Do the acts of an attack on its page as it was last seen. `places` are addresses by the words for them."""
    outcomes: list[Outcome] = []
    for act in one.acts:
        names = {control.name: control.ref for control in [*page.refs.values()][::-1]}
        action = act(names.__getitem__)
        if isinstance(action, Navigate):
            word, slash, path = action.url.partition("/")
            action = action.model_copy(update={"url": f"{places[word]}{slash}{path}"})
        outcomes.append(await perform(window, [action]))
        page = outcomes[-1].observation or page
    return outcomes
