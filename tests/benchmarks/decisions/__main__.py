"""Who can make each decision from where, filled by doing it: `python -m tests.benchmarks.decisions`.

A row is a decision, a column a face of the product and who decides there. A cell is `ok` where the newest event of the decision names that decider, else it says
in a line why the cell does not apply. About two minutes; it starts a browser.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import Keeping, RunLimits
from ctxfold import Event, Session
from ctxfold.cli import main as command
from ctxfold.decisions.refactor import OPERATORS
from ctxfold.errors import CtxfoldError
from ctxfold.models import Reply, Request, Roles, ScriptedModel
from ctxfold.models.deciders import Deciders
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.benchmarks.decisions.steps import browse_steps
from tests.sites.server import Site
from tests.support.faults import called, failing, look_up

COLUMNS = ("host, MCP", "model, library", "model, CLI", "model, MCP", "model, browse", "embedded")

TEXTS = dict.fromkeys(map(str, OPERATORS), "Looked up orders; the refund of W-2003 was refused three times.")
TEXTS["fact_rectify"] = "pending => delivered (s2.2)"
TEXTS["attention_anchor"] = "Refund order W-2003."

MOVES: dict[str, dict[str, Any]] = {
    "topic": {"action": "new_topic", "confidence": 0.9},
    "fork": {"action": "create", "confidence": 0.9, "step": "s2"},
    "branch": {"action": "switch", "confidence": 0.9, "branch": "other"},
}
ROUTE = {"analysis": "It repeats itself.", "drift_detected": True}
REPLIES: dict[str, list[dict[str, Any]]] = {
    "fold": [{"summary": "Looked up orders."}],
    "plan": [{"summary": "The user wants W-2003 refunded.", "todo": [{"text": "Refund W-2003"}]}],
    "extract": [{"selections": [{"ref": "s2.2:1-1"}]}],
    **{operator: [{"text": TEXTS[operator]}] for operator in OPERATORS},
    "router": [{**ROUTE, "selected_operator": "path_prune"}, {"text": TEXTS["path_prune"]}],
    **{move: [reply] for move, reply in MOVES.items()},
}
KINDS = {"fold": "folded", "plan": "intent_set", "extract": "extracted", **dict.fromkeys(MOVES, "moved")}
PAGE = (
    "<title>Gate</title><main><h1>Gate</h1><p>Gate 7 opens at 4:37.</p>" + "<p>Old iron, painted each spring.</p>" * 80
)


def made(row: str) -> str:
    """The kind of event that a row's decision leaves."""
    return KINDS.get(row, "refactored")


def planted(name: str) -> Session:
    """A session in which each decision has something to decide."""
    session = Session.open(name, goal="Refund what was damaged")
    session.record_turn(user="Order W-2003 came broken, please refund it.")
    look_up(session, "W-2001", state="pending")
    session.fold("Order W-2001 is pending.", 1, 1)
    called(session, "get_order", {"order_id": "W-2001"}, '{"order_id": "W-2001", "state": "delivered"}')
    failing(session, 4)
    for order in ("W-2002", "W-2003", "W-2004"):
        look_up(session, order)
    session.branch("create", to="other")
    session.branch("switch", to="main")
    return session


def judged(session: Session, row: str, decider: str, before: int) -> str:
    """Whether the newest event of a row's kind is that decider's."""
    found = next((event for event in session.history() if event.seq > before and event.kind == made(row)), None)
    if found is None:
        said = session.history()[0]
        return f"nothing happened: {said.kind} by {said.decider}: {said.cause}"
    return "ok" if found.decider == decider else f"by {found.decider}: {found.cause}"


def newest(session: Session) -> int:
    return session.history()[0].seq


async def over_mcp(row: str, session: Session) -> str:
    """A host's model decides through a tool."""
    before = newest(session)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "fold": ("fold", {"summary": "Looked up orders.", "first_step": 7, "last_step": 9}),
        "plan": ("plan", {"todo": [{"text": "Refund W-2003"}]}),
        "extract": ("extract", {"lines": [{"ref": "s2.2:1-1"}]}),
        "router": ("refactor", {"operator": "path_prune", "text": TEXTS["path_prune"]}),
        "topic": ("switch_branch", {"action": "new_topic"}),
        "fork": ("switch_branch", {"action": "create", "step": "s2"}),
        "branch": ("switch_branch", {"action": "switch", "to": "other"}),
    }
    tool, given = calls.get(row, ("refactor", {"operator": row, "text": TEXTS.get(row, "")}))
    async with Client(build_server(Pools())) as client:
        done = await client.call_tool(tool, {"session": session.name, **given})
    return str(done.content[0]) if done.is_error else judged(session, row, "host", before)


