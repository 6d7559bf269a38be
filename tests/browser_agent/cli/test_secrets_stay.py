"""A run with a secret and a password, at a shell: neither stands in any file, line, report or export that it leaves."""

import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from browser_agent.browser.window import Window
from ctxfold import Session
from tests.browser_agent.agent.scripts import decide, script
from tests.browser_agent.doing import ref, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]
GIVEN, TYPED, TURNED = "kalmar+42/Green tide", "hunter2-Westerly", "Quay-side-77-lantern"
LOGIN = """<title>Login</title><main><h1>Login</h1><p>First your key, then your word.</p>
<label>Key <input id=key></label> <label>Word <input type=password id=word></label> <label>Again <input id=again onfocus="this.type = 'password'"></label>
<button type=button onclick="show()">Enter</button><div id=out></div></main><script>
const show = () => { for (const field of [key, word]) {
  const value = field.value, item = text => out.append(Object.assign(document.createElement('p'), { textContent: text }));
  document.title = 'Hello ' + value;
  location.hash = encodeURIComponent(value);
  [value, value.slice(0, 12), [...value].reverse().join(''), btoa(value), encodeURIComponent(value), value.toUpperCase()].forEach(item);
} };
</script>"""


def forms(value: str) -> list[str]:
    """What is looked for in the files: also a half of it, backwards and encoded, and the words of it in a name."""
    half = value[:10]
    return [
        each.lower()
        for each in (
            half,
            value[-9:],
            half[::-1],
            b64encode(half.encode()).decode()[:12],
            half.encode().hex(),
            "hunter2",
        )
    ]


def ctxfold(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ctxfold", *arguments], capture_output=True, text=True, timeout=90, check=False
    )


async def test_nothing_that_a_run_leaves_holds_a_secret_or_a_password(
    serve: Serve, window: Window, tmp_path: Path, ctxfold_home: Path, monkeypatch: pytest.MonkeyPatch
):
    """The task names the password, the model repeats it in its thoughts and in its answer; the page gives both back in many forms."""
    site = serve({"/": LOGIN})
    page = await visit(window, site.url)
    at = {name: ref(page, "textbox", name) for name in ("Key", "Word", "Again")} | {
        "Enter": ref(page, "button", "Enter")
    }
    monkeypatch.setenv("KEY", GIVEN)
    model = script(
        tmp_path,
        decide(
            f"The task says the word is {TYPED}.",
            {"kind": "type", "ref": at["Key"], "text": "<secret:key>"},
            {"kind": "type", "ref": at["Word"], "text": TYPED},
            {"kind": "click", "ref": at["Enter"]},
        ),
        decide(
            "Once more.",
            {"kind": "type", "ref": at["Word"], "text": "<secret:typed-1>"},
            {"kind": "find", "query": TYPED},
        ),
        decide("A field that turns.", {"kind": "type", "ref": at["Again"], "text": TURNED}),
        decide(
            f"It greeted {TYPED}.",
            {"kind": "answer", "text": f"The word is {TYPED}, the key {GIVEN}.", "quote": "Login", "url": site.url},
        ),
    )
    task = f"Log in with the word {TYPED} and tell what the page says."
    options = (
        "--start-url",
        site.url,
        "--model",
        model,
        "--secret",
        "key=env:KEY",
        "--screenshots",
        "--confirm",
        "never",
    )
    done = await run_sync(ctxfold, "browse", task, *options)
    assert done.returncode == 0, done.stderr
    (name,) = (info["name"] for info in json.loads(ctxfold("sessions", "list", "--json").stdout))
    with Session.open(name, create=False) as session:
        log = "\n".join(session.recall(f"s{step}").text for step in range(1, session.tip + 1))
        view = session.view(50_000).text
        goal = session.goal
    assert typed(log) == ["<secret:key>", "<secret:typed-1>", "<secret:typed-1>", "*" * len(TURNED)]
    held = files_of(name, ctxfold_home, tmp_path)
    held |= {"stdout": done.stdout, "stderr": done.stderr, "log": log, "view": view, "goal": goal, "name": name}
    for value in (GIVEN, TYPED, TURNED):
        assert [(where, form) for where, text in held.items() for form in forms(value) if form in text.lower()] == []
    assert log.count("<secret:typed-1>") > 5
    assert "<secret:typed-1>" in done.stdout


def files_of(name: str, home: Path, folder: Path) -> dict[str, str]:
    """What the store, a report and an export of a session hold, byte for byte, and what commands print of it."""
    report, exported = folder / "report.html", folder / "export.jsonl"
    asked = {
        "report": ("report", name, "--out", str(report)),
        "export": ("sessions", "export", name, str(exported)),
        "log": ("log", name),
    }
    done = {what: ctxfold(*words) for what, words in asked.items()}
    assert [each.stderr for each in done.values() if each.returncode] == []
    files = [report, exported, *(file for file in home.rglob("*") if file.is_file())]
    printed = {f"{what}, printed": each.stdout + each.stderr for what, each in done.items()}
    return printed | {file.name: file.read_bytes().decode("latin-1") for file in files}


def typed(log: str) -> list[str]:
    """What the log says was typed, in order."""
    calls = (json.loads(line) for line in log.splitlines() if line.startswith('{"name": "type"'))
    return [call["args"]["text"] for call in calls]
