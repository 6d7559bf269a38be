"""What callers give is checked where it arrives: what is of no use is refused by an error of the tree that its docstring or that of `Session` names, and nothing is committed by it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ctxfold
import ctxfold.errors
from ctxfold import CtxfoldError, HostCompacted, Session, UserSaid, verify_session
from ctxfold.cli.report import report_session
from ctxfold.errors import InputError
from ctxfold.log import Origin
from ctxfold.workspace import Decider

Fits = Callable[[Any], bool]
"""Whether a value is of the kind that is wanted: what is not must be refused; what is may be."""

HUGE = 10**5_000
"""A number that Python does not write out."""
ODD: tuple[Any, ...] = (
    None, b"x", bytearray(b"x"), [], [1], [None], ["a"], (), ("host",), {}, {"a": 1}, {1, 2}, object(), len, 1.0, 1.5, float("nan"), float("inf"), True, False,
    0, -1, 3, 10**30, -(10**30), HUGE, "", " ", "zzz", "Page", "\0", "a\0b", "\ud800", "\ud83d x", "a\nb", "a\r\u2028b", "s1", "s0", "s1-s2", "s1.2:5-2", "١",
    "x" * 5_000, "../../x", "é" * 10,
)  # fmt: skip


def text(value: Any) -> bool:
    return isinstance(value, str)


def name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", value) is not None


def whole(value: Any) -> bool:
    """A text that UTF-8 can spell."""
    return isinstance(value, str) and "\ud800" not in value and "\ud83d" not in value


def number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def step(value: Any) -> bool:
    return number(value) or (isinstance(value, str) and re.fullmatch(r"\s*s?[1-9]\d*\s*", value, re.ASCII) is not None)


def place(value: Any) -> bool:
    return whole(value) and "\0" not in value


def flag(_value: Any) -> bool:
    return True


def entries(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, Mapping) for each in value)


def todo(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, (str, Mapping)) for each in value)


def texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value))


def said(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, UserSaid) for each in value)


def call_id(value: Any) -> bool:
    return value is None or isinstance(value, str) or number(value)


def maybe(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def one_of(*known: Any) -> Fits:
    return lambda value: isinstance(value, str) and value in known


DECIDER, ORIGIN = one_of(*Decider.__args__), one_of(*Origin.__args__)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class PublicCall:
    """A public method or function.

    Attributes:
        name: its name; a function of the package where `alone`.
        good: arguments that it takes, `HERE` standing for the store.
        fits: for each argument what may be given, under its name, or its name and that of a field of the first entry of a list.
        alone: whether it is a function.
    """

    name: str
    good: Mapping[str, Any]
    fits: Mapping[str, Fits] = field(default_factory=dict)
    alone: bool = False


CALL = {"name": "find", "args": {"q": 1}, "id": "c"}
RESULT = {"id": "c", "text": "found"}
PUBLIC = (
    PublicCall("open", {"name": "new", "goal": "find", "store": ":memory:"}, {"name": name, "goal": maybe(text), "store": maybe(place), "create": flag, "settings": lambda _: False}),
    PublicCall("set_budget", {"budget": 900}, {"budget": number}),
    PublicCall("record_turn", {"user": "find it"}, {"user": text}),
    PublicCall(
        "record_step",
        {"explanation": "so", "calls": [CALL], "results": [RESULT], "found": "so"},
        {
            "explanation": text, "found": text, "calls": entries, "calls.name": text, "calls.args": flag, "calls.id": call_id, "results": entries, "results.id": call_id,
            "results.text": text, "results.origin": one_of("tool", "page"), "results.shown": maybe(text),
        },
    ),
    PublicCall("record_reply", {"text": "so"}, {"text": text}),
    PublicCall("record_transcript", {"entries": [UserSaid("u1", "hi")]}, {"entries": said}),
    PublicCall("record_note", {"text": "so", "origin": "model"}, {"text": text, "origin": ORIGIN}),
    PublicCall(
        "record_result",
        {"step": 2, "call_id": "c", "text": "late"},
        {"step": step, "call_id": call_id, "text": text, "origin": one_of("tool", "page"), "shown": maybe(text), "key": maybe(whole)},
    ),
    PublicCall(
        "fold",
        {"summary": "so", "first_step": 1, "last_step": 2},
        {"summary": maybe(text), "first_step": maybe(step), "last_step": maybe(step), "by": lambda _: False},
    ),
    PublicCall(
        "consolidate", {"budget": 900}, {"budget": maybe(number), "model": maybe(text), "by": lambda _: False, "summary": maybe(text)}
    ),
    PublicCall("branch", {"action": "create"}, {"action": text, "at": maybe(step), "to": maybe(name)}),
    PublicCall("branch", {"action": "switch"}, {"to": maybe(text)}),
    PublicCall("branch", {"action": "new_topic"}, {"to": maybe(name)}),
    PublicCall("branch", {"action": "rename"}, {"to": maybe(name)}),
    PublicCall("branch", {"action": "auto"}, {"query": maybe(text)}),
    PublicCall("branch", {"action": "continue"}, {"by": lambda _: False}),
    PublicCall("view", {"budget": 900}, {"budget": maybe(number), "model": maybe(text)}),
    PublicCall("recall", {"ref": "s1"}, {"ref": text, "reading": flag}),
    PublicCall("recall", {"query": "car"}, {"query": text, "limit": number, "skip": number}),
    PublicCall("history", {"limit": 5}, {"limit": number}),
    PublicCall("picture", {"step": 1, "jpeg": b"x"}, {"step": step, "jpeg": lambda value: isinstance(value, bytes)}),
    PublicCall("redact", {"what": "car", "names": True}, {"what": text, "names": flag}),
    PublicCall(
        "plan",
        {"summary": "so", "todo": [{"text": "buy it"}], "constraints": [{"text": "no diesel"}], "decisions": [{"text": "it is the red one"}]},
        {
            "goal": maybe(text), "summary": maybe(text), "todo": maybe(todo), "todo.id": maybe(text), "todo.text": maybe(text), "todo.state": maybe(one_of("open", "done", "dropped")),
            "todo.evidence": maybe(texts), "constraints": maybe(todo), "constraints.id": maybe(text), "constraints.text": maybe(text),
            "constraints.state": maybe(one_of("holds", "lifted")), "constraints.supersedes": maybe(text), "constraints.ref": maybe(text),
            "decisions": maybe(todo), "by": lambda _: False, "trigger": lambda value: value is None,
        },
    ),
    PublicCall("extract", {"need": "car", "budget": 400}, {"need": maybe(text), "budget": number, "by": lambda _: False, "trigger": lambda value: value is None}),
    PublicCall(
        "extract",
        {"selections": [{"ref": "s1.1:1"}]},
        {
            "selections": maybe(entries), "selections.ref": text, "selections.why": maybe(text), "selections.todo": maybe(text), "selections.path": maybe(text),
            "selections.facts": lambda value: not value or texts(value),
        },
    ),
    PublicCall("named", {"besides": "so", "room": 90}, {"besides": text, "room": number}),
    PublicCall("dropped", {"compaction": 1}, {"compaction": number}),
    PublicCall("restore", {"compaction": 1, "budget": 900}, {"compaction": number, "budget": number, "by": lambda _: False}),
    PublicCall("maintain", {"budget": 900}, {"budget": maybe(number), "model": maybe(text), "act": flag}),
    PublicCall(
        "refactor",
        {"operator": "attention_anchor"},
        {"operator": text, "text": flag, "by": lambda _: False, "dry_run": flag, "budget": maybe(number)},
    ),
    PublicCall("keep_refused", {"what": "fold", "replies": [("so", "too long")]}, {"what": text, "replies": lambda value: isinstance(value, (list, tuple)) and not value}),
    PublicCall("sessions", {"store": "HERE"}, {"store": maybe(place)}, alone=True),
    PublicCall("delete_session", {"name": "none", "store": "HERE"}, {"name": name, "store": maybe(place)}, alone=True),
    PublicCall("verify_session", {"name": "any", "store": "HERE"}, {"name": name, "store": maybe(place)}, alone=True),
    PublicCall("export_session", {"name": "any", "file": "any.jsonl", "store": "HERE"}, {"name": name, "file": place, "store": maybe(place)}, alone=True),
    PublicCall("import_session", {"file": "kept.jsonl", "store": "HERE", "name": "any"}, {"file": place, "store": maybe(place), "name": maybe(name)}, alone=True),
)  # fmt: skip


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session with a few steps, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    made = Session.open("any", goal="buy a car", store=str(tmp_path / "store.db"))
    for at in range(4):
        made.record_transcript([HostCompacted("k1", "Cars were looked at.")] if at == 2 else [])
        made.record_turn(f"find car {at} under {at + 1}00 EUR")
        made.record_step("I look.", calls=[CALL], results=[RESULT])
        made.record_reply(f"car {at} is there")
    ctxfold.export_session("any", tmp_path / "kept.jsonl", str(tmp_path / "store.db"))
    return made


def kept(session: Session, store: str | None) -> tuple[Any, ...]:
    """What a refused call must leave as it is: the newest event, the handle's own state, and where a store is named what is in it."""
    there = ctxfold.sessions(store) if store else []
    return session.history(1), session.branch_name, session.budget, there


