"""The data model's deleting: redaction keeps the length and nothing else; deleting a session takes only what it alone held."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import BusyStore, InputError, UnknownSession
from ctxfold.store import sqlite
from ctxfold.workspace import By
from tests.support.sessions import (
    WIDE,
    add_call,
    add_json,
    add_result,
    add_step,
    add_steps,
    database_bytes,
    events,
    one_line,
    path,
    ref_of,
    settled,
    texts,
)

SECRET = "sk9live7Kq2ZzYyXx44"


def leaks(database: Path, *secrets: str) -> list[str]:
    """Which of the secrets, or of their digests, still stand in the store's files."""
    held = database_bytes(database)
    small = held.lower()  # a search index keeps words in lower case
    found = [secret for secret in secrets if secret.lower().encode() in small or secret.encode("utf-16-le") in held]
    for secret in secrets:
        raw = secret.encode()
        digests = [
            hashlib.new(name, raw).digest() for name in ("sha256", "sha1", "md5", "blake2b", "blake2s", "sha3_256")
        ]
        digests += [hashlib.blake2b(raw, digest_size=size).digest() for size in (8, 16, 20, 32)]
        forms = [
            form
            for digest in digests
            for form in (digest, digest[:16], digest.hex().encode(), digest[:16].hex().encode())
        ]
        found += [f"a digest of {secret[:12]}" for form in forms if form in held][:1]
    return found


def test_redacting_a_pattern_takes_it_out_of_every_kind_of_record_and_leaves_the_rest(stored: Session) -> None:
    stored.record_turn(user=f"My key: {SECRET} thanks")
    step = stored.record_step(
        explanation=f"Using {SECRET} now",
        calls=[
            {"name": "login", "args": {"key": SECRET, "user": "ana"}, "id": "c"},
            {"name": "slow", "args": {}, "id": "w"},
        ],
        results=[{"id": "c", "text": json.dumps({"ok": True, "echo": SECRET}), "shown": f"echoed {SECRET}"}],
    ).step
    stored.record_result(step, "w", f"late {SECRET}")
    stored.record_reply(f"Logged in with {SECRET}.")
    stored.record_note(f"The key was {SECRET}", origin="user")
    before = [text for n in (1, 2) for text in texts(stored, n)]
    done = stored.redact(SECRET)
    assert done.records >= 6
    assert done.bytes >= 6 * len(SECRET)
    after = [text for n in (1, 2) for text in texts(stored, n)]
    assert [len(text.encode()) for text in after] == [len(text.encode()) for text in before]
    assert not any(SECRET in text for text in after)
    assert "My key: " in after[0]
    assert after[0].endswith(" thanks")
    assert SECRET not in settled(stored)
    assert SECRET not in stored.recall("s1").text


def test_a_redacted_text_is_gone_from_views_tiles_and_search(stored: Session) -> None:
    add_json(stored, {"account": "ana", "token": SECRET})
    add_steps(stored, 3, first=2)
    stored.fold(summary=f"Logged in as ana with token {SECRET}.", first_step=1, last_step=2)
    stored.fold(first_step=3, last_step=3)
    assert SECRET in settled(stored)
    assert stored.recall(query=SECRET)
    stored.redact(SECRET)
    for budget in (256, 1_000, 8_000, WIDE):
        assert SECRET not in stored.view(budget).text
        assert SECRET not in json.dumps(stored.view(budget).messages)
    assert stored.recall(query=SECRET) == []
    assert "Logged in as ana" in settled(stored)


@pytest.mark.parametrize("by", ["pattern", "ref"])
def test_a_redacted_text_is_gone_from_the_bytes_of_the_store(database: Path, by: str) -> None:
    whole = f"exactly {SECRET} here"
    with Session.open("trip", store=str(database)) as session:
        add_steps(session, 3)
        step = add_result(session, whole)
        add_steps(session, 3, first=5)
        session.redact(SECRET if by == "pattern" else ref_of(session, step, whole))
    assert leaks(database, SECRET, whole) == []
    with Session.open("trip", store=str(database)) as again:
        assert path(again) == list(range(1, 8))
        assert SECRET not in settled(again)