async def in_library(row: str, session: Session) -> str:
    """A model decides through `Deciders`."""
    before, deciders = newest(session), Deciders(ScriptedModel(*REPLIES[row], name="strong"))
    ways: dict[str, Callable[[], Any]] = {
        "fold": lambda: deciders.fold(session, 7, 9),
        "plan": lambda: deciders.plan(session),
        "extract": lambda: deciders.extract(session, "state of W-2001"),
        "router": lambda: deciders.refactor(session),
        **{move: lambda: deciders.branch(session, "Something else entirely.") for move in MOVES},
    }
    operator = next((each for each in OPERATORS if each == row), None)
    decided = await ways.get(row, lambda: deciders.refactor(session, operator))()
    return decided.note or judged(session, row, "model", before)


async def at_the_shell(row: str, session: Session) -> str:
    """A model decides for a command."""
    before, name = newest(session), session.name
    with tempfile.TemporaryDirectory() as folder:
        script = write_script(folder, row)
        model = ("--model", f"script:{script}")
        commands: dict[str, list[str]] = {
            "fold": ["fold", name, "--first", "s7", "--last", "s9", *model],
            "plan": ["todo", name, "--plan", *model],
            "extract": ["extract", name, "--need", "state of W-2001", *model],
            "router": ["refactor", name, *model],
            **{move: ["branch", name, "--query", "Something else entirely.", *model] for move in MOVES},
        }
        said = await anyio.to_thread.run_sync(ran, commands.get(row, ["refactor", name, "--operator", row, *model]))
    return said or judged(session, row, "model", before)


def write_script(folder: str, row: str) -> Path:
    """A file of a row's replies."""
    script = Path(folder, "script.json")
    script.write_text(json.dumps(REPLIES[row]), encoding="utf-8")
    return script


def ran(arguments: list[str]) -> str:
    """What a command says of a failure; empty where it did what it was told."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command(arguments)
        except SystemExit as ended:
            return err.getvalue() if ended.code else ""
    return ""


async def left_to_the_server(row: str, session: Session) -> str:
    """A host leaves it to the server's model."""
    before = newest(session)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "fold": ("fold", {"first_step": 7, "last_step": 9}),
        "plan": ("plan", {}),
        "extract": ("extract", {"need": "state of W-2001"}),
        "router": ("refactor", {}),
        **{move: ("switch_branch", {"query": "Something else entirely."}) for move in MOVES},
    }
    tool, given = calls.get(row, ("refactor", {"operator": row}))
    async with Client(build_server(Pools(folder=ScriptedModel(*REPLIES[row], name="strong")))) as client:
        done = await client.call_tool(tool, {"session": session.name, **given})
    return str(done.content[0]) if done.is_error else judged(session, row, "model", before)


async def embedded(row: str, session: Session) -> str:
    """Nobody is asked."""
    before = newest(session)
    why = {
        "plan": "does not apply: what a text asks for is no matter of structure; the register stays as it is",
        "fact_rectify": "does not apply: which value is right is no matter of structure",
        **dict.fromkeys(MOVES, "does not apply: what a message means is no matter of structure; branches are ranked"),
    }
    if row in why:
        return why[row]
    deciders = Deciders(None)
    session.plan(todo=["Refund W-2003"])
    operator = next((each for each in OPERATORS if each == row), None)
    if row == "fold":
        await deciders.fold(session, 7, 9)
    elif row == "extract":
        await deciders.extract(session, "state of W-2001")
    else:
        done = await deciders.refactor(session, operator)
        if done.made.refused:
            return f"refused here: {done.made.reason}"
    return judged(session, row, "embedded", before)