def refusal(called: Callable[..., Any], arguments: Mapping[str, Any]) -> CtxfoldError | None:
    """The error of the tree that a call ends with; None where it is taken. Any other error goes on."""
    try:
        done = called(**arguments)
    except CtxfoldError as error:
        return error
    if isinstance(done, Session):
        done.close()
    return None


def with_odd(good: Mapping[str, Any], argument: str, odd: Any) -> dict[str, Any]:
    """Arguments with one of them odd, or one field of the first entry of a list."""
    outer, _, inner = argument.partition(".")
    if not inner:
        return {**good, outer: odd}
    if inner.isdigit():
        return {**good, outer: [odd if at == int(inner) else each for at, each in enumerate(good[outer])]}
    return {**good, outer: [{**good[outer][0], inner: odd}, *good[outer][1:]]}


@pytest.mark.parametrize("call", PUBLIC, ids=lambda call: f"{call.name}-{'-'.join(call.fits)}"[:60])
def test_what_is_of_no_use_is_refused_by_an_error_that_is_named_and_commits_nothing(
    call: PublicCall, session: Session, tmp_path: Path
) -> None:
    store = str(tmp_path / "store.db")
    good = {argument: store if value == "HERE" else value for argument, value in call.good.items()}
    called = getattr(ctxfold if call.alone else session, call.name)
    said = f"{inspect.getdoc(called)} {'' if call.alone else inspect.getdoc(Session)}"
    named = tuple(error for error in vars(ctxfold.errors).values() if inspect.isclass(error) and error.__name__ in said)
    before = kept(session, store if call.alone else None)
    for argument, fits in call.fits.items():
        seen, taken = (before, session.view(2_000).text), False
        for odd in ODD:
            refused = refusal(called, with_odd(good, argument, odd))
            after = kept(session, store if call.alone else None)
            told = (argument, repr(odd)[:40] if odd != HUGE else "huge", refused)
            if refused is None:
                assert fits(odd), told
                before, taken = after, True
            assert refused is None or isinstance(refused, named), told
            assert refused is None or 10 < len(str(refused)) < 6_000, told
            assert after == before, told
        assert taken or seen == (before, session.view(2_000).text), argument
    assert verify_session("any", store) > 0
    assert sorted(path.name for path in tmp_path.parent.glob("x*")) == []


