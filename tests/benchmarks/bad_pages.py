"""Pages that do their worst, each with what it costs: `python -m tests.benchmarks.bad_pages [WORD]`.

Each is opened and its button pressed; its dialogs are answered; it is looked at and searched; then the run goes on to another page of the same site. No call may
take more than 6 s of a quiet machine, on a busy one as many times that as it is slower, whatever the page does; the run must go on, and in the end no browser may be
left. Under each page stands what a model reads of each call that was not simply done, for a person to judge: is it true, and does it name the next move? Exits 1 if a bar is passed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from browser_agent import Browser
from browser_agent.actions import Click, Dialog, Find, Navigate, Outcome, PageAction
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.network.egress import Egress
from tests.sites.server import Site

MOST_SECONDS = 6.0
_TRIES = 8
_ENDING = 5.0
_SHOWN = 240
"""Characters of a page that are printed."""


def _scripted(script: str, body: str = "") -> str:
    return f"<title>T</title><h1>Bad</h1><button onclick='go()'>Press</button>{body}<script>function go() {{}}\n{script}</script>"


def _pressed(script: str) -> str:
    return _scripted(f"function go() {{ {script} }}")


_LONG = (
    "const t = 'lorem ipsum dolor '.repeat(60); let h = ''; for (let i = 0; i < 3000; i++) h += '<p>' + t;"
    "for (let k = 0; k < 60; k++) { const d = document.createElement('div'); d.innerHTML = h; document.body.append(d) }"
)
_ROWS = "".join(f"<tr><td>{i}<td>Name {i}<td><a href=/r{i}>open {i}</a>" for i in range(100_000))
_FLOOD = "setInterval(() => {{ for (let i = 0; i < 500; i++) {} }}, 0)"

PAGES = {
    "hangs when pressed": _pressed("while (true);"),
    "never lets go of its promises": _pressed("(function f() { Promise.resolve().then(f) })()"),
    "takes all memory": _pressed("const a = []; while (true) a.push(new Array(1e6).fill(Math.random()))"),
    "pushes addresses in a loop": _pressed("while (true) history.pushState({}, '', '?' + Math.random())"),
    "pushes addresses at intervals": _pressed(_FLOOD.format("history.pushState({}, '', '?' + Math.random())")),
    "pushes addresses from the start": _scripted(_FLOOD.format("history.pushState({}, '', '?' + Math.random())")),
    "replaces its address": _pressed(_FLOOD.format("history.replaceState({}, '', '?' + Math.random())")),
    "moves its fragment": _pressed(_FLOOD.format("location.hash = Math.random()")),
    "alerts for ever when pressed": _pressed("while (true) alert(1)"),
    "alerts for ever from the start": _scripted("while (true) alert(1)"),
    "prompts and asks": _pressed("for (let i = 0; i < 50; i++) { prompt(1); confirm(2) }"),
    "does not want to be left": _pressed(
        "onbeforeunload = e => { e.preventDefault(); e.returnValue = 'no' }; location = '/ok'"
    ),
    "hangs when left": _pressed("onpagehide = () => { while (true); }; location = '/ok'"),
    "goes on at once, for ever": _scripted("setTimeout(() => location = '?' + Math.random(), 0)"),
    "goes on after a moment, for ever": _scripted("setTimeout(() => location = '?' + Math.random(), 50)"),
    "loads again and again": _pressed("setInterval(() => location.reload(), 30)"),
    "opens sixty windows": _pressed("for (let i = 0; i < 60; i++) open('/ok?' + i)"),
    "opens windows for ever": _pressed("setInterval(() => open('/ok?' + Math.random()), 5)"),
    "never stops loading pictures": _scripted(
        "setInterval(() => { const i = new Image(); i.src = '/slow?s=30&x=' + Math.random(); document.body.append(i) }, 20)"
    ),
    "asks its server for everything": _pressed("for (let i = 0; i < 2000; i++) fetch('/slow?s=20&x=' + i)"),
    "is 200 MB": _scripted(_LONG),
    "becomes 200 MB": _pressed(_LONG),
    "has 100,000 rows": _scripted("", f"<table>{_ROWS}</table>"),
    "scrolls without an end": _scripted(
        "function add() { for (let i = 0; i < 200; i++) document.body.append(Object.assign(document.createElement('p'), { textContent: 'row ' + i })) }"
        "add(); setInterval(() => { add(); scrollTo(0, 1e9) }, 10)"
    ),
    "is twenty frames deep": "<title>T</title><button>Press</button><iframe src=/frame20></iframe>",
    "adds frames for ever": _pressed(
        "setInterval(() => { const f = document.createElement('iframe'); f.srcdoc = '<p>x'; document.body.append(f) }, 5)"
    ),
    "rewrites its body 60 times a second": _scripted(
        "setInterval(() => document.body.innerHTML = '<h1>' + Math.random() + '</h1><button>Press</button>' + '<p>x</p>'.repeat(500), 16)"
    ),
    "rewrites its document 60 times a second": _scripted(
        "setInterval(() => { document.open(); document.write('<h1>Bad</h1><button>Press</button>'); document.close() }, 16)"
    ),
    "is 20,000 elements deep": _scripted(
        "let d = document.body; for (let i = 0; i < 20000; i++) { const e = document.createElement('div'); d.append(e); d = e } d.textContent = 'deep'"
    ),
    "has a name of 3 MB": _scripted(
        "document.body.append(Object.assign(document.createElement('a'), { href: '/' + 'x'.repeat(2e6), textContent: 'y'.repeat(3e6) }))"
    ),
    "never holds still": _scripted(
        "", "<style>@keyframes a { to { transform: translateX(900px) } } button { animation: a .5s infinite alternate }</style>"
    ),
    "starts 200 busy workers": _pressed(
        "for (let i = 0; i < 200; i++) new Worker(URL.createObjectURL(new Blob(['while (1);'])))"
    ),
    "draws slowly": _pressed(
        "(function f() { const t = performance.now(); while (performance.now() - t < 400); requestAnimationFrame(f) })()"
    ),
    "downloads for ever": _pressed(
        "setInterval(() => { const a = document.createElement('a'); a.href = '/file?name=a' + Math.random(); a.download = ''; document.body.append(a); a.click() }, 10)"
    ),
    "fills the console": _pressed(
        "setInterval(() => { for (let i = 0; i < 2000; i++) console.log('x'.repeat(1000)) }, 0)"
    ),
    "changes its title": _pressed("setInterval(() => { for (let i = 0; i < 2000; i++) document.title = Math.random() }, 0)"),
    "prints": _pressed("print()"),
    "closes itself": _pressed("close()"),
    "loses its process": "<title>T</title><button>Press</button>",
}  # fmt: skip


@dataclass
class Trial:
    """One page's calls: what each was, the seconds it took, what came of it, and what is said of it."""

    window: Window
    calls: list[tuple[str, float, str, str]] = field(default_factory=list)

    async def call(self, what: str, actions: Sequence[PageAction]) -> Outcome:
        """Do something, with the clock running."""
        begun = time.perf_counter()
        outcome = await perform(self.window, actions)
        page = outcome.observation
        shown = (
            "no page"
            if page is None
            else page.dialog
            if page.dialog is not None
            else " / ".join(page.text.splitlines())[:_SHOWN]
        )
        said = "; ".join(filter(None, (outcome.message, outcome.notes)))
        self.calls.append((what, time.perf_counter() - begun, outcome.kind, f"{said} | {shown}"))
        return outcome

    async def suffer(self, url: str, crash: bool) -> None:
        """Open a bad page and use it."""
        outcome = await self.call("open", [Navigate(kind="navigate", url=url)])
        if crash:
            session = await self.window.page.context.new_cdp_session(self.window.page)
            asyncio.ensure_future(session.send("Page.crash")).add_done_callback(lambda done: done.exception())
        shown = outcome.observation
        ref = next((c.ref for c in shown.refs.values() if c.name == "Press"), None) if shown is not None else None
        if ref is not None:
            outcome = await self.call("press", [Click(kind="click", ref=ref)])
        if outcome.observation is not None and outcome.observation.dialog is not None:
            await self.call("answer", [Dialog(kind="dialog", accept=True)])
        await self.call("look", [])
        await self.call("find", [Find(kind="find", query="x")])

    async def goes_on(self, url: str) -> bool:
        """Whether another page of the site can be opened afterwards, dialogs answered as they come."""
        for _ in range(_TRIES):
            outcome = await self.call("go on", [Navigate(kind="navigate", url=url)])
            while outcome.observation is not None and outcome.observation.dialog is not None:
                outcome = await self.call("answer", [Dialog(kind="dialog", accept=True)])
            if outcome.observation is not None and outcome.observation.title == "OK":
                return True
        return False


