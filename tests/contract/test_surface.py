"""The public surface built so far: what is there, what is not there yet, names, defaults and sessions as a list."""

import inspect
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import ctxfold
from ctxfold import CtxfoldError, Session, View
from ctxfold.errors import InputError, SessionNameError, StoreError
from tests.support.sessions import add_step, add_steps, one_line, settled


def test_everything_public_is_named_documented_and_importable() -> None:
    assert {"Session", "View", "CtxfoldError", "sessions", "delete_session", "export_session", "import_session"} <= set(
        ctxfold.__all__
    )
    for name in ctxfold.__all__:
        member = getattr(ctxfold, name)
        assert inspect.ismodule(member) or isinstance(member, str) or inspect.getdoc(member), name


def test_the_defaults_of_the_surface_are_as_published() -> None:
    def defaults(method: Callable[..., object]) -> dict[str, object]:
        return {
            name: parameter.default
            for name, parameter in inspect.signature(method).parameters.items()
            if parameter.default is not inspect.Parameter.empty
        }

    assert {"goal": None, "store": None}.items() <= defaults(Session.open).items()
    assert defaults(Session.view)["budget"] is defaults(Session.consolidate)["budget"] is None  # the session's own
    assert {"summary": None, "first_step": None, "last_step": None}.items() <= defaults(Session.fold).items()
    assert defaults(Session.record_result)["key"] is None
    assert {"summary": None, "todo": None}.items() <= defaults(Session.plan).items()
    assert {"operator": "auto", "text": None}.items() <= defaults(Session.refactor).items()
    assert {"need": None, "selections": None, "budget": 400}.items() <= defaults(Session.extract).items()


def test_the_default_store_is_the_configured_one_and_private(ctxfold_home: Path) -> None:
    with Session.open("trip") as session:
        add_step(session, 1)
    from ctxfold.config import default_store

    file = Path(default_store())
    assert file.is_file()
    assert ctxfold_home in file.parents
    assert [info.name for info in ctxfold.sessions()] == ["trip"]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_store_may_be_named_by_path_or_url(database: Path) -> None:
    with Session.open("trip", store=str(database)) as session:
        add_step(session, 1)
    with Session.open("trip", store=f"sqlite:///{database}") as session:
        assert (session.created, session.tip) == (False, 1)


@pytest.mark.parametrize("store", ["mysql://host/db", "https://example.org/db", "postgres", "s3://bucket", "://"])
def test_a_store_of_an_unknown_kind_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if "://" not in store:
        Session.open("trip", store=store).close()
        assert (tmp_path / store).is_file()
        return
    with pytest.raises(StoreError, match=one_line()):
        Session.open("trip", store=store)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "store", ["file:store.db", "file:/store.db", "file:///store.db?mode=ro", "a\0b", "sqlite:///a\0b", "\0"]
)
def test_an_address_that_is_no_path_is_refused_in_one_line_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for use in (lambda: Session.open("trip", store=store), lambda: ctxfold.sessions(store)):
        with pytest.raises(InputError, match=one_line("sqlite:///")):
            use()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "-trip", "a b", "x" * 65, "trip/one", "trip.db", "\x00"])
def test_a_session_name_outside_the_pattern_is_refused_in_one_line(database: Path, name: str) -> None:
    with pytest.raises(SessionNameError, match=one_line("a-z")):
        Session.open(name, store=str(database))


def test_sessions_are_listed_with_what_they_hold(database: Path) -> None:
    assert ctxfold.sessions(str(database)) == []
    with Session.open("trip", goal="Lisbon", store=str(database)) as session:
        add_steps(session, 4)
        session.branch("create", at=2, to="other")
        add_step(session, 5)
    with Session.open("stay", store=str(database)):
        pass
    listed = {info.name: info for info in ctxfold.sessions(str(database))}
    assert set(listed) == {"trip", "stay"}
    assert (listed["trip"].goal, listed["trip"].steps, listed["trip"].branches) == ("Lisbon", 5, 2)
    assert listed["stay"].steps == 0
    assert listed["trip"].created <= listed["trip"].updated
    assert listed["trip"].bytes > 0


def test_a_closed_session_refuses_work_in_one_line(database: Path) -> None:
    session = Session.open("trip", store=str(database))
    add_step(session, 1)
    session.close()
    session.close()
    with pytest.raises(CtxfoldError, match=one_line()):
        add_step(session, 2)


def test_values_handed_out_are_frozen(session: Session) -> None:
    add_steps(session, 4)
    tile = session.fold(first_step=1, last_step=2)
    shown = session.view()
    assert isinstance(shown, View)
    for value, name in (
        (shown, "text"),
        (tile, "text"),
        (session.recall("s1"), "text"),
        (session.history()[0], "kind"),
    ):
        with pytest.raises((AttributeError, TypeError, ValueError)):
            setattr(value, name, "changed")


def test_what_the_caller_passed_in_may_change_afterwards(session: Session) -> None:
    args = {"page": 1}
    calls = [{"name": "read", "args": args, "id": "c1"}]
    step = session.record_step(explanation="Read.", calls=calls, results=[{"id": "c1", "text": "one"}]).step
    before = session.recall(f"s{step}").text
    args["page"] = 99
    calls.clear()
    assert session.recall(f"s{step}").text == before
    assert "99" not in settled(session)
