"""Puts the turns of a view into the form of a provider's API, valid for it: roles alternate, each call has its result right behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold.prompts import prompt
from ctxfold.text.secrets import encodable
from ctxfold.tokens import count

__all__ = ["ANCHOR", "MARK", "Turn", "anthropic_messages", "cache_marks", "openai_messages"]

ANCHOR = 16
"""One cache mark stands on a sixteenth block: within the twenty that the server looks back over, and it seldom moves."""

MARK = {"cache_control": {"type": "ephemeral"}}

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST_NAME = 64


_OVERHEAD = 12
"""o200k tokens that the form of one call and its result costs beside its words."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One stretch of one side: what it says, calls (address, tool, arguments) or got back (the call's address, the text).

    `stable`: whether the next view repeats it, unless something is folded.
    """

    role: str
    text: str = ""
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    results: tuple[tuple[str, str], ...] = ()
    stable: bool = True

    @property
    def tokens(self) -> int:
        """o200k tokens it costs."""
        called = sum(
            count(name) + count(json.dumps(args, ensure_ascii=False)) + _OVERHEAD for _, name, args in self.calls
        )
        return count(self.text) + called + sum(count(text) + 1 for _, text in self.results) + 2


def cache_marks(stable: int) -> frozenset[int]:
    """Which of the `stable` leading blocks carry a mark, three at most: the API allows four and the system text takes one.

    The last of them, so that the next request reads all of it; the one before, since the last is the latest step and
    is often folded next; and the highest sixteenth one below, which stays while the view grows, so that after a
    consolidation, which rewrites from its tile on, what stands before is still found.
    """
    ends = {at for at in (stable - 2, stable - 1) if at >= 0}
    anchor = (stable - 1) // ANCHOR * ANCHOR - 1
    return frozenset(ends | {anchor} if anchor >= 0 else ends)


def anthropic_messages(turns: Sequence[Turn], say: str = "") -> list[dict[str, Any]]:
    """The turns as the Messages API takes them, with marks for its prompt cache; `say` is the user's newest message, behind them."""
    made: list[dict[str, Any]] = []
    blocks: list[dict[str, Any]] = []
    stable = 0
    for turn in _closed(turns, say):
        content = list(_anthropic_blocks(turn))
        if made and made[-1]["role"] == turn.role:
            made[-1]["content"].extend(content)
        else:
            made.append({"role": turn.role, "content": content})
        blocks += content
        stable = len(blocks) if turn.stable else stable
    for at in cache_marks(stable):
        blocks[at].update(MARK)
    return made


def openai_messages(turns: Sequence[Turn], say: str = "") -> list[dict[str, Any]]:
    """The turns as chat completions take them; `say` is the user's newest message, behind them."""
    made: list[dict[str, Any]] = []
    for turn in _closed(turns, say):
        made += [{"role": "tool", "tool_call_id": _id(ref), "content": encodable(text)} for ref, text in turn.results]
        text = encodable(turn.text)
        calls = [
            {"id": _id(ref), "type": "function", "function": {"name": _name(name), "arguments": _json(args)}}
            for ref, name, args in turn.calls
        ]
        last = made[-1] if made else {}
        if text.strip() and last.get("role") == turn.role and "tool_calls" not in last:
            last["content"] = f"{last['content']}\n{text}"
        elif text.strip() or calls:
            made.append({"role": turn.role, "content": text if text.strip() else None})
        if calls:
            made[-1]["tool_calls"] = calls
    return made


def _closed(turns: Sequence[Turn], say: str) -> Iterator[Turn]:
    """The turns with the user's newest message behind them; where the assistant spoke last and nobody after, it is told to go on."""
    said = [turn for turn in turns if turn.text.strip() or turn.calls or turn.results]
    yield from said
    if say.strip():
        yield Turn("user", say, stable=False)
    elif said and said[-1].role == "assistant":
        yield Turn("user", prompt("go_on"), stable=False)


def _anthropic_blocks(turn: Turn) -> Iterator[dict[str, Any]]:
    for ref, text in turn.results:
        content = [{"type": "text", "text": encodable(text)}]
        yield {"type": "tool_result", "tool_use_id": _id(ref), "content": content}
    if turn.text.strip():
        yield {"type": "text", "text": encodable(turn.text)}
    for ref, name, args in turn.calls:
        yield {"type": "tool_use", "id": _id(ref), "name": _name(name), "input": json.loads(_json(args))}


def _id(ref: str) -> str:
    """A call's id: its address, which no other call has; hosts use their own ids twice."""
    return ref.replace(".", "_")


def _name(name: str) -> str:
    """A tool's name as both APIs take it."""
    return _UNFIT.sub("_", name)[:_LONGEST_NAME] or "tool"


def _json(args: dict[str, Any]) -> str:
    return encodable(json.dumps(args, ensure_ascii=False))
