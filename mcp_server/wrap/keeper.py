"""Records a tool's results in a session, and bounds the long ones. What is replaced is committed first."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for
from referencing.exceptions import Unresolvable

from ctxfold import Session
from ctxfold.errors import CtxfoldError, InputError
from ctxfold.text.json import map_texts, parse_strictly
from ctxfold.tokens import count, find_portion
from ctxfold.view.result import LEAST, NOWHERE, BoundedResult, EarlierResult, ToolResult, shorten_result
from mcp_server.prompts import read_description

_MAX_EARLIER = 2_000_000
"""Characters of a result that is kept in memory to compare the tool's next one with."""
_HITS = 5
_NAMES = ("recall", "recall_result", "ctxfold_recall")
_NOTE_KEY = "ctxfold"
"""The key in a shortened structure for the note on cut lists."""
_LIST_SIZES = (256, 128, 64, 32, 16, 8, 4, 3)
"""Items of a list that are tried. With three, the first two and the last, it still shows its form."""


@dataclass(frozen=True, slots=True)
class KeeperSettings:
    """How results are kept; `budget`: the most o200k tokens of one result."""

    session: str
    store: str | None = None
    budget: int = 2_000


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool as the host made it."""

    name: str
    arguments: Mapping[str, Any]
    id: str

    @property
    def need(self) -> str:
        """What it asks for: the texts among its arguments."""
        return " ".join(value for value in self.arguments.values() if isinstance(value, str))


class ServerTools:
    """What is known of the wrapped server's tools.

    Attributes:
        schemas: each tool's output schema, None if it declares none.
        is_complete: whether all tools have been listed once.
        recall_name: the name of our own tool, which no tool of the server has.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}
        self.is_complete = False
        self.recall_name = _NAMES[0]

    def add_page(self, page: Mapping[str, Any]) -> None:
        """Take in one page of the server's listing. Our tool gets the first of its names that the server leaves."""
        tools = page.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self.schemas[tool["name"]] = tool.get("outputSchema")
        self.recall_name = next((name for name in _NAMES if name not in self.schemas), _NAMES[-1])
        self.is_complete = self.is_complete or not page.get("nextCursor")

    def announce(self, page: Mapping[str, Any]) -> dict[str, Any]:
        """A page of the server's tools, with ours after the last of them."""
        if page.get("nextCursor") or not isinstance(page.get("tools"), list):
            return dict(page)
        about = read_description("wrap/recall")
        arguments = {name: {"type": "string", "description": text} for name, text in about.arguments.items()}
        arguments["offset"]["type"] = "integer"
        hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
        tool = {
            "name": self.recall_name,
            "title": about.title,
            "description": about.description,
            "inputSchema": {"type": "object", "properties": arguments},
            "annotations": hints,
        }
        return {**page, "tools": [*page["tools"], tool]}