@pytest.mark.parametrize(
    "text",
    [
        f"A long text that holds {SECRET} and goes on for a while, twice. " * 3,
        json.dumps({"id": "A1", "token": SECRET, "holder": "Ana of the harbor office"}),
    ],
)
def test_nothing_left_of_a_redacted_text_tells_that_it_came_back(stored: Session, text: str) -> None:
    first = add_result(stored, text)
    stored.redact(ref_of(stored, first, text))
    again = add_result(stored, text)
    after = settled(stored)
    assert SECRET in after
    assert f"s{first}." not in after[after.index(SECRET) - 200 :]
    assert text in texts(stored, again)


@pytest.mark.parametrize("by", ["pattern", "ref"])
def test_a_redaction_does_not_come_back_through_a_handle_on_another_branch(database: Path, by: str) -> None:
    store = str(database)
    words = f"my password is {SECRET}"
    with Session.open("trip", store=store) as one, Session.open("trip", store=store) as two:
        one.record_turn(words)
        add_call(one, "look", None, json.dumps({"token": SECRET, "left": 3}), "look")
        two.branch("create", to="other")
        add_step(two, 2)
        two.refactor("noise_filter", dry_run=True)
        assert SECRET in settled(two)
        tip = two.tip
        for what in [SECRET] if by == "pattern" else ["s1.1", "s1.4"]:
            one.redact(what)
        assert two.record_turn("more").step == tip + 1
        assert SECRET not in repr(two.workspace)
        assert SECRET not in settled(two)
        assert SECRET not in repr(two.fold("Logged in.", 1, 1))
        assert SECRET not in repr([two.refactor(kind) for kind in ("state_abstract", "attention_anchor")])
    with Session.open("trip", store=store) as fresh:
        fresh.branch("switch", to="other")
        assert SECRET not in settled(fresh)
    assert leaks(database, SECRET) == []


def test_a_redaction_is_logged_without_what_it_took(stored: Session) -> None:
    add_result(stored, f"key {SECRET}")
    log = len(events(stored))
    stored.redact(SECRET)
    after = events(stored)
    assert len(after) == log + 1
    assert "redact" in after[-1].kind.lower()
    assert SECRET not in repr(after)