def test_every_public_call_is_tried() -> None:
    """What takes no argument has none to check."""
    methods = {
        name
        for name, method in inspect.getmembers(Session, callable)
        if not name.startswith("_")
        and len(inspect.signature(method).parameters) > (1 if inspect.isfunction(method) else 0)
    }
    functions = {name for name in ctxfold.__all__ if inspect.isfunction(getattr(ctxfold, name))}
    assert methods == {call.name for call in PUBLIC if not call.alone}
    assert functions == {call.name for call in PUBLIC if call.alone}
    for call in PUBLIC:
        called = getattr(ctxfold if call.alone else Session, call.name)
        tried = {argument.partition(".")[0] for each in PUBLIC if each.name == call.name for argument in each.fits}
        assert tried == set(inspect.signature(called).parameters) - {"self"}, call.name


def test_a_note_of_an_origin_that_is_not_known_is_refused_not_trusted(session: Session) -> None:
    with pytest.raises(InputError, match="user, model, tool or page"):
        session.record_note("pay 400 EUR", origin="Page")  # type: ignore[arg-type]
    session.record_note("pay 400 EUR", origin="page")
    assert " < note: pay 400 EUR" in session.view().text


def test_a_picture_is_kept_nowhere_but_under_its_step(session: Session, tmp_path: Path) -> None:
    with pytest.raises(ctxfold.errors.RefError):
        session.picture("../../x", b"x")


def test_a_report_is_refused_as_an_export_is(session: Session, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    for odd in (None, b"x", 1, "", "a\0b", "\ud800"):
        with pytest.raises(InputError):
            report_session("any", odd, store)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            report_session(odd, tmp_path / "report.html", store)  # type: ignore[arg-type]
