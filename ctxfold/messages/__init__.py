"""The one form of a message in ctxfold: a role and items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

Role = Literal["user", "assistant", "system"]

_SILENT = frozenset(
    {
        *("thinking", "redacted_thinking", "reasoning"),
        *("step-start", "step-finish", "snapshot", "patch", "compaction", "agent", "retry", "subtask"),
    }
)
"""Kinds of blocks that leave no words: a model's thinking, and the parts by which opencode keeps books."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words of whoever wrote the message."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A request for a tool: its name, its arguments (any JSON) and the id that its result names."""

    name: str
    args: Any
    id: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned.

    Attributes:
        id: the id of the call.
        text: the exact text. A picture in it is named by its kind and size.
        origin: whether a tool or a web page wrote the text.
        shown: a shorter form of the text for views; None lets ctxfold make one.
    """

    id: str
    text: str
    origin: Literal["tool", "page"] = "tool"
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block that is not read: a picture, a document, thinking, an unknown kind.

    Attributes:
        kind: its type, as its API or host names it.
        block: the native block.
    """

    kind: str
    block: Any

    @property
    def text(self) -> str:
        """Its kind and size, for the log; empty for thinking."""
        if self.kind in _SILENT:
            return ""
        return f"[{self.kind}, {len(json.dumps(self.block, default=str)):,} characters]"


Item = Text | Call | Result | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

        Message("assistant", (Text("Looking."), Call("look_up", {"order": "W-1"}, "c1")), id="m7")
        Message("user", (Result("c1", "total=1"),))

    Attributes:
        role: who sent it. Results come from the user's side, as in Anthropic's API.
        items: its content in order.
        id: the host's id of it, by which it is recorded once; empty if it has none.
        compacted: whether it is a host's summary that replaced the messages before it.
    """

    role: Role
    items: tuple[Item, ...]
    id: str = ""
    compacted: bool = False

    @property
    def text(self) -> str:
        """Its words, one item under the other. Pictures are named by kind and size."""
        return "\n".join(item.text for item in self.items if isinstance(item, Text | Opaque) and item.text)


def drop_blanks(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages without blank texts, which no API takes; none of a message that holds nothing else."""
    for message in messages:
        items = tuple(item for item in message.items if not isinstance(item, Text) or item.text.strip())
        if items:
            yield replace(message, items=items)