@contextmanager
def being_read(database: Path) -> Iterator[None]:
    """Another connection in the middle of a read, for the length of the block; it stays open until the test's end."""
    with closing(sqlite3.connect(database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchone()
        yield
        reader.execute("ROLLBACK")


@pytest.mark.parametrize("then", ["redact", "close", "delete", "another handle's close"])
def test_a_removal_that_cannot_reach_the_file_yet_says_so_and_the_next_call_finishes_it(
    database: Path, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    store = str(database)
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with Session.open("stay", store=store) as other, Session.open("trip", store=store) as handle:
        add_result(handle, f"key {SECRET}")
        add_result(other, "words of another")
        with being_read(database):
            with pytest.raises(BusyStore, match=one_line("committed", "ctxfold doctor")):
                handle.redact(SECRET)
            assert SECRET not in settled(handle)
            assert leaks(database, SECRET) != []
        match then:
            case "redact":
                other.redact("another")
            case "close":
                handle.close()
            case "delete":
                ctxfold.delete_session("stay", store=store)
            case _:
                other.close()
        assert leaks(database, SECRET) == []


def test_a_deletion_that_cannot_reach_the_file_yet_says_so(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = str(database)
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with Session.open("stay", store=store) as other:
        with Session.open("trip", store=store) as handle:
            add_result(handle, f"key {SECRET}")
        with being_read(database):
            with pytest.raises(BusyStore, match=one_line("committed")):
                ctxfold.delete_session("trip", store=store)
            assert [info.name for info in ctxfold.sessions(store)] == ["stay"]
            assert leaks(database, SECRET) != []
        ctxfold.sessions(store)
        assert leaks(database, SECRET) == []
        assert other.tip == 0


def test_a_redaction_interrupted_before_the_file_was_rewritten_is_finished_at_the_next_close(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_store: object) -> None:
        raise KeyboardInterrupt

    store = str(database)
    with Session.open("stay", store=store) as other:
        handle = Session.open("trip", store=store)
        add_result(handle, f"key {SECRET}")
        with monkeypatch.context() as patched:
            patched.setattr(sqlite.Store, "scrub", interrupted)
            with pytest.raises(KeyboardInterrupt):
                handle.redact(SECRET)
        assert leaks(database, SECRET) != []
        other.close()
        assert leaks(database, SECRET) == []
        handle.close()


@pytest.mark.parametrize("by", ["pattern", "ref"])
def test_a_redacted_text_is_gone_from_ids_keys_and_reasons(database: Path, by: str) -> None:
    with Session.open("trip", store=str(database)) as session:
        other = f"b{SECRET[1:]}"
        step = session.record_step(
            calls=[{"name": "ask", "args": {"n": n}, "id": f"c-{key}"} for n, key in enumerate([SECRET, other])],
            results=[{"id": f"c-{SECRET}", "text": json.dumps({"a": SECRET, "b": other})}],
        ).step
        session.record_result(step, f"c-{other}", "late", key=f"key-{SECRET}")
        session.record_result(step, f"c-{other}", "later", key=f"key-{other}")
        add_steps(session, 2, first=2)
        session.fold("Two pages.", 2, 3, by=By("host", f"because of {SECRET}"))
        session.plan(todo=["Find a room"], by=By("host", f"after {other}"))
        session.branch("create", to="other", by=By("host", f"tried {SECRET}"))
        session.redact(f"{SECRET}|{other}" if by == "pattern" else f"s{step}.3")
        told = session.recall(f"s{step}").text
        ids = [line.split()[-1] for line in told.splitlines() if line.startswith(f"## s{step}.")]
        assert [ids.index(name) for name in ids] == [0, 1, 0, 1, 1]
        assert all(name.startswith("c-*") for name in ids)
        assert session.record_result(step, ids[0], "last").step == step
        assert SECRET not in repr(session.history())
    assert leaks(database, SECRET, other) == []
    assert ctxfold.verify_session("trip", store=str(database)) > 0


def test_a_redaction_cannot_be_undone(stored: Session) -> None:
    add_step(stored, 1)
    add_result(stored, f"key {SECRET}")
    stored.fold(summary="Two steps.", first_step=1, last_step=2)
    stored.redact(SECRET)
    stored.undo()
    assert SECRET not in settled(stored)
    assert path(stored) == [1, 2]


def test_a_pattern_that_stands_only_in_a_summary_or_the_goal_is_redacted_there(database: Path) -> None:
    with Session.open("trip", goal=f"Log in with {SECRET}a", store=str(database)) as session:
        add_steps(session, 4)
        session.fold(summary="The key was Hyazinthe.", first_step=1, last_step=2)
        session.redact("Hyazinthe")
        assert "Hyazinthe" not in settled(session)
        assert "The key was " in settled(session)
        session.redact(f"{SECRET}a")
        assert f"{SECRET}a" not in session.goal
        assert f"{SECRET}a" not in settled(session)
    assert leaks(database, f"{SECRET}a", "Hyazinthe") == []


def test_redacting_a_whole_step_takes_all_its_records(stored: Session) -> None:
    add_steps(stored, 3)
    kept = texts(stored, 1), texts(stored, 3)
    lengths = [len(text) for text in texts(stored, 2)]
    done = stored.redact("s2")
    assert done.records == len(lengths)
    assert [len(text) for text in texts(stored, 2)] == lengths
    assert "END-2" not in settled(stored)
    assert (texts(stored, 1), texts(stored, 3)) == kept


def test_a_pattern_that_matches_nothing_is_told_and_changes_nothing(stored: Session) -> None:
    add_steps(stored, 2)
    before = settled(stored)
    with pytest.raises(InputError, match=one_line()):
        stored.redact("marmalade")
    assert settled(stored) == before


@pytest.mark.parametrize("pattern", ["(", "[a-", "a**", "(?P<x>", "*"])
def test_a_pattern_that_is_none_is_refused_in_one_line(stored: Session, pattern: str) -> None:
    add_steps(stored, 2)
    with pytest.raises(InputError, match=one_line()):
        stored.redact(pattern)


def test_deleting_a_session_removes_it_from_the_list_and_opening_makes_a_new_one(database: Path) -> None:
    store = str(database)
    with Session.open("trip", goal="One", store=store) as session:
        add_steps(session, 3)
    with Session.open("stay", goal="Two", store=store) as session:
        add_steps(session, 2)
    assert {info.name for info in ctxfold.sessions(store)} == {"trip", "stay"}
    ctxfold.delete_session("trip", store=store)
    assert {info.name for info in ctxfold.sessions(store)} == {"stay"}
    with Session.open("trip", store=store) as fresh:
        assert fresh.created
        assert (fresh.tip, fresh.goal) == (0, "")
        assert fresh.recall(query="anchor") == []


def test_deleting_a_session_keeps_what_another_session_holds_too(database: Path) -> None:
    store = str(database)
    shared, own = "a text both sessions hold " * 20, "a text only one session holds " * 20
    with Session.open("trip", store=store) as session:
        add_result(session, shared)
        add_result(session, own)
    with Session.open("stay", store=store) as session:
        step = add_result(session, shared)
    ctxfold.delete_session("trip", store=store)
    with Session.open("stay", store=store) as session:
        assert shared in texts(session, step)
        assert [hit.step for hit in session.recall(query="both sessions hold")] == [step]
    copy = database.with_name("copy.sqlite")
    with sqlite3.connect(database) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    connection.close()
    assert b"only one session holds" not in copy.read_bytes()


@pytest.mark.parametrize("name", ["nowhere", "trip2"])
def test_an_unknown_session_cannot_be_deleted_or_exported(stored: Session, tmp_path: Path, name: str) -> None:
    store = str(tmp_path / "store.db")
    with pytest.raises(UnknownSession, match=one_line()):
        ctxfold.delete_session(name, store=store)
    with pytest.raises(UnknownSession):
        ctxfold.export_session(name, tmp_path / "out.jsonl", store=store)
    assert not (tmp_path / "out.jsonl").exists()


USES: dict[str, Callable[[Session], object]] = {
    "goal": lambda session: session.goal,
    "branch_name": lambda session: session.branch_name,
    "tip": lambda session: session.tip,
    "workspace": lambda session: session.workspace,
    "intent": lambda session: session.intent,
    "budget": lambda session: session.budget,
    "set_budget": lambda session: session.set_budget(3_000),
    "record_turn": lambda session: session.record_turn("Hello?").step,
    "record_step": lambda session: session.record_step("Looking.").step,
    "record_reply": lambda session: session.record_reply("Hello.").step,
    "record_note": lambda session: session.record_note("So it is.").step,
    "record_result": lambda session: session.record_result(1, "c1", "late").step,
    "fold": lambda session: session.fold(),
    "consolidate": lambda session: session.consolidate(),
    "branch": lambda session: session.branch("create", to="other"),
    "undo": lambda session: session.undo(),
    "redo": lambda session: session.redo(),
    "view": lambda session: session.view(),
    "recall": lambda session: session.recall("s1"),
    "search": lambda session: session.recall(query="anchor"),
    "history": lambda session: session.history(),
    "tree": lambda session: session.tree(),
    "picture": lambda session: session.picture(1, b"jpeg"),
    "redact": lambda session: session.redact("s1"),
    "plan": lambda session: session.plan(todo=["Pack"]),
    "extract": lambda session: session.extract(need="anchor"),
    "refactor": lambda session: session.refactor(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("next_name", ["trip", "stay"])
def test_a_handle_on_a_deleted_session_says_so_and_touches_no_other(database: Path, use: str, next_name: str) -> None:
    store = str(database)
    with Session.open("trip", goal="One", store=store) as handle:
        add_steps(handle, 3)
        handle.fold()
        ctxfold.delete_session("trip", store=store)
        with pytest.raises(UnknownSession, match=one_line()):
            USES[use](handle)
        assert ctxfold.sessions(store) == []
        with Session.open(next_name, goal="Two", store=store) as other:
            add_steps(other, 2)
            before = settled(other), events(other), other.budget
            with pytest.raises(UnknownSession):
                USES[use](handle)
            assert (settled(other), events(other), other.budget) == before
            assert not list(database.parent.glob("*.pictures/*/*"))
