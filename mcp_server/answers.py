"""What tools answer: facts as one line of text and the same facts as data, and long text in parts. It knows no session and no tool.

Hosts disagree on which half of a result their model reads, so both halves are made from one value.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

__all__ = ["LIMIT", "Part", "facts", "part", "texts"]

LIMIT = 10_000
"""Most characters in any one result: beyond about this hosts cut the text or put it in a file."""


def facts(value: BaseModel) -> CallToolResult:
    """One value as a result: `name value · name value` for a model that reads text, the same fields for one that reads data.

    A field that is empty says nothing and is left out of the text.
    """
    fields = value.model_dump(mode="json")
    said = " · ".join(
        f"{name.replace('_', ' ')} {_plain(field)}" for name, field in fields.items() if field not in ("", None, [])
    )
    return CallToolResult(content=[TextContent(type="text", text=said)], structured_content=fields)


def texts(*blocks: str) -> list[TextContent]:
    """Text-only blocks, each byte for byte what was given."""
    return [TextContent(type="text", text=block) for block in blocks]


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of a text: characters `start` to `end` (not included) of `total`."""

    text: str
    start: int
    end: int
    total: int

    @property
    def whole(self) -> bool:
        """Whether this is all of it."""
        return self.start == 0 and self.end == self.total

    @property
    def more(self) -> bool:
        """Whether text follows."""
        return self.end < self.total


def part(text: str, offset: int, limit: int) -> Part:
    """The characters of `text` from `offset` on, at most `limit` of them; parts laid end to end are the text."""
    start = min(max(offset, 0), len(text))
    end = min(start + limit, len(text))
    return Part(text[start:end], start, end, len(text))


def _plain(field: object) -> str:
    match field:
        case bool():
            return "yes" if field else "no"
        case list():
            return ", ".join(map(str, field))
        case _:
            return str(field)
