"""Opens stores and sessions, checks names of files and stores, and keeps a session's pictures."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ctxfold.config import FoldSettings, default_store
from ctxfold.decisions.register import PlanGiven, StatementWritten
from ctxfold.errors import InputError, UnknownSession
from ctxfold.session.branches import check_name
from ctxfold.session.commits import MAIN
from ctxfold.session.decide import set_goal, set_plan, set_tools
from ctxfold.session.handle import Handle
from ctxfold.store import is_there, open_store
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.sqlite import Store
from ctxfold.store.tables import HeadRow, SessionRow, TopicRow
from ctxfold.workspace import By

LARGEST_PICTURE = 60_000
"""Bytes of the largest picture that is kept: a page at 1,280 x 720 as JPEG of quality 40 takes about half."""


def check_utf8(text: str, what: str) -> str:
    """Return a text that is kept outside the log. Raises InputError: UTF-8 cannot encode it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} holds half a character (at {error.start}); give whole characters") from error
    return text


def check_path(file: object) -> Path:
    """Return a path of the file system. Raises InputError: not a path, or one that no file can have."""
    place = os.fspath(file) if isinstance(file, (str, os.PathLike)) else None
    if not isinstance(place, str) or not place or "\0" in place:
        raise InputError("that names no file; give a path as text")
    return Path(check_utf8(place, "the path"))


def find_address(given: str | None) -> str:
    """Return the address of a store: the given one, or the configured default."""
    if given is not None and not isinstance(given, str):
        raise InputError(f"the address of a store is text, not {type(given).__name__}")
    return check_utf8(given, "the address of a store") if given else default_store()


def open_store_at(given: str | None) -> Store:
    """Open the store at an address; None means the configured default. Raises StoreError: it cannot be opened."""
    return open_store(find_address(given))


def find_session(tx: Reading, store: Store, name: str) -> SessionRow:
    """Return a session by its name. Raises UnknownSession, SessionNameError."""
    row = tx.sessions.named(check_name(name))
    if row is None:
        raise UnknownSession(f"no session {name!r} in {store.address}; `ctxfold sessions list` shows those there are")
    return row


def open_handle(
    name: str,
    goal: str | None,
    store: str | None,
    create: bool,
    settings: FoldSettings,
    tools: Sequence[Any] | None,
    rules: Path | None,
) -> tuple[Handle, bool]:
    """Return a handle on a session, and whether the session had to be created. Arguments and errors as in
    `Session.open`.
    """
    check_name(name)
    standing = read_rules(rules) if rules else {}
    address = find_address(store)
    if not create and not is_there(address):
        raise UnknownSession(f"no session {name!r}: there is no store at {address} yet; name another, or create it")
    opened = open_store(address)
    try:
        with opened.reading() as tx:
            row = tx.sessions.named(name) if create else find_session(tx, opened, name)
        made = False
        if row is None:
            with opened.writing() as tx:
                row = tx.sessions.named(name)  # another process may have created it since
                row, made = (row, False) if row is not None else (_create_session(tx, name), True)
        handle = Handle(opened, row.id, row.current or 1, settings)
        if words := (goal or "").strip():
            with handle.writing() as tx:
                set_goal(tx, handle, words)
        if tools is not None:
            with handle.writing() as tx:
                set_tools(tx, handle, tools)
        if rules:
            with handle.writing() as tx:
                _keep_rules(tx, handle, rules.name, standing)
        return handle, made
    except BaseException:
        opened.close()
        raise


_BULLET = r"(?:[-*+]|\d+[.)])[ \t]+"
_APART = r"#|```|[-=*_]{3}"
"""How a heading, a code fence and a line across begin: no part of a paragraph."""
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```|\Z)|<!--.*?-->|^[ \t]*\|.*?$", re.MULTILINE | re.DOTALL)
"""What states no rule: fenced code, comments, rows of tables."""
_RULE = re.compile(rf"^[ \t]*(?:{_BULLET})?((?!{_APART})\S.*(?:\n[ \t]*(?!{_BULLET}|{_APART})\S.*)*)", re.MULTILINE)


def read_rules(file: Path) -> dict[str, str]:
    """Return the rules of a Markdown or text file, its bullets and paragraphs, each under its source: `AGENTS.md:12`.

    Raises InputError: the file cannot be read, or is not UTF-8 text.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "it is not UTF-8")
        raise InputError(f"the rules {file.name[:80]} cannot be read ({reason}); name a file of text") from error
    rules = _RULE.finditer(_CODE.sub(lambda part: "\n" * part[0].count("\n"), text))
    return {f"{file.name}:{text.count(chr(10), 0, each.start()) + 1}": " ".join(each[1].split()) for each in rules}


_NOTHING = (0, 0)
"""The place before the first record: whoever reads a file of rules has read none."""


def _keep_rules(tx: Writing, handle: Handle, file: str, rules: Mapping[str, str]) -> None:
    """Keep the rules of a file as constraints, and lift those that it no longer has."""
    kept = {each.text: each for each in handle.place(tx).workspace.intent.binding if each.ref.startswith(f"{file}:")}
    written = [StatementWritten(text=text).cite(source) for source, text in rules.items()]
    gone = kept.keys() - {entry.text for entry in written}
    plan = [StatementWritten(id=kept[text].id, state="lifted") for text in sorted(gone)]
    plan += [entry for entry in written if entry.text not in kept]
    set_plan(tx, handle, PlanGiven(None, (), plan, (), ""), By(reason=f"rules of {file}"), read=_NOTHING)


def _create_session(tx: Writing, name: str) -> SessionRow:
    row = tx.sessions.add(name, time.time())
    tx.forest.add_topic(row.id, TopicRow(1, MAIN))
    tx.forest.add_head(row.id, HeadRow(1, MAIN, 1, 0, row.created))
    tx.sessions.change(row.id, "current", 1)
    return row


def find_pictures(store: str, session: str) -> Path | None:
    """Return the folder of a session's pictures, which may not exist yet; None for a store without a file."""
    if store == ":memory:" or "://" in store:
        return None
    return Path(f"{store}.pictures") / session


def keep_picture(store: str, session: str, step: int, picture: bytes) -> None:
    """Keep a step's picture, readable by its owner alone; a newer one replaces it. Raises InputError: too large, or the
    folder cannot be written.
    """
    folder = find_pictures(store, session)
    if folder is None:
        return
    if len(picture) > LARGEST_PICTURE:
        raise InputError(f"a picture of {len(picture)} bytes is too large; make it {LARGEST_PICTURE} at most")
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        with open(os.open(folder / f"s{step}.jpg", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as out:
            out.write(picture)
    except OSError as error:
        raise InputError(
            f"a picture cannot be written to {folder} ({error.strerror}); leave --screenshots out"
        ) from error


def forget_pictures(store: str, session: str) -> None:
    """Remove all of a session's pictures."""
    folder = find_pictures(store, session)
    if folder is not None and folder.is_dir():
        shutil.rmtree(folder)
