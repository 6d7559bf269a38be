"""Makes the ending of a run, of the decision that ends it or of a limit that was reached, and closes what it opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Protocol, assert_never

import anyio

from browser_agent.actions import Answer, GiveUp, Terminal
from browser_agent.agent.terms import Ending
from browser_agent.deciders.answer_schema import Shape
from browser_agent.deciders.protocol import Decided
from browser_agent.deciders.sources import Evidence, Source
from ctxfold.errors import InvalidReply

__all__ = ["close_at_end", "ended", "stopped"]


def ended(decided: Decided, end: Terminal, evidence: Evidence, shape: Shape | None) -> tuple[Ending, str]:
    """The ending that a decision makes, and what the session keeps of it.

    Raises:
        InvalidReply: an answer without the schema asked for; no decider hands one in.
    """
    candidates = _with_refs(decided.candidates, evidence)
    match end:
        case Answer(text=text, quote=quote, url=url, data=data):
            only = () if quote is None else (Source(quote, url or ""),)
            sources = _with_refs(decided.sources or only, evidence)
            text, data = _shaped(text, data, shape)
            said = "\n".join([text, *(_cited(source, text) for source in sources)])
            return Ending("answered", "", text, sources, candidates or sources, data, decided.decider), said
        case GiveUp(reason=reason):
            return Ending("none_found", reason, None, (), candidates, None, decided.decider), reason
        case _:
            assert_never(end)


def stopped(reason: str, candidates: Sequence[Source], evidence: Evidence) -> Ending:
    """The ending that a limit makes."""
    return Ending("stopped", reason, candidates=_with_refs(candidates, evidence))


def _shaped(text: str, data: object, shape: Shape | None) -> tuple[str, object]:
    """An answer in words, or where the task has a schema, as that has it."""
    if shape is None:
        return text, None
    faults = shape.faults(data)
    if faults:
        raise InvalidReply(f"the answer does not have the schema that was asked for: {'; '.join(faults)}")
    return json.dumps(data, ensure_ascii=False), data


def _cited(source: Source, text: str) -> str:
    """Where a passage stands, behind its words where `text` lacks them."""
    where = f"({source.url} {source.ref})"
    return where if source.quote in text else f"“{source.quote}” {where}"


def _with_refs(sources: Sequence[Source], evidence: Evidence) -> tuple[Source, ...]:
    return tuple(replace(source, ref=evidence.ref(source.url)) for source in sources)


class _Opened(Protocol):
    async def close(self) -> None: ...


def close_at_end(held: AsyncExitStack, opened: _Opened) -> None:
    """Close what a run opened when `held` ends, an interrupted run's too."""

    async def close() -> None:
        with anyio.CancelScope(shield=True):
            await opened.close()

    held.push_async_callback(close)
