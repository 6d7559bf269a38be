"""Calls and results as callers give them, checked and turned into values. It records nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ctxfold.errors import InputError
from ctxfold.folding import FoldDirective
from ctxfold.log import Call, Origin
from ctxfold.recording import Result
from ctxfold.refs import parse_step

__all__ = ["calls_of", "directive_of", "results_of", "words_of"]


def calls_of(given: Sequence[Mapping[str, Any]]) -> list[Call]:
    """Calls from `{"name", "args", "id"}`.

    Raises:
        InputError: something else, or arguments that are not JSON.
    """
    made: list[Call] = []
    for at, call in enumerate(given, 1):
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


def results_of(given: Sequence[Mapping[str, Any]]) -> list[Result]:
    """Results from `{"id", "text", "origin"?, "shown"?}`.

    Raises:
        InputError: something else.
    """
    made: list[Result] = []
    for at, result in enumerate(given, 1):
        if not isinstance(result.get("text"), str):
            raise InputError('a result is {"id": ..., "text": ...}; give its text as a string')
        origin, shown = result.get("origin", "tool"), result.get("shown")
        if origin not in ("tool", "page"):
            raise InputError(f"a result comes from a tool or a page, not {origin!r}; say tool or page")
        if shown is not None and not isinstance(shown, str):
            raise InputError("the compact form of a result is text; give a string or leave it out")
        made.append(Result(_id(result.get("id"), f"c{at}"), result["text"], cast(Origin, origin), shown))
    return made


def directive_of(summary: object, first: int | str | None, last: int | str | None) -> FoldDirective:
    """A directive from a summary and the steps it is for, by number or address.

    Raises:
        InputError: a summary that is no text, or a step that is no address.
    """
    return FoldDirective(
        summary=None if summary is None else words_of(summary),
        first_step=None if first is None else parse_step(first),
        last_step=None if last is None else parse_step(last),
    )


def words_of(text: object) -> str:
    """A text as it was given. Raises InputError for anything else."""
    if not isinstance(text, str):
        raise InputError(f"text is wanted, not {type(text).__name__}; give a string")
    return text


def _id(given: object, fallback: str) -> str:
    if given is None or given == "":
        return fallback
    return str(given)[:200].encode("utf-8", "backslashreplace").decode("utf-8")
