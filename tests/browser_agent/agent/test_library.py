"""What a program does with runs: it holds steps and actions back, takes them as a stream, runs many side by side, and keeps a trace and a script."""

import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

from browser_agent import BrowserAgent, BrowserChoice, Hooks, Keeping, Safety, Secret, StepTaken, Watching
from browser_agent.actions import Action, ActionResult, PageAction
from browser_agent.agent.script import ScriptFile
from browser_agent.deciders.model import decide_tool
from browser_agent.observation import Observation
from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.models import ScriptedModel
from ctxfold.prompts import prompt
from ctxfold.tokens import count
from tests.browser_agent.agent.scripts import decide
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

HOME = (
    "<title>Harbour</title><main><h1>Harbour</h1><p>Ships and tides.</p><a href=/tides>Tides</a>"
    "<form action=/echo><label>Ship <input name=ship></label><button>Ask</button></form></main>"
)
TIDES = "<title>Tides</title><main><h1>Tides</h1><p>A spring tide comes twice a month.</p></main>"
STOP = decide("Enough.", {"kind": "give_up", "reason": "the script ends here"})


def go(url: str, thought: str = "On.") -> dict[str, Any]:
    return decide(thought, {"kind": "navigate", "url": url})


async def test_hooks_hold_back_a_step_an_action_and_the_rest_of_a_run(serve: Serve):
    site = serve({"/": HOME, "/tides": TIDES})
    seen: list[str] = []

    async def before_step(decision: Any, page: Observation | None) -> bool:
        seen.append(decision.thought)
        return bool(decision.thought != "Not this.")

    def before_action(action: PageAction, page: Observation | None) -> str | None:
        return "no typing here" if action.kind == "press" else None

    def after_action(result: ActionResult) -> bool:
        return result.action.kind != "back"

    scroll, press = {"kind": "scroll", "direction": "down"}, {"kind": "press", "key": "a"}
    model = ScriptedModel(
        go(f"{site.url}/tides", "Not this."),
        decide("Two.", scroll, press, scroll),
        go(f"{site.url}/tides"),
        decide("Back.", {"kind": "back"}),
        STOP,
    )
    told: list[StepTaken] = []
    hooks = Hooks(before_step, before_action, after_action)
    async with BrowserAgent(model, keeping=Keeping("held")) as agent:
        result = await agent.run("Look.", site.url, Watching(step=told.append, hooks=hooks))
    assert (result.status, result.reason) == ("stopped", "after_action held it back")
    assert [step.ok for step in told] == [True, False, False, True, True]
    assert "before_step held it back" in told[1].note
    assert "no typing here" in told[2].note
    assert site.seen.count("/tides") == 1
    with Session.open("held", create=False) as session:
        assert session.recall("s3").text.count("no typing here") == 2
    assert "Not this." in seen


