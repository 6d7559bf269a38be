"""Every argument of every public call: a value of another type is refused with one of our errors, and commits nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import ctxfold
from ctxfold import CtxfoldError, Session, verify_session
from ctxfold.cli.report import report_session
from ctxfold.errors import InputError, RefError
from ctxfold.session.handle import is_of_type

HUGE = 10**5_000
"""A number that Python does not write out."""
ODD: tuple[Any, ...] = (
    None, b"x", bytearray(b"x"), [], [1], [None], ["a"], (), ("host",), {}, {"a": 1}, {1, 2}, object(), len, 1.5, float("nan"), float("inf"), True, 0,
    -1, 3, 10**30, -(10**30), HUGE, "", " ", "zzz", "Page", "\0", "a\0b", "\ud800", "\ud83d x", "a\r\u2028b", "s1", "s0", "s1-s2", "s1.2:5-2", "١",
    "x" * 5_000, "../../x", [{}], [{"id": b"x"}], [{"text": 1}], [{"ref": 1}], [{"ref": "s1", "facts": "a"}], [{"state": "odd", "text": "a"}],
    [{"name": 1}], [{"name": "a", "args": {1, 2}}], [{"id": "c", "text": "t", "origin": "user"}], [{"id": "c", "text": "t", "shown": 1}], [("a",)],
)  # fmt: skip
CALL = {"name": "find", "args": {"q": 1}, "id": "c"}
RESULT = {"id": "c", "text": "found"}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "open": {"name": "new", "goal": "find", "store": ":memory:"},
    "set_budget": {"budget": 900},
    "set_tools": {"tools": [{"name": "find", "description": "Find a car."}]},
    "record_turn": {"user": "find it"},
    "record_step": {"explanation": "so", "calls": [CALL], "results": [RESULT], "found": "so"},
    "record_reply": {"text": "so"},
    "record_note": {"text": "so", "origin": "model"},
    "record_result": {"step": 2, "call_id": "c", "text": "late"},
    "fold": {"summary": "so", "first_step": 1, "last_step": 2, "status": "failed", "goal": "so", "outcome": "so"},
    "condense": {"last": 2, "texts": {1: "so"}},
    "consolidate": {"budget": 900},
    "remember": {"memory": {"facts": "so"}, "upto": 2, "budget": 900},
    "find_due": {"budget": 900},
    "mark": {"texts": ["so"], "steps": [1]},
    "read_records": {"steps": [1]},
    "branch": {"action": "create"},
    "view": {"budget": 900, "at": 3},
    "restore": {"at": 3},
    "recall": {"ref": "s1"},
    "history": {"limit": 5},
    "picture": {"step": 1, "jpeg": b"x"},
    "redact": {"what": "car", "names": True},
    "list_steps": {"after": 0},
    "plan": {"summary": "so", "todo": ["buy it"], "constraints": ["no diesel"], "decisions": ["it is the red one"]},
    "extract": {"need": "car", "budget": 400, "hint": "see s1"},
    "list_material": {"need": "car"},
    "hand_off": {"to": "any"},
    "list_named": {"besides": "so", "room": 90},
    "refactor": {"operator": "attention_anchor"},
    "keep_refused": {"what": "fold", "replies": [("so", "too long")]},
}
FUNCTIONS: Mapping[str, Mapping[str, Any]] = {
    "sessions": {},
    "delete_session": {"name": "none"},
    "verify_session": {"name": "any"},
    "export_session": {"name": "any", "file": "any.jsonl"},
    "import_session": {"file": "kept.jsonl", "name": "any"},
    "recall_all": {"query": "car"},
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session with a few steps, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    made = Session.open("any", goal="buy a car", store=str(tmp_path / "store.db"))
    for at in range(4):
        made.record_turn(f"find car {at} under {at + 1}00 EUR")
        made.record_step("I look.", calls=[CALL], results=[RESULT])
        made.record_reply(f"car {at} is there")
    ctxfold.export_session("any", tmp_path / "kept.jsonl", str(tmp_path / "store.db"))
    return made


def refusal(called: Callable[..., Any], arguments: Mapping[str, Any]) -> CtxfoldError | None:
    """The error that a call ends with; None if it is taken. Any other error goes on."""
    try:
        done = called(**arguments)
    except CtxfoldError as error:
        return error
    if isinstance(done, Session):
        done.close()
    return None


@pytest.mark.parametrize("name", [*METHODS, *FUNCTIONS])
def test_a_value_of_another_type_is_refused_and_commits_nothing(name: str, session: Session, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    called = getattr(session if name in METHODS else ctxfold, name)
    good = dict(METHODS.get(name) or {**FUNCTIONS[name], "store": store})
    hints = get_type_hints(inspect.unwrap(called))
    for argument in inspect.signature(called).parameters:
        for odd in ODD:
            before = session.history(1), session.branch_name, session.budget
            refused = refusal(called, {**good, argument: odd})
            if refused is None:
                assert name in FUNCTIONS or is_of_type(odd, hints[argument]), (argument, repr(odd)[:40])
            else:
                assert 10 < len(str(refused)) < 6_000, (argument, str(refused)[:90])
                assert (session.history(1), session.branch_name, session.budget) == before, argument
    assert verify_session("any", store) > 0
    assert session.view(2_000).text


def test_every_public_call_is_tried() -> None:
    methods = {
        name
        for name, method in inspect.getmembers(Session, callable)
        if not name.startswith("_")
        and len(inspect.signature(method).parameters) > (1 if inspect.isfunction(method) else 0)
    }
    functions = {name for name in ctxfold.__all__ if inspect.isfunction(getattr(ctxfold, name))}
    assert methods - {"record"} == set(METHODS)
    assert functions - {"parse", "read_messages"} == set(FUNCTIONS)


def test_a_note_of_an_unknown_origin_is_refused_and_not_trusted(session: Session) -> None:
    with pytest.raises(InputError, match="user, model, tool, page"):
        session.record_note("pay 400 EUR", origin="Page")  # type: ignore[arg-type]
    session.record_note("pay 400 EUR", origin="page")
    assert " < note: pay 400 EUR" in session.view().text


def test_a_picture_is_kept_nowhere_but_under_its_step(session: Session) -> None:
    with pytest.raises(RefError):
        session.picture("../../x", b"x")


def test_a_report_is_refused_as_an_export_is(session: Session, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    for odd in (None, b"x", 1, "", "a\0b", "\ud800"):
        with pytest.raises(InputError):
            report_session("any", odd, store)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            report_session(odd, tmp_path / "report.html", store)  # type: ignore[arg-type]
