"""Any failure in one line, with the next call."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

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

_MOST = 3
"""Complaints that one line holds."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_SHAPES = ("e12", "s12.2")
"""Texts of the shapes that patterns ask for."""
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_SAMPLES: dict[str, Any] = {"string": "…", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
_TAGS = {"union_tag_invalid", "union_tag_not_found"}
"""What pydantic calls an object whose `kind` is none, or is not said."""

Place = tuple[int | str, ...]
"""Where in a call something stands: argument, entry, field."""


@dataclass(frozen=True, slots=True)
class Form:
    """What one tool takes: the JSON schema of its arguments, without references, and whether arguments pass."""

    tool: str
    schema: Mapping[str, Any]
    accepts: Callable[[dict[str, Any]], bool]

    def list_complaints(self, refused: ValidationError) -> str:
        """Which arguments are wrong, and what each should be. Their values are not repeated."""
        errors = refused.errors(include_url=False, include_input=False)
        found = list(dict.fromkeys(map(self._complain, errors)))
        return "; ".join(found[:_MOST]) + (f"; and {len(found) - _MOST} more" if len(found) > _MOST else "")

    def write_example(self, refused: ValidationError | None = None) -> str:
        """A call that passes, with the argument that was refused first; where none is known to be wrong, one that says more than the session."""
        place = refused.errors(include_url=False, include_input=False)[0]["loc"] if refused else ()
        properties = self.schema.get("properties", {})
        if not place or place[0] not in properties:
            required = self.schema.get("required", ())
            place = () if len(required) > 1 else next(((name,) for name in properties if name not in required), ())
        passing = (made for made in _samples(self.schema, place) if self.accepts(made))
        made = next(passing, None)
        return "" if made is None else f"{self.tool} {json.dumps(made, ensure_ascii=False)}"

    def _complain(self, error: ErrorDetails) -> str:
        path, node, parent = self._find(error["loc"])
        match error["type"]:
            case "missing":
                return f"{path} is missing: it should be {_describe(node)}"
            case "extra_forbidden":
                return f"{path} is not known there: that should be {_describe(parent)}"
            case "value_error":
                return f"{path}: {error['ctx']['error']}"
            case kind if kind in _TAGS:
                kinds = ", ".join(filter(None, map(_kind_of, _options(node))))
                return f"{path}.kind should be one of {kinds}"
            case _:
                return f"{path} should be {_describe(node)}"

    def _find(self, place: Place) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        """What a place is called, its schema, and that of what it stands in. The tag of a kind of object, which a place holds too, is no part of its name."""
        path, node, parent = "", self.schema, self.schema
        for part in place:
            chosen = _choose(node, part)
            if chosen is not None:
                node = chosen
                continue
            parent = node
            if isinstance(part, int):
                path, node = f"{path}[{part}]", node.get("items", {})
            else:
                name = part if _NAME.fullmatch(part) else "?"
                path, node = f"{path}.{name}" if path else name, _alone(node).get("properties", {}).get(part, {})
        return path or "arguments", node, parent


def _choose(node: Mapping[str, Any], part: int | str) -> Mapping[str, Any] | None:
    """The kind of object that a part of a place names; None where it names none."""
    return next((one for one in _options(node) if _kind_of(one) == part), None)


def _kind_of(node: Mapping[str, Any]) -> str | None:
    kind: str | None = node.get("properties", {}).get("kind", {}).get("const")
    return kind


def _alone(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of several forms the one with fields, else the first that is not null; any other schema as it is."""
    options = _options(node)
    return next((one for one in options if "properties" in one), options[0] if options else node)


def _options(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The forms of which one is wanted, but for null; none where there is but one."""
    return [one for word in ("anyOf", "oneOf") for one in node.get(word, ()) if one.get("type") != "null"]


def _describe(node: Mapping[str, Any]) -> str:
    """What a schema asks for, in words."""
    options = _options(node)
    if options:
        return "an object with a kind" if all(map(_kind_of, options)) else " or ".join(map(_describe, options))
    match node:
        case {"enum": [*values]}:
            return f"one of {', '.join(map(str, values))}"
        case {"const": value}:
            return str(value)
        case {"type": "array", "items": items}:
            return f"a list, {'not empty, ' if node.get('minItems') else ''}of which each entry is {_describe(items)}"
        case {"type": "object", "properties": properties}:
            required = node.get("required", ())
            fields = [f"{name} (required)" if name in required else name for name in properties]
            return f"an object with {', '.join(fields)}"
        case {"type": "string", "examples": _} | {"pattern": _}:
            return f"text such as {_sample(node)}"
        case {"type": str(kind)}:
            bounds = [f"at least {node['minimum']}"] if "minimum" in node else []
            bounds += [f"at most {node['maximum']}"] if "maximum" in node else []
            bounds += ["not empty"] if node.get("minLength") else []
            return ", ".join([_TYPES[kind], *bounds])
        case _:
            return "anything that JSON holds"


def _samples(node: Mapping[str, Any], place: Place) -> Iterator[Any]:
    """Values that a schema may take, each with what stands at the place: the least first, then with one more field each that may be left out."""
    part, rest = (place[0], place[1:]) if place else (None, ())
    chosen = None if part is None else _choose(node, part)
    if chosen is not None:
        yield from _samples(chosen, rest)
    elif isinstance(part, int) and "items" in node:
        yield from ([made] for made in _samples(node["items"], rest))
    elif "properties" not in _alone(node) or "examples" in node:
        yield _sample(node)
    else:
        one = _alone(node)
        properties = one["properties"]
        least = {name: _sample(properties[name]) for name in one.get("required", [*properties][:1])}
        for made in _samples(properties[part], rest) if part in properties else [None]:
            with_it = least if part not in properties else least | {str(part): made}
            yield with_it
            yield from (with_it | {name: _sample(each)} for name, each in properties.items() if name not in with_it)


def _sample(node: Mapping[str, Any]) -> Any:
    """One value that a schema takes: an example of its own, else the default, else the plainest of its type."""
    match node:
        case {"examples": [first, *_]} | {"enum": [first, *_]} | {"const": first}:
            return first
        case {"default": default} if default:
            return default
        case {"pattern": pattern}:
            return next((shape for shape in _SHAPES if re.search(pattern, shape)), _SAMPLES["string"])
        case {"type": "array", "items": items}:
            return [_sample(items)]
        case {"type": "integer", "minimum": least}:
            return least
        case {"type": str(kind)} if "properties" not in node:
            return _SAMPLES.get(kind)
        case _:
            alone = _alone(node)
            return next(_samples(alone, ())) if "properties" in alone else None if alone is node else _sample(alone)


_PUT_RIGHT = "Next: the same call, put right."

_NEXT: dict[type[CtxfoldError], str] = {
    SessionNameError: "Next: the same call with a name of lower-case letters, digits and hyphens, such as paris-trip.",
    UnknownSession: "Next: open_session with this name; it makes the session.",
    RefError: "Next: context to see which refs there are, or recall with query to search.",
    BudgetError: "Next: the same call with a larger budget, or without one.",
    FoldError: "Next: context to see the steps and blocks, then fold again.",
    BranchError: "Next: context to see where this session stands.",
    UndoError: "Next: context to see what stands.",
    UnknownPage: "Next: page_open with the address to go on from.",
    UnknownRun: "Next: context with that name, if it was a run's, to see what it found; or browse again.",
    StaleDecision: "Another writer moved on. Next: context, then decide again.",
    InputError: _PUT_RIGHT,
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

_INSIDE = "ctxfold failed inside; everything recorded before is kept. Next: context to see what stands, and ask the user to run `ctxfold doctor`."
_EXPLAIN_MOST = 600

_log = logging.getLogger(__name__)


def explain_error(error: Exception, where: str, form: Form | None = None) -> str:
    """What a model reads of a failure of `where`: one line, what is wrong and the next call. `form`: what that takes; None where nobody knows."""
    match _unwrap(error):
        case CtxfoldError() as ours:
            following = name_next_call(type(ours))
            return f"{_end_sentence(str(ours))} {following if following != _PUT_RIGHT else _ask_again(form)}"
        case ValidationError() as refused:
            wrong = form.list_complaints(refused) if form else "its arguments are not as it takes them"
            return f"{_end_sentence(f'{where}: {wrong}')} {_ask_again(form, refused)}"
        case unexpected:
            _log.error("%s failed", where, exc_info=unexpected)
            return _INSIDE


def _ask_again(form: Form | None, refused: ValidationError | None = None) -> str:
    """The same call, with an example of one that passes."""
    example = form.write_example(refused) if form else ""
    return f"{_PUT_RIGHT.removesuffix('.')}, such as: {example}" if example else _PUT_RIGHT


def name_next_call(kind: type[CtxfoldError]) -> str:
    """The call that helps after an error of this kind: its own, else that of its nearest parent."""
    return next(_NEXT[parent] for parent in kind.__mro__ if parent in _NEXT)


def _unwrap(error: BaseException) -> BaseException:
    """The failure itself, out of the SDK's wrappers and a task group of one."""
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
    short = text if len(text) <= _EXPLAIN_MOST else f"{text[:_EXPLAIN_MOST]}…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
