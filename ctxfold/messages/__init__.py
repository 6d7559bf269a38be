"""The one form of a message in ctxfold: a role and items; and the `Codec` that translates a dialect to it and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["Call", "Codec", "Item", "Message", "Opaque", "Result", "Role", "Text"]

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
    """A block that is passed on unread: a picture, a document, thinking, an unknown kind.

    Attributes:
        kind: its type, as its dialect names it.
        block: the native block.
    """

    kind: str
    block: Any

    @property
    def text(self) -> str:
        """Its kind and size, for the log and for other dialects; empty for thinking."""
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
        dialect: the codec that decoded it; empty for a message made by hand.
        handle: the untouched native message; None once the items differ from it.
    """

    role: Role
    items: tuple[Item, ...]
    id: str = ""
    compacted: bool = False
    dialect: str = field(default="", compare=False)
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """Its words, one item under the other. Pictures are named by kind and size."""
        return "\n".join(item.text for item in self.items if isinstance(item, Text | Opaque) and item.text)


@dataclass(frozen=True, slots=True)
class Codec:
    """Translates between one dialect and `Message`. To decode, encode and decode again changes nothing.

    Attributes:
        name: the dialect, such as `anthropic` or `claude-code`.
        read: the messages in one native value. A native document sets the `handle` of each message itself.
        write: the native values of one message.
    """

    name: str
    read: Callable[[Any], Iterable[Message]]
    write: Callable[[Message], Iterable[Any]]

    def decode(self, native: Any) -> Iterator[Message]:
        """The messages of one native message, line or document. Blank texts are left out."""
        for message in self.read(native):
            if items := drop_blanks(message.items):
                yield replace(message, items=items, dialect=self.name, handle=message.handle or native)

    def encode(self, messages: Sequence[Message], *, handles: bool = True) -> list[Any]:
        """Native messages. With `handles`, those that nobody changed go out as they came, byte for byte.

        A block that only another dialect can write goes out as its kind and size.
        """
        natives: list[Any] = []
        for message in messages:
            is_own = message.dialect == self.name
            if handles and is_own and message.handle is not None:
                natives.append(message.handle)
                continue
            items = (Text(item.text) if isinstance(item, Opaque) and not is_own else item for item in message.items)
            kept = drop_blanks(items)
            natives += self.write(replace(message, items=kept)) if kept else ()
        return natives


def drop_blanks(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items without blank texts, which no API takes."""
    return tuple(item for item in items if not isinstance(item, Text) or item.text.strip())
