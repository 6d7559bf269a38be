"""Words any failure for a model: one line with the fault, the next call, and an example of a call that passes."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ctxfold.errors import (
    BranchError,
    BrowserGone,
    BudgetError,
    BusyStore,
    CtxfoldError,
    FoldError,
    FullDisk,
    InputError,
    ModelError,
    PageUnreachable,
    RefError,
    Refused,
    SessionNameError,
    StaleDecision,
    StoreError,
    UndoError,
    UnknownPage,
    UnknownRun,
    UnknownSession,
)
from mcp_server.prompts import read_examples

_MAX_COMPLAINTS = 3
"""Wrong arguments that one line names."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
"""Argument names that are repeated. Any other may be text of a page."""
_WANTED = {
    "missing": "is missing",
    "extra_forbidden": "is not known there",
    "tuple": "should be a list",
    "dict": "should be an object",
    "model": "should be an object",
    "union_tag": "needs a kind, one of {expected_tags}",
    "value_error": "is wrong: {error}",
}
"""What an argument should be, by the start of pydantic's type of error, where its message says it less plainly."""

Place = tuple[int | str, ...]
"""A place in a call's arguments: argument, entry, field."""


def list_complaints(refused: ValidationError) -> str:
    """Which arguments are wrong, and what each should be. Their values are not repeated."""
    complaints: dict[str, None] = {}
    for error in refused.errors(include_url=False, include_input=False):
        plain = error["msg"].replace("Input should", "should")
        wanted = next((text for start, text in _WANTED.items() if error["type"].startswith(start)), plain)
        given = {"expected_tags": "those in its description"} if error["type"] == "union_tag_not_found" else {}
        complaints[f"{_name_place(error['loc'])} {wanted.format_map(given | error.get('ctx', {}))}"] = None
    lines = list(complaints)
    rest = f"; and {len(lines) - _MAX_COMPLAINTS} more" if len(lines) > _MAX_COMPLAINTS else ""
    return "; ".join(lines[:_MAX_COMPLAINTS]) + rest


def _name_place(place: Place) -> str:
    names = (f"[{part}]" if isinstance(part, int) else f".{part if _NAME.fullmatch(part) else '?'}" for part in place)
    return "".join(names).removeprefix(".") or "arguments"


def write_example(tool: str, schema: Mapping[str, Any], place: Place = ()) -> str:
    """A call that passes: the required arguments and the one at a place; without a place, the first optional one.

    `schema`: the tool's arguments. Of the actions of a page, the one of the kind at the place is shown.
    """
    examples, names, wanted = read_examples(), [*schema["properties"]], {*schema.get("required", ()), *place[:1]}
    if len(wanted) == 1:
        wanted |= {*[name for name in names if name not in wanted][:1]}
    given = {name: examples.get(f"{tool}.{name}", examples.get(name)) for name in names if name in wanted}
    if "actions" in given:
        kinds = {action["kind"]: action for action in examples["actions"]}
        given["actions"] = [kinds.get(place[2] if len(place) > 2 else "", examples["actions"][0])]
    return f"{tool} {json.dumps(given, ensure_ascii=False)}"


_CORRECT = "Next: the same call, corrected."

_NEXT: dict[type[CtxfoldError], str] = {
    SessionNameError: "Next: the same call with a name of lower-case letters, digits and hyphens, such as paris-trip.",
    UnknownSession: "Next: open_session with this name; it makes the session.",
    RefError: "Next: context to see which refs there are, or recall with query to search.",
    BudgetError: "Next: the same call with a larger budget, or without one.",
    FoldError: "Next: context to see the steps and blocks, then fold again.",
    BranchError: "Next: context to see the session's branches.",
    UndoError: "Next: context to see the session.",
    UnknownPage: "Next: page_open with the address to go on from.",
    UnknownRun: "Next: context with that name, if it was a run's, to see what it found; or browse again.",
    StaleDecision: "Another writer changed the session. Next: context, then decide again.",
    InputError: _CORRECT,
    BusyStore: "Next: the same call again.",
    FullDisk: "Next: ask the user to free space, then make the same call again.",
    StoreError: "Next: ask the user to run `ctxfold doctor`, then make the same call again.",
    ModelError: "Next: the same call with your own text; that needs no other model.",
    Refused: "Next: the same call with something else.",
    BrowserGone: "Next: the same call again, or page_open with the address to go on from.",
    PageUnreachable: "Next: the same call with another address.",
    CtxfoldError: "Next: ask the user to run `ctxfold doctor`.",
}

_INSIDE = (
    "ctxfold failed; everything recorded before is kept. "
    "Next: context to see the session, and ask the user to run `ctxfold doctor`."
)
_MAX_TEXT = 600
"""Characters of an error's own text."""

_log = logging.getLogger(__name__)


def explain_error(error: Exception, where: str, schema: Mapping[str, Any] | None = None) -> str:
    """Explain a failure to a model in one line: the fault and the next call.

    `where`: the tool, prompt or resource; `schema`: of its arguments, if it is a tool.
    """
    match _unwrap(error):
        case CtxfoldError() as ours:
            following = next(_NEXT[kind] for kind in type(ours).__mro__ if kind in _NEXT)  # of the nearest parent
            return f"{_end_sentence(str(ours))} {following if following != _CORRECT else _ask_again(where, schema)}"
        case ValidationError() as refused:
            place = refused.errors(include_url=False, include_input=False)[0]["loc"]
            return f"{_end_sentence(f'{where}: {list_complaints(refused)}')} {_ask_again(where, schema, place)}"
        case unexpected:
            _log.error("%s failed", where, exc_info=unexpected)
            return _INSIDE


def _ask_again(tool: str, schema: Mapping[str, Any] | None, place: Place = ()) -> str:
    """The same call, with an example of one that passes."""
    return _CORRECT if schema is None else f"{_CORRECT[:-1]}, such as: {write_example(tool, schema, place)}"


def _unwrap(error: BaseException) -> BaseException:
    """The failure without the SDK's wrappers and a task group of one."""
    while not isinstance(error, CtxfoldError | ValidationError):
        match error:
            case BaseExceptionGroup(exceptions=(inner,)):
                error = inner
            case BaseException(__cause__=BaseException() as inner):
                error = inner
            case _:
                break
    return error


def _end_sentence(text: str) -> str:
    text = " ".join(text.split())
    short = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
