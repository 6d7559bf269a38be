"""Opens stores and sessions, checks the arguments of public methods, and keeps a session's pictures."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from ctxfold.config import default_store
from ctxfold.decisions.fold import FoldSettings
from ctxfold.errors import InputError, UnknownSession
from ctxfold.session.branches import MAIN, check_name
from ctxfold.session.decide import set_goal
from ctxfold.session.handle import Handle
from ctxfold.store import is_there, open_store
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.sqlite import Store
from ctxfold.store.tables import HeadRow, SessionRow, TopicRow

P = ParamSpec("P")
T = TypeVar("T")

LARGEST_NUMBER = 2**31
"""The largest whole number that is taken as an argument; no session holds as many of anything."""
_SHOWN = 40
"""Characters of a wrong argument that its error shows."""
LARGEST_PICTURE = 60_000
"""Bytes of the largest picture that is kept: a page at 1,280 x 720 as JPEG of quality 40 takes about half."""


def check(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function check its arguments against its annotations. Raises InputError: an argument of another type."""

    @cache
    def read() -> tuple[Any, Mapping[str, Any]]:
        return signature(function), get_type_hints(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        form, hints = read()
        for name, value in form.bind(*args, **kwargs).arguments.items():
            if name in hints and not is_of_type(value, hints[name]):
                given = repr(value) if isinstance(value, str) and len(value) <= _SHOWN else type(value).__name__
                raise InputError(f"{name} must be {_describe(hints[name])}, not {given}")
        return function(*args, **kwargs)

    return checked


def is_of_type(value: object, hint: Any) -> bool:
    """Return whether a value is of an annotated type; of sequences and dataclasses the parts are checked too."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in (Any, object, bool):  # anything is true or false
        return True
    if origin in (Union, UnionType):
        return any(is_of_type(value, each) for each in inner)
    if origin is Iterable:
        return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is Sequence:
        return (
            isinstance(value, Sequence)
            and not isinstance(value, (str, bytes, bytearray))
            and all(is_of_type(each, inner[0]) for each in value)
        )
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(is_of_type, value, inner))
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER
    if hint is float:
        return isinstance(value, (int, float))
    if not isinstance(value, origin or hint):
        return False
    hints = get_type_hints(hint) if is_dataclass(hint) else {}
    return all(is_of_type(getattr(value, each.name), hints[each.name]) for each in fields(hint)) if hints else True


def _describe(hint: Any) -> str:
    """An annotated type in words."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_describe, get_args(hint)))
    if origin is Literal:
        return f"one of {', '.join(get_args(hint))}"
    names: dict[Any, str] = {str: "text", NoneType: "None", Sequence: "a list"}
    return names.get(origin or hint) or str(getattr(hint, "__name__", hint))


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
    name: str, goal: str | None, store: str | None, create: bool, settings: FoldSettings
) -> tuple[Handle, bool]:
    """Return a handle on a session, and whether the session had to be created. Arguments and errors as in
    `Session.open`.
    """
    check_name(name)
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
        return handle, made
    except BaseException:
        opened.close()
        raise


def _create_session(tx: Writing, name: str) -> SessionRow:
    row = tx.sessions.add(name, time.time())
    tx.forest.add_topic(row.id, TopicRow(1, MAIN))
    tx.forest.add_head(row.id, HeadRow(1, MAIN, 1, 0, row.created))
    tx.sessions.settle(row.id, 1)
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
