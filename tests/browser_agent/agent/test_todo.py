"""A run's to-do: the task opens it, evidence alone closes it, it stands in every view and outlives the run; and a strong folder beside a weak agent."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import Keeping, RunLimits
from ctxfold import Session
from tests.browser_agent.agent.scripts import browse, decide, script
from tests.sites.server import Site
from tests.support.messages.server import Answer, Decide, MessagesServer, Words

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

TIDES = "<title>Tides</title><main><h1>Tides</h1><p>A spring tide comes twice a month, at new moon and at full moon.</p></main>"
FERRY = "<title>Ferry</title><main><h1>Ferry</h1><p>The ferry to Elba costs 28 euros.</p></main>"
GIVE_UP = {"kind": "give_up", "reason": "the script ends here"}


async def test_a_model_keeps_a_to_do_by_evidence_and_it_outlives_the_run(serve: Serve, tmp_path: Path):
    site = serve({"/": TIDES, "/ferry": FERRY})
    opened = {
        **decide("Two things.", {"kind": "navigate", "url": f"{site.url}/ferry"}),
        "found": "The harbour answers at port 80.",
        "todo": [{"text": "Find the fare to Elba"}, {"text": "Find the next spring tide"}],
    }
    claimed = {
        **decide("Both are done.", {"kind": "navigate", "url": f"{site.url}/"}),
        "todo": [{"id": "t2", "state": "done", "evidence": ["s90"]}],
    }
    shown = {
        **decide("The fare stood there.", {"kind": "press", "key": "a"}),
        "todo": [{"id": t, "state": "done", "evidence": ["s2"]} for t in ("t1",)],
        "recall": [{"ref": "s2.4:1-2", "why": "the fare"}],
    }
    model = script(tmp_path, opened, claimed, shown, decide("Later.", GIVE_UP))
    _, told = await browse("Tell me the fare to Elba and when spring tide is.", site.url, model, Keeping("trip"))
    notes = [step.note for step in told]
    assert any("the to-do was left as it was: nothing is recorded at s90" in note for note in notes)
    with Session.open("trip", create=False) as session:
        assert [(item.text, item.state) for item in session.intent.items] == [
            ("Find the fare to Elba", "done"),
            ("Find the next spring tide", "open"),
        ]
        assert session.intent.extracts[0].text == session.recall("s2.4:1-2").text
        assert "Find the next spring tide" in session.view().text
        session.fold("Looked at both pages.", 1, session.tip - 1)
        assert "The harbour answers at port 80." in session.view().text
    again = script(tmp_path, decide("There.", {"kind": "answer", "text": "Twice a month.", "quote": "twice a month"}))
    result, _ = await browse("", None, again, Keeping("trip", resume=True))
    assert result.status == "answered"
    with Session.open("trip", create=False) as session:
        assert [item.state for item in session.intent.items] == ["done", "done"]
        assert session.intent.items[1].evidence == (result.sources[0].ref,)


async def test_a_model_without_tools_browses_in_words_while_a_strong_one_folds(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    rows = "".join(f"<tr><td>lantern {n}<td>{n * 7919 % 1000} euros<td>shelf {n % 17}</tr>" for n in range(120))
    pages = {f"/{n}": f"<title>Page {n}</title><main><h1>Page {n}</h1><table>{rows}</table></main>" for n in range(8)}
    site = serve({**pages, "/tides": TIDES})

    def answer(body: dict[str, Any]) -> Answer:
        match body["tools"][0]["name"]:
            case "keep":
                return Decide({"summary": "Looked at pages of lanterns; nothing about tides."}, name="keep")
            case "plan":
                return Decide({"todo": [{"text": "Find spring tides"}]}, name="plan")
            case "extract":
                return Decide({"selections": []}, name="extract")
            case _:
                return Words(_said(body, site.url))

    with MessagesServer(answer) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        keeping = Keeping("strong", folder="strong-model")
        async with BrowserAgent("weak-model", 2_000, keeping=keeping) as agent:
            result = await agent.run("Does a spring tide come at full moon?", f"{site.url}/0")
        told = [
            exchange.body["system"][0]["text"] for exchange in server.journal if exchange.body["model"] == "weak-model"
        ]
    assert result.status == "answered"
    assert result.usage.folder_tokens > 0
    assert "You have no tools" not in told[0]
    assert all("You have no tools" in each for each in told[1:])
    with Session.open("strong", create=False) as session:
        made = [
            (event.kind, event.decider) for event in session.history(1_000) if event.kind in ("folded", "intent_set")
        ]
        assert ("intent_set", "model") in made
        assert ("folded", "model") in made
        assert [item.state for item in session.intent.items] == ["done"]
        assert "When spring tides come" in session.view().text


def _said(body: dict[str, Any], url: str) -> str:
    """What a model without tools says: page after page, a fold on the third, then the answer."""
    text = json.dumps(body["messages"], ensure_ascii=False)
    seen = [n for n in range(1, 8) if f"{url}/{n}" in text]
    at = max(seen, default=0)
    step = int(text.rpartition("Step ")[2].partition(";")[0])
    action: dict[str, Any] = {"kind": "navigate", "url": f"{url}/{at + 1}" if at < 7 else f"{url}/tides"}
    if "A spring tide comes twice" in text:
        action = {"kind": "answer", "text": "Twice a month.", "quote": "A spring tide comes twice a month"}
    fold = {"summary": "A page of lanterns."}
    block = {"fold": fold, "memory": {"wanted": "When spring tides come (s1)."}}
    said = f"<context>{json.dumps(block)}</context>\n" if step == 4 else ""
    call = {"name": "decide", "arguments": {"thought": "On.", "actions": [action]}}
    return f"{said}<tool_call>{json.dumps(call)}</tool_call>"


async def test_what_a_helper_costs_ends_a_run_of_the_explorer_at_its_limit(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    site = serve({"/": "<title>Harbour</title><main><a href='/ferry'>Ferry to Elba</a></main>", "/ferry": FERRY})
    with MessagesServer(lambda _body: Decide({"todo": [{"text": "Find spring tides"}]}, name="plan")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        keeping = Keeping("costly", folder="claude-haiku-5-5")
        result, _ = await browse(
            "What does the ferry to Elba cost?", site.url, keeping=keeping, limits=RunLimits(dollars=1e-9)
        )
    assert result.usage.dollars
    assert "the cost limit of 1e-09 dollars was reached" in result.reason
