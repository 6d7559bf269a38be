"""Records a tool's results in a session, and bounds the long ones. What is replaced is committed first."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for
from referencing.exceptions import Unresolvable

from ctxfold import Session
from ctxfold.errors import CtxfoldError, InputError
from ctxfold.text.words import counted
from ctxfold.tokens import count
from ctxfold.view.result import LEAST, NOWHERE, BoundedResult, EarlierResult, ToolResult, shorten_result
from mcp_server.prompts import read_description

_MAX_EARLIER = 2_000_000
"""Characters of a result that is kept in memory to compare the tool's next one with."""
_HITS = 5
_NAMES = ("recall", "recall_result", "ctxfold_recall")
_NOTE_KEY = "ctxfold"
"""The key in a shortened structure for the note on cut lists."""
_MIN_ITEMS = 3
"""Items of a list below which it is not shortened: the first two and the last show its form."""


@dataclass(frozen=True, slots=True)
class KeeperSettings:
    """How results are kept.

    `budget`: the most o200k tokens of one result; `measure`: count the savings, but record and replace nothing.
    """

    session: str
    store: str | None = None
    budget: int = 2_000
    measure: bool = False


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
        """Take in one page of the server's listing. Our tool changes its name only if the server has taken it."""
        tools = page.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self.schemas[tool["name"]] = tool.get("outputSchema")
        if self.recall_name in self.schemas:
            spare = (*_NAMES, *(f"{_NAMES[-1]}_{number}" for number in range(2, len(self.schemas) + 3)))
            self.recall_name = next(name for name in spare if name not in self.schemas)
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


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text to record, and its bounded form if it is long."""

    text: str
    short: BoundedResult | None = None

    def show(self, ref: str) -> str:
        """What the host gets for it, with its ref."""
        return self.text if self.short is None else self.short.at(ref).text


class Keeper:
    """The results of one wrapped server. Its methods block, and may be called from any thread."""

    def __init__(self, settings: KeeperSettings) -> None:
        self.settings = settings
        self.meter = Meter()
        self._session: Session | None = None
        self._earlier: dict[str, EarlierResult] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the session."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def is_long(self, result: Mapping[str, Any]) -> bool:
        """Whether a result may cost more than the budget. A token is at least one byte."""
        return len(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")) > self.settings.budget

    def recall(self, call: ToolCall) -> dict[str, Any]:
        """The result of a call of our own tool. Anything wrong with it is an error result that says so."""
        from mcp_server.tools.results import format_hits, format_recalled  # with all tools, which few hosts ever need

        ref, query, offset = (call.arguments.get(name) or empty for name, empty in _RECALL_ARGUMENTS)
        try:
            if not isinstance(ref, str) or not isinstance(query, str) or not (ref or query):
                raise InputError(f"{call.name} needs a ref, such as s12.2, or a query, as text")
            if not isinstance(offset, int):
                raise InputError("offset must be a whole number")
            with self._lock:
                session = self._open()
                if ref:
                    blocks = format_recalled(session, ref, offset, raw=True, tool=call.name)
                else:
                    blocks = format_hits(session, query, _HITS, offset, tool=call.name)
        except CtxfoldError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True, "resultType": "complete"}
        return {"content": [{"type": "text", "text": block.text} for block in blocks], "resultType": "complete"}

    def keep(self, call: ToolCall, result: Mapping[str, Any], tools: ServerTools) -> dict[str, Any] | None:
        """Record a result. Returns the result that the host gets, None for the same one.

        Raises CtxfoldError: it cannot be recorded.
        """
        with self._lock:
            return self._keep(call, result, tools)

    def _keep(self, call: ToolCall, result: Mapping[str, Any], tools: ServerTools) -> dict[str, Any] | None:
        texts, structured, budget = _list_texts(result), result.get("structuredContent"), self.settings.budget
        costs = [count(text) for text in texts.values()]
        structured_text = "" if structured is None else _print(structured)
        structured_cost = count(structured_text)
        is_long = structured_cost > budget
        is_repeated = is_long and _repeats(structured, list(texts.values()))
        drafts, places = self._draft_texts(call, texts, costs, tools.recall_name)
        if is_long and not (is_repeated or _holds_only(structured, texts)):
            drafts.append(self._draft(call, structured_text, budget, tools.recall_name))
        refs = self._commit(call, drafts)
        shown = {place: drafts[number].show(refs[number]) for place, number in places.items()}
        answer = dict(result)
        if texts:
            answer["content"] = [
                {**block, "text": shown[place]} if place in shown else block
                for place, block in enumerate(result["content"])
                if place in shown or place not in texts
            ]
        passes_whole = False
        if is_repeated and tools.is_complete and tools.schemas.get(call.name) is None:
            del answer["structuredContent"]
        elif is_long:
            known = dict(zip(texts.values(), refs, strict=False))
            short = self._shorten_structured(structured, call, known, refs[-1], tools)
            passes_whole = short is None
            answer["structuredContent"] = structured if short is None else short
        shown_cost = sum(map(count, shown.values()))
        self.meter.add(
            call.name,
            max(sum(costs), structured_cost),
            max(shown_cost, structured_cost if passes_whole or not is_long else 0),
            passes_whole,
        )
        if len(texts) == 1 and sum(map(len, texts.values())) <= _MAX_EARLIER:
            self._earlier[call.name] = EarlierResult(next(iter(texts.values())), refs[0])
        return None if answer == result or self.settings.measure else answer

    def _draft_texts(
        self, call: ToolCall, texts: Mapping[int, str], costs: Sequence[int], tool: str
    ) -> tuple[list[_Draft], dict[int, int]]:
        """The texts within the budget, and which of them stays at which place of the result.

        If there are too many to bound each, one text of them all takes the place of the first.
        """
        shares = share_budget(costs, self.settings.budget, LEAST)
        if shares is None:
            alone = [_Draft(text) for text in texts.values()]
            joined = self._draft(call, "\n".join(texts.values()), self.settings.budget, tool)
            return [*alone, joined], {min(texts): len(alone)}
        earlier = self._earlier.get(call.name) if len(texts) == 1 else None
        drafts = [
            _Draft(text) if share >= cost else self._draft(call, text, share, tool, earlier)
            for text, share, cost in zip(texts.values(), shares, costs, strict=True)
        ]
        return drafts, {place: number for number, place in enumerate(texts)}

    def _draft(self, call: ToolCall, text: str, budget: int, tool: str, earlier: EarlierResult | None = None) -> _Draft:
        return _Draft(text, shorten_result(ToolResult(text, NOWHERE, tool, earlier), call.need, budget))

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

    def _commit(self, call: ToolCall, drafts: Sequence[_Draft]) -> list[str]:
        """Record texts as results of a call. Returns their refs. Views of the session show the host's form."""
        if self.settings.measure:
            return [NOWHERE for _ in drafts]
        session = self._open()
        step = session.record_step(calls=[{"name": call.name, "args": dict(call.arguments), "id": call.id}])
        shown = [None if draft.short is None else draft.short.body for draft in drafts]
        return [
            str(session.record_result(step, call.id, draft.text, shown=body))
            for draft, body in zip(drafts, shown, strict=True)
        ]

    def _open(self) -> Session:
        if self._session is None:
            self._session = Session.open(self.settings.session, store=self.settings.store)
        return self._session


