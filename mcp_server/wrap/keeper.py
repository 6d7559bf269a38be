"""Keeps a tool's results in a session, and says what stands in their place: what is replaced is committed first."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold import Session
from ctxfold.log.refs import StepRef
from ctxfold.tokens import count
from ctxfold.view.bounded import LEAST, Earlier, Result, bounded
from mcp_server.wrap.listing import Listing
from mcp_server.wrap.meter import Meter
from mcp_server.wrap.recall import recall
from mcp_server.wrap.results import fits, print_structured, repeats, shares, shorten_within, texts_of, with_texts

__all__ = ["Call", "Keeper", "Settings"]

_LARGEST = 2_000_000
"""Characters of an answer that is kept in memory to compare the tool's next one with."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How results are kept.

    Attributes:
        session: the name of the session they are recorded in.
        store: its store; None for the configured one.
        budget: the most o200k tokens of one result.
        measure: only count what would be saved: nothing is recorded and nothing replaced.
    """

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
class _Texts:
    """The texts of a result by their places, what each costs, and the address of each."""

    texts: Mapping[int, str]
    costs: Sequence[int]
    refs: Sequence[str]


class Keeper:
    """The results of one wrapped server. Its methods block, and may be called from any thread.

    Args:
        settings: how they are kept.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.meter = Meter()
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
                self._commit(call, texts)

    def keep(self, call: Call, result: Mapping[str, Any], listing: Listing) -> dict[str, Any] | None:
        """Record a result and bound it.

        Args:
            call: what was called.
            result: what came back.
            listing: what the server's tools promise.

        Returns:
            What to answer in its place; None where it passes as it is.

        Raises:
            CtxfoldError: it cannot be recorded.
        """
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
        extra = [print_structured(structured)] if held > budget and not (repeated or _holds(structured, texts)) else []
        refs = self._commit(call, [*texts.values(), *extra])
        said = _Texts(texts, costs, refs)
        shown = self._bound(call, said, listing.name) if sum(costs) > budget else texts
        made = with_texts(result, shown) if shown is not texts else dict(result)
        if len(shown) < len(texts):
            made["content"] = [block for at, block in enumerate(made["content"]) if at in shown or at not in texts]
        whole = False
        if held > budget and repeated and listing.known and listing.schemas.get(call.name) is None:
            del made["structuredContent"]
        elif held > budget:
            whole = not (listing.known and self._shorten_structured(made, call, said, listing))
        after = sum(map(count, shown.values()))
        self.meter.add(call.name, max(sum(costs), held), max(after, held if whole else 0), whole)
        for at, ref in zip(texts, refs, strict=False):
            if len(texts) == 1 and len(texts[at]) <= _LARGEST:
                self._last[call.name] = Earlier(texts[at], ref)
        return None if made == result or self.settings.measure else made

    def _bound(self, call: Call, said: _Texts, tool: str) -> Mapping[int, str]:
        """The texts within the budget, each in its place; as one in the place of the first where there are too many for that."""
        given = shares(said.costs, self.settings.budget, LEAST)
        if given is None:
            joined = "\n".join(said.texts.values())
            ref = self._commit(call, [joined])[0]
            made = bounded(Result(joined, ref, tool), call.need, self.settings.budget)
            return {min(said.texts): made.text}
        earlier = self._last.get(call.name) if len(said.texts) == 1 else None
        return {
            at: text if share >= cost else bounded(Result(text, ref, tool, earlier), call.need, share).text
            for (at, text), share, cost, ref in zip(said.texts.items(), given, said.costs, said.refs, strict=False)
        }

    def _shorten_structured(self, made: dict[str, Any], call: Call, said: _Texts, listing: Listing) -> bool:
        """Put a shorter structure in place, within the tool's schema; whether there is one."""
        refs = dict(zip(said.texts.values(), said.refs, strict=False))
        own = said.refs[-1]

        def shorten(text: str) -> str:
            result = Result(text, refs.get(text, own), listing.name)
            return bounded(result, call.need, max(self.settings.budget // 2, LEAST)).text

        note = f'All of it: {listing.name}(ref="{own}"), or {listing.name}(query="a word or an id")'
        short = shorten_within(made["structuredContent"], self.settings.budget, shorten, note)
        if short is None or not fits(short, listing.schemas.get(call.name)):
            return False
        made["structuredContent"] = short
        return True

    def _commit(self, call: Call, texts: Sequence[str]) -> list[str]:
        """Record texts as results of a call; the address of each."""
        if self.settings.measure:
            return ["s0.0" for _ in texts]
        session = self._open()
        step: StepRef = session.record_step(calls=[{"name": call.name, "args": dict(call.arguments), "id": call.id}])
        return [str(session.record_result(step, call.id, text)) for text in texts]

    def _open(self) -> Session:
        if self._session is None:
            self._session = Session.open(self.settings.session, store=self.settings.store)
        return self._session


def _holds(structured: Any, texts: Mapping[int, str]) -> bool:
    """Whether a structure is no more than texts that stand in the result by themselves."""
    return isinstance(structured, dict) and all(value in texts.values() for value in structured.values())