class Keeper:
    """The results of one wrapped server. Its methods block; only one of them may run at a time."""

    def __init__(self, settings: KeeperSettings) -> None:
        self.settings = settings
        self._earlier: dict[str, EarlierResult] = {}

    def close(self) -> None:
        """Close the session."""
        if "_session" in self.__dict__:
            self._session.close()

    def is_long(self, result: Mapping[str, Any]) -> bool:
        """Whether a result may cost more than the budget. A token is at least one byte."""
        return len(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")) > self.settings.budget

    def recall(self, call: ToolCall) -> dict[str, Any]:
        """The result of a call of our own tool. Anything wrong with it is an error result that says so."""
        from mcp_server.tools.results import format_hits, format_recalled  # with all tools, which few hosts ever need

        given = call.arguments
        ref, query, offset = given.get("ref") or "", given.get("query") or "", given.get("offset") or 0
        try:
            if not isinstance(ref, str) or not isinstance(query, str) or not (ref or query):
                raise InputError(f"{call.name} needs a ref, such as s12.2, or a query, as text")
            if not isinstance(offset, int):
                raise InputError("offset must be a whole number")
            if ref:
                blocks = format_recalled(self._session, ref, offset, raw=True, tool=call.name)
            else:
                blocks = format_hits(self._session, query, _HITS, offset, tool=call.name)
        except CtxfoldError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True, "resultType": "complete"}
        return {"content": [{"type": "text", "text": block.text} for block in blocks], "resultType": "complete"}

    def keep(self, call: ToolCall, result: Mapping[str, Any], tools: ServerTools) -> dict[str, Any] | None:
        """Record a result. Returns the result that the host gets, None for the same one.

        Raises CtxfoldError: it cannot be recorded.
        """
        texts, structured, budget = _list_texts(result), result.get("structuredContent"), self.settings.budget
        costs = [*map(count, texts.values())]
        shown, room = texts, find_portion(costs, budget)
        if room < LEAST and sum(costs) > budget:  # too many to shorten each: one text of all replaces the first
            shown, room = {min(texts): "\n".join(texts.values())}, budget
        earlier = self._earlier.get(call.name) if len(texts) == 1 else None
        results = [ToolResult(text, NOWHERE, tools.recall_name, earlier) for text in shown.values()]
        shorter = [shorten_result(original, call.need, max(room, LEAST)) for original in results]
        is_long = structured is not None and count(_print(structured)) > budget
        is_repeated = is_long and _repeats(structured, texts.values())
        if structured is not None and (not texts or (is_long and not is_repeated)):
            results.append(ToolResult(_print(structured), NOWHERE, tools.recall_name))
            shorter.append(shorten_result(results[-1], call.need, budget))
        refs = self._commit(call, results, shorter)
        answer = dict(result)
        if texts:
            blocks = {place: short.at(ref).text for place, short, ref in zip(shown, shorter, refs, strict=False)}
            answer["content"] = [
                {**block, "text": blocks[place]} if place in blocks else block
                for place, block in enumerate(result["content"])
                if place in blocks or place not in texts
            ]
        if is_repeated and tools.is_complete and tools.schemas.get(call.name) is None:
            del answer["structuredContent"]
        elif is_long:
            known = dict(zip(texts.values(), refs, strict=False))
            short = self._shorten_structured(structured, call, known, refs[-1], tools)
            answer["structuredContent"] = structured if short is None else short
        if len(texts) == 1 and len(results[0].text) <= _MAX_EARLIER:
            self._earlier[call.name] = EarlierResult(results[0].text, refs[0])
        return None if answer == result else answer

    def _shorten_structured(
        self, structured: Any, call: ToolCall, refs: Mapping[str, str], ref: str, tools: ServerTools
    ) -> Any | None:
        """A shorter structure within the tool's schema, or None.

        `refs`: of texts that are recorded by themselves; `ref`: of the structure, or of the text that repeats it.
        """
        if not tools.is_complete:
            return None
        most, name = max(self.settings.budget // 2, LEAST), tools.recall_name

        def shorten(text: str) -> str:
            return shorten_result(ToolResult(text, refs.get(text, ref), name), call.need, most).text

        note = f'All of it: {name}(ref="{ref}"), or {name}(query="a word or an id")'
        short = shorten_structure(structured, self.settings.budget, shorten, note)
        return short if short is not None and fits_schema(short, tools.schemas.get(call.name)) else None

    def _commit(self, call: ToolCall, results: Sequence[ToolResult], shorter: Sequence[BoundedResult]) -> list[str]:
        """Record texts as results of a call. Returns their refs. Views of the session show the host's form."""
        session = self._session
        step = session.record_step(calls=[{"name": call.name, "args": dict(call.arguments), "id": call.id}])
        return [
            str(session.record_result(step, call.id, long.text, shown=None if short.form == "whole" else short.body))
            for long, short in zip(results, shorter, strict=True)
        ]

    @cached_property
    def _session(self) -> Session:
        return Session.open(self.settings.session, store=self.settings.store)


def _list_texts(result: Mapping[str, Any]) -> dict[int, str]:
    """The text blocks of a result by their place among all blocks. An embedded resource is the host's to read."""
    blocks = result.get("content")
    return {
        place: block["text"]
        for place, block in enumerate(blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    }


def _print(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _repeats(structured: Any, texts: Collection[str]) -> bool:
    """Whether a structure holds nothing but texts of the same result, or is the JSON of one."""
    is_made_of_texts = isinstance(structured, dict) and all(value in texts for value in structured.values())
    return is_made_of_texts or any(parse_strictly(text) == structured for text in texts)


def fits_schema(value: Any, schema: Any) -> bool:
    """Whether a value keeps a schema; False if the schema cannot be used."""
    if not isinstance(schema, (dict, bool)):
        return True
    try:
        checker = validator_for(schema)
        checker.check_schema(schema)
        checker(schema).validate(value)
    except (ValidationError, SchemaError, Unresolvable, RecursionError):
        return False
    return True


def shorten_structure(structured: Any, budget: int, shorten: Callable[[str], str], note: str) -> Any | None:
    """The structure with long texts shortened, and long lists cut to their first items and the last, within a budget.

    None if that is not enough. A key of ours at the top says which lists were cut.
    """
    value = map_texts(structured, lambda text: shorten(text) if count(text) > max(budget // 2, 1) else text)
    if count(_print(value)) <= budget:
        return value
    if not isinstance(value, dict) or _NOTE_KEY in value:
        return None
    for most in _LIST_SIZES:
        cuts: list[str] = []
        short = {_NOTE_KEY: "", **_cut_lists(value, most, cuts)}
        short[_NOTE_KEY] = f"{'; '.join(cuts[:4])}. {note}"
        if count(_print(short)) <= budget:
            return short
    return None


def _cut_lists(value: Any, most: int, cuts: list[str], name: str = "") -> Any:
    match value:
        case dict():
            return {key: _cut_lists(item, most, cuts, key) for key, item in value.items()}
        case list():
            if len(value) > most:
                cuts.append(f"{name}: {most} of {len(value)}, the last among them")
                value = [*value[: most - 1], value[-1]]
            return [_cut_lists(item, most, cuts, name) for item in value]
        case _:
            return value
