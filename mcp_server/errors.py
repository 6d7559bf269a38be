"""Words any failure for a model: one line with the fault, the next call, and an example of a call that passes."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ctxfold.errors import (
    BranchError,
    BrowserError,
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

_MAX_COMPLAINTS = 3
"""Wrong arguments that one line names."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
"""Argument names that are repeated. Any other may be text of a page."""
_SHAPES = ("e12", "s12.2")
"""Texts of the shapes that patterns ask for."""
_SAMPLES: dict[str, Any] = {"string": "…", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
_WANTED = {
    "missing": "is missing",
    "extra_forbidden": "is not known there",
    "string": "should be text",
    "int": "should be a whole number",
    "float": "should be a number",
    "bool": "should be true or false",
    "tuple": "should be a list",
    "list": "should be a list",
    "dict": "should be an object",
    "model": "should be an object",
    "literal_error": "should be one of {expected}",
    "union_tag": "needs a kind, one of {expected_tags}",
    "too_short": "should not be empty",
    "value_error": "is wrong: {error}",
}
"""What an argument should be, by the start of pydantic's type of error."""

Place = tuple[int | str, ...]
"""A place in a call's arguments: argument, entry, field."""


@dataclass(frozen=True, slots=True)
class Form:
    """The arguments of one tool: their JSON schema without references, and a check whether arguments pass."""

    tool: str
    schema: Mapping[str, Any]
    accepts: Callable[[dict[str, Any]], bool]

    def write_example(self, place: Place = ()) -> str:
        """A call that passes, with the argument at a place first; for no place, with one argument more than needed."""
        properties = self.schema.get("properties", {})
        if not place or place[0] not in properties:
            required = self.schema.get("required", ())
            place = () if len(required) > 1 else next(((name,) for name in properties if name not in required), ())
        example = next((sample for sample in _make_samples(self.schema, place) if self.accepts(sample)), None)
        return "" if example is None else f"{self.tool} {json.dumps(example, ensure_ascii=False)}"


def list_complaints(refused: ValidationError) -> str:
    """Which arguments are wrong, and what each should be. Their values are not repeated."""
    complaints: dict[str, None] = {}
    for error in refused.errors(include_url=False, include_input=False):
        wanted = next((text for start, text in _WANTED.items() if error["type"].startswith(start)), error["msg"])
        given = {"expected_tags": "those in its description"} if error["type"] == "union_tag_not_found" else {}
        complaints[f"{_name_place(error['loc'])} {wanted.format_map(given | error.get('ctx', {}))}"] = None
    lines = list(complaints)
    rest = f"; and {len(lines) - _MAX_COMPLAINTS} more" if len(lines) > _MAX_COMPLAINTS else ""
    return "; ".join(lines[:_MAX_COMPLAINTS]) + rest


def _name_place(place: Place) -> str:
    names = (f"[{part}]" if isinstance(part, int) else f".{part if _NAME.fullmatch(part) else '?'}" for part in place)
    return "".join(names).removeprefix(".") or "arguments"


def _find_kind(node: Mapping[str, Any], kind: int | str) -> Mapping[str, Any] | None:
    """The form of a kind of object among several forms."""
    return next(
        (form for form in _list_forms(node) if form.get("properties", {}).get("kind", {}).get("const") == kind), None
    )


def _pick_form(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first of several forms that has fields, else the first; a schema of one form is its own."""
    forms = _list_forms(node)
    return next((form for form in forms if "properties" in form), forms[0] if forms else node)


def _list_forms(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The forms of which one is wanted, without null; empty for a schema of one form."""
    return [form for word in ("anyOf", "oneOf") for form in node.get(word, ()) if form.get("type") != "null"]


def _make_samples(node: Mapping[str, Any], place: Place) -> Iterator[Any]:
    """Values that a schema may take, each with a value at the place: the smallest first, then with one more field."""
    part, rest = (place[0], place[1:]) if place else (None, ())
    kind = None if part is None else _find_kind(node, part)
    if kind is not None:
        yield from _make_samples(kind, rest)
    elif isinstance(part, int) and "items" in node:
        yield from ([sample] for sample in _make_samples(node["items"], rest))
    elif "properties" not in _pick_form(node) or "examples" in node:
        yield _make_sample(node)
    else:
        form = _pick_form(node)
        properties = form["properties"]
        least = {name: _make_sample(properties[name]) for name in form.get("required", [*properties][:1])}
        for sample in _make_samples(properties[part], rest) if part in properties else [None]:
            base = least if part not in properties else least | {str(part): sample}
            yield base
            yield from (base | {name: _make_sample(field)} for name, field in properties.items() if name not in base)


def _make_sample(node: Mapping[str, Any]) -> Any:
    """One value that a schema takes: its own example, else its default, else the plainest of its type."""
    match node:
        case {"examples": [first, *_]} | {"enum": [first, *_]} | {"const": first}:
            return first
        case {"default": default} if default:
            return default
        case {"pattern": pattern}:
            return next((shape for shape in _SHAPES if re.search(pattern, shape)), _SAMPLES["string"])
        case {"type": "array", "items": items}:
            return [_make_sample(items)]
        case {"type": "integer", "minimum": least}:
            return least
        case {"type": str(kind)} if "properties" not in node:
            return _SAMPLES.get(kind)
        case _:
            form = _pick_form(node)
            return (
                next(_make_samples(form, ())) if "properties" in form else None if form is node else _make_sample(form)
            )


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
    BrowserError: "Next: ask the user to run `ctxfold doctor`.",
    CtxfoldError: "Next: ask the user to run `ctxfold doctor`.",
}

_INSIDE = (
    "ctxfold failed; everything recorded before is kept. "
    "Next: context to see the session, and ask the user to run `ctxfold doctor`."
)
_MAX_TEXT = 600
"""Characters of an error's own text."""

_log = logging.getLogger(__name__)


def explain_error(error: Exception, where: str, form: Form | None = None) -> str:
    """Explain a failure to a model in one line: the fault and the next call.

    `where`: the tool, prompt or resource; `form`: its arguments, if it is a tool.
    """
    match _unwrap(error):
        case CtxfoldError() as ours:
            following = name_next_call(type(ours))
            return f"{_end_sentence(str(ours))} {following if following != _CORRECT else _ask_again(form)}"
        case ValidationError() as refused:
            place = refused.errors(include_url=False, include_input=False)[0]["loc"]
            return f"{_end_sentence(f'{where}: {list_complaints(refused)}')} {_ask_again(form, place)}"
        case unexpected:
            _log.error("%s failed", where, exc_info=unexpected)
            return _INSIDE


def _ask_again(form: Form | None, place: Place = ()) -> str:
    """The same call, with an example of one that passes."""
    example = form.write_example(place) if form else ""
    return f"{_CORRECT.removesuffix('.')}, such as: {example}" if example else _CORRECT


def name_next_call(kind: type[CtxfoldError]) -> str:
    """The call that helps after an error of this kind, or of its nearest parent."""
    return next(_NEXT[parent] for parent in kind.__mro__ if parent in _NEXT)


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
