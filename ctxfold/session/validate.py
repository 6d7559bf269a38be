"""Checks the arguments that callers give and turns them into values."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from ctxfold.decisions.fold import FoldDirective, FoldSettings
from ctxfold.decisions.register import Trigger
from ctxfold.errors import InputError
from ctxfold.log import Call, Origin, Ref, parse_step
from ctxfold.session.blocks import call_of, message_of, result_of
from ctxfold.session.record import Result
from ctxfold.session.transcripts.values import Entry
from ctxfold.workspace import By, Decider

__all__ = [
    "as_by",
    "as_calls",
    "as_directive",
    "as_entries",
    "as_limit",
    "as_message",
    "as_number",
    "as_origin",
    "as_pairs",
    "as_path",
    "as_results",
    "as_settings",
    "as_text",
    "as_text_or_none",
    "as_trigger",
    "as_utf8",
]

_MOST = 2**31
"""How many of anything may be asked for; no session holds as many."""


def as_message(given: object) -> tuple[str, list[object]]:
    """What an assistant said and called, of a text or an SDK's message. Raises InputError for anything else."""
    return (given, []) if isinstance(given, str) else message_of(given)


def as_calls(given: Sequence[object]) -> list[Call]:
    """Calls from `{"name", "args", "id"}`, or as an SDK has them. Raises InputError: something else, or arguments that are not JSON."""
    made: list[Call] = []
    for at, call in enumerate(
        _each(given, 'calls are a list of {"name": ..., "args": {...}, "id": ...}; give a list', call_of), 1
    ):
        if not isinstance(call.get("name"), str):
            raise InputError('a call is {"name": ..., "args": {...}, "id": ...}; give its name as text')
        args = call.get("args", {})
        try:
            json.dumps(args)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"the arguments of call {call['name']!r} are not JSON ({error}); give plain values"
            ) from error
        made.append(Call(call["name"], args, _id(call.get("id"), f"c{at}")))
    return made


def as_results(given: Sequence[object]) -> list[Result]:
    """Results from `{"id", "text", "origin"?, "shown"?}`, or as an SDK has them. Raises InputError: something else."""
    made: list[Result] = []
    for at, result in enumerate(
        _each(given, 'results are a list of {"id": ..., "text": ...}; give a list', result_of), 1
    ):
        if not isinstance(result.get("text"), str):
            raise InputError('a result is {"id": ..., "text": ...}; give its text as a string')
        origin, shown = result.get("origin", "tool"), result.get("shown")
        if origin not in ("tool", "page"):
            raise InputError("a result comes from a tool or a page, from nothing else; say tool or page")
        if shown is not None and not isinstance(shown, str):
            raise InputError("the compact form of a result is text; give a string or leave it out")
        made.append(Result(_id(result.get("id"), f"c{at}"), result["text"], cast(Origin, origin), shown))
    return made


def as_directive(summary: object, first: int | str | Ref | None, last: int | str | Ref | None) -> FoldDirective:
    """A directive from a summary and the steps it is for, by number or address. Raises InputError: a summary that is no text, or a step that is no address."""
    return FoldDirective(
        summary=None if summary is None else as_text(summary),
        first_step=None if first is None else parse_step(first),
        last_step=None if last is None else parse_step(last),
    )


def as_settings(given: object) -> FoldSettings:
    """When and how far to fold, as it was given. Raises InputError for anything else."""
    if not isinstance(given, FoldSettings):
        raise InputError(f"settings are FoldSettings(...), not {type(given).__name__}; give one, or leave them out")
    return given


def as_text(text: object) -> str:
    """A text as it was given. Raises InputError for anything else."""
    if not isinstance(text, str):
        raise InputError(f"text is wanted, not {type(text).__name__}; give a string")
    return text


def as_text_or_none(text: object) -> str | None:
    """The same where nothing may be given. Raises InputError for what is neither a text nor None."""
    return None if text is None else as_text(text)


def as_utf8(text: object, what: str) -> str:
    """A text that is kept beside the log, where half a character has no place. Raises InputError: no text, or one that UTF-8 cannot spell."""
    words = as_text(text)
    try:
        words.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} holds half a character (a lone surrogate, at {error.start}); give whole characters"
        ) from error
    return words


def as_entries(given: Iterable[Entry]) -> Iterator[Entry]:
    """The entries of a transcript, each as it was given. Raises InputError: something else, or an id that UTF-8 cannot spell."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(
            f"entries of a transcript are wanted, not {type(given).__name__}; give what Transcript.new gave"
        )
    for each in given:
        if not isinstance(each, Entry):
            raise InputError(
                f"an entry of a transcript is wanted, not {type(each).__name__}; give UserSaid(id, text), say"
            )
        as_utf8(each.id, "the id of an entry")
        yield each


def as_trigger(given: object) -> Trigger | None:
    """A trigger, as `Session.maintain` returns them, or None."""
    if given is not None and not isinstance(given, Trigger):
        raise InputError(f"a trigger is wanted, not {type(given).__name__}; give one that maintain returned, or None")
    return given


def as_by(by: object) -> By:
    """Who decided, and why. Raises InputError for what is no `By`, a decider there is not, or a reason that is no text."""
    if not isinstance(by, By) or by.decider not in get_args(Decider):
        raise InputError(
            'who decided is By("host"), By("model") or By("embedded"), and why, as in By("host", "asked for")'
        )
    as_text(by.reason)
    return by


def as_origin(origin: object) -> Origin:
    """Who a text comes from. Raises InputError for anybody else: a text of an origin that is not known would be trusted."""
    known = next((each for each in get_args(Origin) if each == origin), None)
    if known is None:
        raise InputError("that is no origin; say user, model, tool or page")
    return cast(Origin, known)


def as_number(number: object, what: str) -> int:
    """A whole number that can be counted to. Raises InputError: something else."""
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > _MOST:
        raise InputError(f"{what} is a whole number up to {_MOST}; give one such as 50")
    return number


def as_limit(limit: object, most: int = _MOST) -> int:
    """How many are wanted, at least one and at most so many. Raises InputError for what is no whole number."""
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise InputError("how many are wanted is a whole number; give one such as 50")
    return max(1, min(limit, most))


def as_pairs(given: object) -> list[tuple[object, object]]:
    """A list of pairs. Raises InputError for anything else."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError("pairs are wanted: a list of two texts each")
    if any(not isinstance(each, (tuple, list)) or len(each) != 2 for each in given):
        raise InputError("a pair is two texts; give a list of them")
    return [(first, second) for first, second in given]


def as_path(file: object) -> Path:
    """A place in the file system. Raises InputError for what cannot name one."""
    place = os.fspath(file) if isinstance(file, (str, os.PathLike)) else None
    if not isinstance(place, str) or not place or "\0" in place:
        raise InputError("that names no file; give a path as text")
    as_utf8(place, "the path")
    return Path(place)


def _each(given: object, how: str, read: Callable[[object], object]) -> Iterator[Mapping[str, Any]]:
    """The entries of a list of objects; one of another form is read first. Raises InputError, saying how, for anything else."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError(how)
    for each in given:
        entry = each if isinstance(each, Mapping) and ("args" in each or "text" in each) else read(each)
        if not isinstance(entry, Mapping):
            raise InputError(how)
        yield entry


def _id(given: object, fallback: str) -> str:
    if given is None or given == "":
        return fallback
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        raise InputError("an id of a call is text, or a number; give it as it stands in the call")
    if isinstance(given, int):
        as_number(given, "an id of a call that is no text")
    return str(given)[:200].encode("utf-8", "backslashreplace").decode("utf-8")
