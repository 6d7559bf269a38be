"""How far a redaction reaches: names, ids, reasons, notes and events, and the value in common encodings, down to the raw bytes of the files."""

import base64
import codecs
import json
import quopri
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from click.testing import CliRunner

import ctxfold
from ctxfold import Session
from ctxfold.cli import root
from ctxfold.workspace import By
from tests.contract.test_deleting import leaks
from tests.support.sessions import add_json, add_steps, database_bytes, ref_of, settled, texts

SECRET = 'Kq2-Zz&Yy7"live/42'
SLUG = "kq2-zz-yy7-live-42"
RAW = SECRET.encode()
ENCODED = {
    "in capitals": SECRET.upper(),
    "backwards": SECRET[::-1],
    "spaced": " ".join(SECRET),
    "for an address": quote(SECRET, safe=""),
    "as a form's field": quote_plus(SECRET),
    "in markup": escape(SECRET),
    "in markup by numbers": "".join(f"&#{ord(sign)};" for sign in SECRET),
    "in JSON": json.dumps(SECRET)[1:-1],
    "in a script": "".join(f"\\u{ord(sign):04x}" for sign in SECRET),
    "base64": base64.b64encode(RAW).decode(),
    "base64 within more": base64.urlsafe_b64encode(b"user:" + RAW + b"!").decode(),
    "base64 of UTF-16": base64.b64encode(SECRET.encode("utf-16")).decode(),
    "base32": base64.b32encode(RAW).decode(),
    "base85": base64.b85encode(RAW).decode(),
    "ascii85": base64.a85encode(RAW).decode(),
    "hexadecimal": RAW.hex(),
    "hexadecimal, parted": RAW.hex(":"),
    "decimal": ", ".join(map(str, RAW)),
    "octal": " ".join(f"{byte:03o}" for byte in RAW),
    "binary": " ".join(f"{byte:08b}" for byte in RAW),
    "rot13": codecs.encode(SECRET, "rot13"),
    "quoted-printable": quopri.encodestring(SECRET.encode()).decode(),
}


@pytest.fixture
def everywhere(database: Path) -> str:
    """A session that has the value in every text and name that a caller can give."""
    store = str(database)
    with Session.open(f"trip-{SLUG}", goal=f"Log in with {SECRET}", store=store) as session:
        told = session.record_turn(user=f"It is {SECRET}.")
        step = session.record_step(
            explanation=f"Trying {SECRET}",
            calls=[{"name": f"log-{SECRET}", "args": {"key": SECRET, SECRET: 1}, "id": f"c-{SECRET}"}],
            results=[{"id": f"c-{SECRET}", "text": json.dumps({SECRET: SECRET}), "shown": f"got {SECRET}"}],
        ).step
        session.record_result(step, f"c-{SECRET}", f"late {SECRET}", key=f"k-{SECRET}")
        session.record_note(f"note {SECRET}", origin="user")
        add_steps(session, 3, first=3)
        session.plan(
            summary=f"in with {SECRET}",
            todo=[f"use {SECRET}"],
            constraints=[{"text": f"only {SECRET}", "ref": str(told)}],
            decisions=[f"took {SECRET}"],
            by=By("host", f"as {SECRET} said"),
        )
        session.extract(selections=[{"ref": str(told), "why": f"holds {SECRET}"}], by=By("host", SECRET))
        session.fold(f"Logged in with {SECRET}.", step, step, By("host", f"since {SECRET}"))
        session.refactor("attention_anchor", text=f"mind {SECRET}", by=By("host", f"for {SECRET}"))
        session.branch("create", to=f"with-{SLUG}", by=By("host", f"tried {SECRET}"))
        session.branch("rename", to=f"by-{SLUG}")
        session.undo()
        session.branch("new_topic", to=SLUG, by=By("host", SECRET))
        session.picture(step, b"jpeg")
    return store


def test_nothing_of_a_redacted_value_is_left_in_any_file(everywhere: str, database: Path, tmp_path: Path) -> None:
    with Session.open(f"trip-{SLUG}", store=everywhere) as session:
        assert SLUG.encode() in database_bytes(database)
        done = session.redact("Kq2-Zz&Yy7.{1,2}live/42")
        name = session.name
        assert done.session == name == "redacted"
        assert done.names == 3
        assert any("exports" in one for one in done.left)
        said = f"{settled(session)}{session.history(200)!r}{session.tree()!r}"
        assert "redacted" in {head.name for topic in session.tree() for head in topic.branches} | {session.branch_name}
        ctxfold.export_session(name, tmp_path / "out.jsonl", store=everywhere)
    held = database_bytes(database) + (tmp_path / "out.jsonl").read_bytes() + said.encode()
    assert leaks(database, SECRET, SLUG, SECRET[:9], SECRET[9:]) == []
    for form in (SECRET, SLUG, json.dumps(SECRET)[1:-1]):
        assert form.lower().encode() not in held.lower(), form
    assert [info.name for info in ctxfold.sessions(everywhere)] == [name]
    assert ctxfold.verify_session(name, store=everywhere) > 0
    assert not list(tmp_path.glob("**/*.jpg"))


def test_a_redacted_value_is_gone_in_common_encodings(database: Path) -> None:
    store = str(database)
    with Session.open("trip", store=store) as session:
        session.record_turn(user=f"The key: {SECRET}")
        for how, form in ENCODED.items():
            session.record_turn(user=f"{how}: {form} and more")
        add_json(session, [{"how": how, "is": form} for how, form in ENCODED.items()])
        session.redact("Kq2-Zz&Yy7.live/42")
        kept = [text for n in range(1, session.tip + 1) for text in texts(session, n)]
        for how in ENCODED:
            assert sum(text.count(how) for text in kept) >= 2, how
        rows = json.loads(kept[-1])
        assert [row["how"] for row in rows] == list(ENCODED)
        assert all("and more" in text for text in kept if text.startswith(tuple(ENCODED)))
    held = database_bytes(database)
    assert [how for how, form in ENCODED.items() if form.encode() in held] == []
    assert leaks(database, SECRET) == []
    assert ctxfold.verify_session("trip", store=store) > 0


def test_a_ref_says_which_copies_it_leaves(stored: Session) -> None:
    text = f"the key {SLUG}"
    step = stored.record_turn(user=text).step
    stored.branch("create", to="side")
    done = stored.redact(ref_of(stored, step, text))
    assert any("encodings" in one for one in done.left)
    assert stored.name == "trip"


def test_names_that_nobody_chose_and_names_that_are_to_stay_are_left(stored: Session) -> None:
    stored.record_turn(user="the main hall, harbor-42")
    stored.branch("create", to="harbor-42")
    stored.redact("harbor-42", names=False)
    assert stored.branch_name == "harbor-42"
    assert stored.redact("main hall|main").names == 0
    assert "harbor" not in settled(stored).split("harbor-42", 1)[0]


def test_the_command_says_what_was_renamed_and_what_is_left(everywhere: str) -> None:
    done = CliRunner().invoke(root, ["redact", f"trip-{SLUG}", SECRET, "--yes", "--store", everywhere])
    assert done.exit_code == 0, done.output
    assert "it is called redacted now" in done.output
    assert "branches and topics" in done.output
    assert "not reached: exports and copies made before" in done.output
    assert SLUG not in done.output