_RECALL_ARGUMENTS: tuple[tuple[str, Any], ...] = (("ref", ""), ("query", ""), ("offset", 0))


class Meter:
    """Counts tokens of results as they came, and as they were passed on or would have been."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {"all": [0, 0, 0, 0]}

    def add(self, tool: str, raw: int, shown: int, passes_whole: bool) -> None:
        """Count one result. `passes_whole`: it is long, and its schema permits nothing shorter."""
        for name in (tool, "all"):
            row = self._rows.get(name, [0, 0, 0, 0])
            self._rows[name] = [old + new for old, new in zip(row, (1, raw, shown, passes_whole), strict=True)]

    def describe(self) -> str:
        """A line for each tool, the largest first, and one for all."""
        rows = sorted(self._rows.items(), key=lambda item: (item[0] == "all", -item[1][1]))
        return "\n".join(
            f"{name}: {counted(results, 'result')}, {raw} tokens, {shown} bounded"
            + (f" ({100 * shown / raw:.1f} %)" if raw else "")
            + (f", {counted(whole, 'long one')} whole" if whole else "")
            for name, (results, raw, shown, whole) in rows
        )


def _list_texts(result: Mapping[str, Any]) -> dict[int, str]:
    """The text blocks of a result by their place among all blocks. An embedded resource is the host's to read."""
    blocks = result.get("content")
    return {
        place: block["text"]
        for place, block in enumerate(blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    }


def share_budget(costs: Sequence[int], budget: int, least: int) -> list[int] | None:
    """What each text may cost within a budget: a short one its cost, long ones equal shares of the rest.

    None if a long one would get less than `least`.
    """
    order = sorted(range(len(costs)), key=lambda place: costs[place])
    shares = [0] * len(costs)
    left = budget
    for number, place in enumerate(order):
        share = left // (len(costs) - number)
        shares[place] = min(costs[place], share)
        if shares[place] < costs[place] and share < least:
            return None
        left -= shares[place]
    return shares


def _print(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _repeats(structured: Any, texts: Sequence[str]) -> bool:
    """Whether a structure is the JSON of one of the texts."""
    for text in texts:
        try:
            if json.loads(text) == structured:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _holds_only(structured: Any, texts: Mapping[int, str]) -> bool:
    """Whether a structure only holds texts of the same result."""
    return isinstance(structured, dict) and all(value in texts.values() for value in structured.values())


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
    value = _shorten_texts(structured, max(budget // 2, 1), shorten)
    if count(_print(value)) <= budget:
        return value
    if not isinstance(value, dict) or _NOTE_KEY in value:
        return None
    longest = _measure_lists(value)
    while longest > _MIN_ITEMS:
        longest = max(longest // 2, _MIN_ITEMS)
        cuts: list[str] = []
        short = {_NOTE_KEY: "", **_cut_lists(value, longest, cuts)}
        short[_NOTE_KEY] = f"{'; '.join(cuts[:4])}. {note}"
        if count(_print(short)) <= budget:
            return short
    return None


def _shorten_texts(value: Any, most: int, shorten: Callable[[str], str]) -> Any:
    match value:
        case str():
            return shorten(value) if count(value) > most else value
        case dict():
            return {name: _shorten_texts(item, most, shorten) for name, item in value.items()}
        case list():
            return [_shorten_texts(item, most, shorten) for item in value]
        case _:
            return value


def _measure_lists(value: Any) -> int:
    """The number of items of the longest list in a value."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = len(value) if isinstance(value, list) else 0
    return max([own, *map(_measure_lists, items)])


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