class Helper:
    """Folds, plans, extracts and routes for a run that presses one key again and again."""

    name = "strong"

    def __init__(self, operator: str) -> None:
        self._operator = operator

    async def decide(self, request: Request) -> Reply:
        """What its tool asks for."""
        answers: dict[str, dict[str, Any]] = {
            "keep": {"summary": "Opened the gate's page."},
            "plan": {"summary": "The user asks about a gate."},
            "extract": {"selections": [{"ref": "s1.1:1-1"}]},
            "route": {**ROUTE, "selected_operator": self._operator},
            "rewrite": {"text": "The same key was pressed three times and nothing changed."},
        }
        return Reply(answers[request.tool.name])


async def browsed(url: str, operator: str) -> list[Event]:
    """The events of a run that is stuck for some steps, and then answers."""
    press = {"thought": "Perhaps now.", "actions": [{"kind": "press", "key": "a"}]}
    pages = range(2, 7)
    look = [{"thought": f"Page {n}.", "actions": [{"kind": "navigate", "url": f"{url}/{n}"}]} for n in pages]
    end = {"thought": "There.", "actions": [{"kind": "answer", "text": "4:37", "quote": "Gate 7 opens at 4:37"}]}
    agent = ScriptedModel(*look, *[press] * 5, end, name="script")
    one, name = Helper(operator), f"run-{operator.replace('_', '-')}"
    keeping = Keeping(name, folder=Roles(one, one, one, one))
    async with BrowserAgent(agent, budget=1_500, limits=RunLimits(steps=30), keeping=keeping) as running:
        await running.run("When does gate 7 open?", f"{url}/1")
    with Session.open(name, create=False) as session:
        return session.history(limit=500)


async def browse_column() -> dict[str, str]:
    """The cells of `browse`, one run for each operator."""
    cells = dict.fromkeys(MOVES, "does not apply: a run is one task on one path; --session and --resume say where")
    cells["extract"] = "does not apply: no trigger called for it in these runs; the call is the library's"
    with Site(pages={f"/{n}": PAGE for n in range(1, 7)}) as site:
        for operator in OPERATORS:
            events = await browsed(site.url, operator)
            by = [(event.kind, event.decider) for event in events]
            if operator == "fact_rectify":
                cells[operator] = "does not apply: no summary of this run is wrong; the router may choose it"
            else:
                cells[operator] = (
                    "ok"
                    if ("refactored", "model") in by
                    else next(
                        (event.cause for event in events if event.kind in ("routed", "refused")),
                        "nothing was refactored",
                    )
                )
            for row in ("fold", "plan", "extract"):
                if (made(row), "model") in by:
                    cells[row] = "ok"
            if cells[operator] == "ok":
                cells["router"] = "ok"
    return cells


async def table() -> dict[str, dict[str, str]]:
    """Every cell."""
    faces = dict(zip(COLUMNS, (over_mcp, in_library, at_the_shell, left_to_the_server, None, embedded), strict=True))
    browse = await browse_column()
    cells: dict[str, dict[str, str]] = {}
    for row in REPLIES:
        cells[row] = {"model, browse": browse.get(row, "nothing happened")}
        for column, (name, face) in zip(COLUMNS, faces.items(), strict=True):
            if face is None:
                continue
            with planted(f"{row.replace('_', '-')}-{COLUMNS.index(name)}") as session:
                try:
                    cells[row][column] = await face(row, session)
                except CtxfoldError as error:
                    cells[row][column] = f"{type(error).__name__}: {error}"
    cells["browse step"] = await browse_steps(COLUMNS)
    return cells


def main() -> int:
    """Print the table, and a line for each cell that is not `ok`; 0 where every cell works or says why it does not apply."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["CTXFOLD_HOME"] = home
        cells = anyio.run(table)
    print("decision".ljust(20) + "".join(column.ljust(16) for column in COLUMNS))
    notes: list[str] = []
    for row, found in cells.items():
        words = [
            "ok" if found[column].startswith("ok") else "-" if found[column].startswith("does not") else "NO"
            for column in COLUMNS
        ]
        print(row.ljust(20) + "".join(word.ljust(16) for word in words))
        notes += [f"{row}, {column}: {found[column]}" for column in COLUMNS if found[column] != "ok"]
    print("\n" + "\n".join(notes))
    return int(any(not cell.startswith(("ok", "does not")) for found in cells.values() for cell in found.values()))


if __name__ == "__main__":
    sys.exit(main())