@pytest.mark.long
async def test_twenty_tasks_four_at_a_time_all_end_though_their_browser_dies_twice(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    browsers: set[int] = set()

    class Answers:
        name = "script:answers"
        asked = 0

        async def decide(self, request: Any) -> Any:
            Answers.asked += 1
            browser = agent._browser._browser
            assert browser is not None
            browsers.add(id(browser))
            if Answers.asked in (3, 11):
                await browser._running.chromium.close()
            return await ScriptedModel(STOP).decide(request)

    keeping = Keeping(script=tmp_path / "again.py")
    async with BrowserAgent(Answers(), browser=BrowserChoice(trace=tmp_path / "trace.zip"), keeping=keeping) as agent:
        tasks = [(f"Look at {n}.", f"{site.url}/{n}" if n == 7 else f"{site.url}/tides?{n}") for n in range(20)]
        results = await agent.map([*tasks, ("Nowhere.", "http://127.0.0.1:9/")], limit=4)
    ended = [result.status for result in results]
    assert ended == ["failed" if n == 7 else "none_found" for n in range(20)] + ["failed"], [r.reason for r in results]
    assert "cannot be opened" in results[-1].reason
    assert len({result.session for result in results if result.session}) == 19
    assert len(browsers) == 1
    files = set(os.listdir(tmp_path))
    assert all(f"/tides?{n - 1}'" in (tmp_path / f"again-{n}.py").read_text("utf-8") for n in range(1, 21) if n != 8)
    assert "again.py" not in files
    assert sum(name.startswith("trace-") for name in files) >= 12
    with pytest.raises(InputError, match="sessions of their own"):
        await BrowserAgent(keeping=Keeping("one")).map(["a"])
    with pytest.raises(InputError, match="at least 1"):
        await BrowserAgent().map(["a"], limit=0)


async def test_a_run_keeps_a_trace_and_a_script_that_does_it_again(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    trace, script = tmp_path / "trace.zip", tmp_path / "again.py"

    class Types:
        name = "script:types"
        decisions = iter(("type", "click", "stop"))

        async def decide(self, request: Any) -> Any:
            shown = "\n".join(block["text"] for message in request.messages for block in message["content"])
            field = shown.rpartition('textbox "Ship"[')[2].partition("]")[0]
            match next(self.decisions):
                case "type":
                    decision = decide("Ask.", {"kind": "type", "ref": field, "text": "Elba", "submit": True})
                case "click":
                    decision = go(f"{site.url}/tides")
                case _:
                    decision = STOP
            return await ScriptedModel(decision).decide(request)

    async with BrowserAgent(Types(), browser=BrowserChoice(trace=trace), keeping=Keeping(script=script)) as agent:
        await agent.run("Ask for Elba.", site.url)
    assert any("trace" in name for name in zipfile.ZipFile(trace).namelist())
    asked = len(site.seen)
    written = script.read_text("utf-8")
    assert "page.get_by_role('textbox', name='Ship', exact=True).fill('Elba')" in written
    compile(written, str(script), "exec")
    assert len(site.seen) == asked
    with pytest.raises(InputError, match="a trace holds all"):
        BrowserAgent(
            browser=BrowserChoice(trace=trace), safety=Safety(secrets=(Secret("pin", "12345678", "a.example"),))
        )


def done(**action: Any) -> ActionResult:
    return ActionResult(action=TypeAdapter(Action).validate_python(action), kind="done", message="")  # type: ignore[arg-type]


def test_a_run_that_goes_on_adds_to_its_script_and_to_nothing_else(tmp_path: Path) -> None:
    path, notes = tmp_path / "again.py", tmp_path / "notes.txt"
    ScriptFile(path, resume=True).add([done(kind="navigate", url="https://a.example/")], None)
    ScriptFile(path, resume=True).add([done(kind="back")], None)
    assert path.read_text("utf-8").splitlines()[-2:] == ["    page.goto('https://a.example/')", "    page.go_back()"]
    ScriptFile(path)
    assert "goto" not in path.read_text("utf-8")
    notes.write_text("Bring coins.", "utf-8")
    with pytest.raises(InputError, match="name another"):
        ScriptFile(notes, resume=True)
    assert notes.read_text("utf-8") == "Bring coins."


async def test_a_text_that_became_a_password_as_it_was_typed_reaches_no_script_and_no_hook(
    serve: Serve, tmp_path: Path
):
    field = "<input aria-label={} oninput=\"this.type = 'password'\">"
    site = serve({"/": f"<title>Door</title><main><h1>Door</h1>{field.format('Code')}{field.format('Again')}</main>"})
    script, seen = tmp_path / "again.py", list[str]()

    class Types:
        name = "script:types"
        asked = 0

        async def decide(self, request: Any) -> Any:
            self.asked += 1
            shown = "\n".join(block["text"] for message in request.messages for block in message["content"])
            code, again = (shown.rpartition(f'textbox "{name}"[')[2].partition("]")[0] for name in ("Code", "Again"))
            typed = {"kind": "type", "ref": code, "text": "hunter2-again"}
            filled = {"kind": "fill_form", "fields": [{"ref": again, "value": "type"}]}
            return await ScriptedModel(decide("Type.", typed, filled) if self.asked == 1 else STOP).decide(request)

    def after_action(result: ActionResult) -> bool:
        seen.append(str(result.action))
        return True

    async with BrowserAgent(Types(), keeping=Keeping(script=script)) as agent:
        await agent.run("Open.", site.url, Watching(hooks=Hooks(after_action=after_action)))
    assert [said.count("<secret:typed-") for said in seen] == [0, 1, 1]
    assert "hunter2" not in "".join(seen)
    written = script.read_text("utf-8")
    assert "hunter2" not in written
    assert written.count(".fill(os.environ['typed-") == 2


SHIP = (
    "<title>Ship</title><main><h1>Ship</h1><form action=/echo method=post><label>Name <input name=name></label>"
    "<label>Flag <select name=flag><option>Malta<option>Elba</select></label><label><input type=checkbox name=sails value=yes> Sails</label>"
    "<button onclick=\"return confirm('Send it?')\">Send</button></form></main>"
)

Named = Callable[[str], str]
"""The ref of what the page is shown to name so."""


class Acts:
    """A model that does one act after the other, on the refs that it is shown, and then gives up."""

    name = "script:acts"

    def __init__(self, acts: list[Callable[[Named], list[dict[str, Any]]]]) -> None:
        self._rest = iter(acts)

    async def decide(self, request: Any) -> Any:
        shown = "\n".join(block["text"] for message in request.messages for block in message["content"])
        act = next(self._rest, None)
        made = act(lambda name: shown.rpartition(f"{name}[")[2].partition("]")[0]) if act else []
        return await ScriptedModel(decide("On.", *made) if made else STOP).decide(request)


async def run_and_save(site: Site, acts: list[Callable[[Named], list[dict[str, Any]]]], script: Path) -> list[str]:
    """The pages that a run asked for, and then its script by itself."""
    told: list[StepTaken] = []
    async with BrowserAgent(Acts(acts), keeping=Keeping(script=script)) as agent:
        await agent.run("Do it.", site.url, Watching(step=told.append))
    assert all(step.ok for step in told), [step.note for step in told]
    first = [path for path in site.seen if "favicon" not in path]
    done = await anyio.run_process([sys.executable, str(script)], check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert [path for path in site.seen if "favicon" not in path] == first * 2
    return first


@pytest.mark.long
async def test_a_saved_script_does_the_same_acts_when_it_is_run(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES, "/ship": SHIP})
    script = tmp_path / "again.py"
    acts: list[Callable[[Named], list[dict[str, Any]]]] = [
        lambda ref: [{"kind": "type", "ref": ref('textbox "Ship"'), "text": "Elba", "submit": True}],
        lambda ref: [{"kind": "back"}],
        lambda ref: [{"kind": "click", "ref": ref("Tides")}],
        lambda ref: [{"kind": "tab", "op": "new", "url": f"{site.url}/ship"}],
        lambda ref: [
            {"kind": "type", "ref": ref('textbox "Name"'), "text": 'L\'Étoile "II"'},
            {"kind": "select", "ref": ref('combobox "Flag"'), "values": ["Elba"]},
            {"kind": "check", "ref": ref('checkbox "Sails"'), "checked": True},
            {"kind": "click", "ref": ref('button "Send"')},
        ],
        lambda ref: [{"kind": "dialog", "accept": True}],
        lambda ref: [{"kind": "tab", "op": "close", "index": 2}],
    ]
    first = await run_and_save(site, acts, script)
    assert first.count("/echo?ship=Elba") == 1
    assert site.sent == [("POST", "/echo")] * 2


async def test_what_every_request_holds_beside_the_view_is_small_and_the_task_stands_once(serve: Serve):
    site = serve({"/": HOME, "/tides": TIDES})
    model = ScriptedModel(
        go(f"{site.url}/tides"), {**go(site.url), "todo": [{"text": "Find the berth of the Elba."}]}, STOP
    )
    async with BrowserAgent(model) as agent:
        await agent.run("Find the berth of the Elba.", site.url)
    tool = decide_tool()
    assert count(prompt("system", "browser_agent.prompts")) <= 575
    assert count(str({"name": tool.name, "description": tool.description, "input_schema": tool.schema})) <= 1_800
    assert "AgentFold" not in str(tool.schema)
    for request in model.requests:
        text = str(request.messages)
        assert text.count("Find the berth of the Elba.") == 1, "the task stands more than once"
        assert "extracts:" not in text
