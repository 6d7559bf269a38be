"""Keeps a tool's results in a session, and says what stands in their place: what is replaced is committed first."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxfold import Session
from ctxfold.text.words import counted
from ctxfold.tokens import count
from ctxfold.view.result import LEAST, NOWHERE, Bounded, Earlier, Result, bounded
from mcp_server.wrap.listing import Listing
from mcp_server.wrap.recall import recall
from mcp_server.wrap.results import fits, print_structured, repeats, shares, shorten_within, texts_of, with_texts

__all__ = ["Call", "Keeper", "Settings"]

_LARGEST = 2_000_000
"""Characters of an answer that is kept in memory to compare the tool's next one with."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How results are kept. `budget`: the most o200k tokens of one result; `measure`: only count what would be saved: nothing is recorded and nothing replaced."""

    session: str
    store: str | None = None
    budget: int = 2_000
    measure: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool as the host made it."""

    name: str
    arguments: Mapping[str, Any]
    id: str

    @property
    def need(self) -> str:
        """What it asks for, in words: the texts among its arguments."""
        return " ".join(value for value in self.arguments.values() if isinstance(value, str))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text that is to be recorded, and what stands for it where it is bounded."""

    text: str
    made: Bounded | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is recorded of a result, in order, and which of it stands at which place among its blocks."""

    drafts: Sequence[_Draft]
    places: Mapping[int, int]


class Keeper:
    """The results of one wrapped server. Its methods block, and may be called from any thread."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.meter = _Meter()
        self._session: Session | None = None
        self._last: dict[str, Earlier] = {}
        self._turn = threading.Lock()

    def close(self) -> None:
        """Close the session."""
        with self._turn:
            if self._session is not None:
                self._session.close()
                self._session = None

    def record(self, call: Call, result: Mapping[str, Any]) -> None:
        """Record a result that passed as it is."""
        texts = list(texts_of(result).values())
        costs = sum(map(count, texts))
        self.meter.add(call.name, costs, costs, whole=False)
        if not self.settings.measure:
            with self._turn:
                self._commit(call, [_Draft(text) for text in texts])

    def keep(self, call: Call, result: Mapping[str, Any], listing: Listing) -> dict[str, Any] | None:
        """Record a result and bound it. Returns what to answer in its place; None where it passes as it is. Raises CtxfoldError: it cannot be recorded."""
        with self._turn:
            return self._keep(call, result, listing)

    def recall(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of our own tool."""
        with self._turn:
            return recall(self._open(), name, arguments)

    def _keep(self, call: Call, result: Mapping[str, Any], listing: Listing) -> dict[str, Any] | None:
        texts, structured, budget = texts_of(result), result.get("structuredContent"), self.settings.budget
        costs = [count(text) for text in texts.values()]
        held = 0 if structured is None else count(print_structured(structured))
        repeated = held > budget and repeats(structured, list(texts.values()))
        plan = self._plan(call, texts, costs, listing.name)
        if held > budget and not (repeated or _holds(structured, texts)):
            plan = _Plan(
                [*plan.drafts, self._draft(call, print_structured(structured), budget, listing.name)], plan.places
            )
        refs = self._commit(call, plan.drafts)
        shown = {at: _address(plan.drafts[number], refs[number]) for at, number in plan.places.items()}
        made = dict(result)
        if texts:
            made["content"] = [
                block for at, block in enumerate(with_texts(result, shown)["content"]) if at in shown or at not in texts
            ]
        whole = False
        if held > budget and repeated and listing.known and listing.schemas.get(call.name) is None:
            del made["structuredContent"]
        elif held > budget:
            short = self._shorten_structured(
                structured, call, dict(zip(texts.values(), refs, strict=False)), refs[-1], listing
            )
            made["structuredContent"], whole = (structured, True) if short is None else (short, False)
        after = sum(map(count, shown.values()))
        self.meter.add(call.name, max(sum(costs), held), max(after, held if whole else 0), whole)
        if len(texts) == 1 and sum(map(len, texts.values())) <= _LARGEST:
            self._last[call.name] = Earlier(next(iter(texts.values())), refs[0])
        return None if made == result or self.settings.measure else made

    def _plan(self, call: Call, texts: Mapping[int, str], costs: Sequence[int], tool: str) -> _Plan:
        """The texts within the budget, each in its place; as one in the place of the first where there are too many for that."""
        given = shares(costs, self.settings.budget, LEAST)
        if given is None:
            alone = [_Draft(text) for text in texts.values()]
            joined = self._draft(call, "\n".join(texts.values()), self.settings.budget, tool)
            return _Plan([*alone, joined], {min(texts): len(alone)})
        earlier = self._last.get(call.name) if len(texts) == 1 else None
        drafts = [
            _Draft(text) if share >= cost else self._draft(call, text, share, tool, earlier)
            for text, share, cost in zip(texts.values(), given, costs, strict=True)
        ]
        return _Plan(drafts, {at: number for number, at in enumerate(texts)})

    def _draft(self, call: Call, text: str, budget: int, tool: str, earlier: Earlier | None = None) -> _Draft:
        return _Draft(text, bounded(Result(text, NOWHERE, tool, earlier), call.need, budget))

    def _shorten_structured(
        self, structured: Any, call: Call, known: Mapping[str, str], own: str, listing: Listing
    ) -> Any | None:
        """A shorter structure within the tool's schema; None where there is none. `known`: the addresses of texts that are recorded by themselves; `own`: that of the structure, or of the text that says the same."""
        most = max(self.settings.budget // 2, LEAST)

        def shorten(text: str) -> str:
            return bounded(Result(text, known.get(text, own), listing.name), call.need, most).text

        note = f'All of it: {listing.name}(ref="{own}"), or {listing.name}(query="a word or an id")'
        short = shorten_within(structured, self.settings.budget, shorten, note) if listing.known else None
        return short if short is not None and fits(short, listing.schemas.get(call.name)) else None

    def _commit(self, call: Call, drafts: Sequence[_Draft]) -> list[str]:
        """Record texts as results of a call; the address of each. A view of the session shows of a long one what the host was shown."""
        if self.settings.measure:
            return [NOWHERE for _ in drafts]
        session = self._open()
        step = session.record_step(calls=[{"name": call.name, "args": dict(call.arguments), "id": call.id}])
        return [
            str(session.record_result(step, call.id, draft.text, shown=None if draft.made is None else draft.made.body))
            for draft in drafts
        ]

    def _open(self) -> Session:
        if self._session is None:
            self._session = Session.open(self.settings.session, store=self.settings.store)
        return self._session


def _address(draft: _Draft, ref: str) -> str:
    """What stands for a text, with its address in it."""
    return draft.text if draft.made is None else draft.made.at(ref).text


def _holds(structured: Any, texts: Mapping[int, str]) -> bool:
    """Whether a structure is no more than texts that stand in the result by themselves."""
    return isinstance(structured, dict) and all(value in texts.values() for value in structured.values())


@dataclass(slots=True)
class _Row:
    results: int = 0
    raw: int = 0
    shown: int = 0
    whole: int = 0


@dataclass(slots=True)
class _Meter:
    """Tokens of results as they came and as they were passed on, or would have been."""

    rows: dict[str, _Row] = field(default_factory=dict)

    def add(self, tool: str, raw: int, shown: int, whole: bool) -> None:
        """Count one result. `whole`: it is long and yet passes as it is, because its schema permits nothing shorter."""
        row = self.rows.setdefault(tool, _Row())
        row.results += 1
        row.raw += raw
        row.shown += shown
        row.whole += whole

    def tell(self) -> str:
        """A line for each tool, and one for all."""
        named = [*sorted(self.rows.items(), key=lambda each: -each[1].raw), ("all", self._sum())]
        return "\n".join(
            f"{name}: {counted(row.results, 'result')}, {row.raw} tokens, {row.shown} bounded"
            + (f" ({100 * row.shown / row.raw:.1f} %)" if row.raw else "")
            + (f", {counted(row.whole, 'long one')} whole" if row.whole else "")
            for name, row in named
        )

    def _sum(self) -> _Row:
        every = self.rows.values()
        return _Row(*(sum(getattr(row, name) for row in every) for name in ("results", "raw", "shown", "whole")))