async def report(word: str) -> int:
    """Print the table; how many pages passed a bar."""
    frames = {f"/frame{i}": f"<p>{i}</p><button>b{i}</button>" + (f"<iframe src=/frame{i - 1}></iframe>" if i else "") for i in range(21)}  # fmt: skip
    listed = {f"/{n}": page for n, page in enumerate(PAGES.values())}
    bad = 0
    with Site(pages={"/ok": "<title>OK</title><p>Well.</p>", **frames, **listed}) as site:
        async with await Browser.launch(egress=Egress.of((), site.url)) as browser:
            for number, what in enumerate(PAGES):
                if word not in what:
                    continue
                trial = Trial(await browser.window())
                await trial.suffer(f"{site.url}/{number}", crash="loses" in what)
                on = await trial.goes_on(f"{site.url}/ok")
                await trial.window.close()
                slow = max(seconds for _, seconds, _, _ in trial.calls)
                pace = trial.window.limits.pace
                well = on and slow <= MOST_SECONDS * pace
                bad += not well
                mark = "ok" if well else "BAD"
                said = ", ".join(f"{name} {seconds:.1f} {kind}" for name, seconds, kind, _ in trial.calls)
                print(f"{mark:4}{what:40} {slow:4.1f} s at {pace:.1f} times a quiet machine's  ({said})", flush=True)
                for name, _, kind, read in dict.fromkeys(trial.calls):
                    if kind != "done":
                        print(f"      {name}: {kind}: {read}", flush=True)
    return bad


def _left() -> int:
    """Browsers of ours that still run."""
    commands = [(entry / "cmdline") for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return sum(b"--ctxfold-run=" in command.read_bytes() for command in commands if command.exists())


def main() -> int:
    """0 when every page costs what it may and nothing is left."""
    before = _left()
    bad = asyncio.run(report(" ".join(sys.argv[1:])))
    deadline = time.monotonic() + _ENDING
    while _left() > before and time.monotonic() < deadline:
        time.sleep(0.1)
    left = max(0, _left() - before)
    print(f"{bad} pages passed a bar; {left} browsers left")
    return 1 if bad or left else 0


if __name__ == "__main__":
    raise SystemExit(main())
