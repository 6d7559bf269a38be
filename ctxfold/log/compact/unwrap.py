"""What of a tool's text is data: JSON wherever it stands, and the long texts inside JSON. It renders nothing and looks at nothing but the text.

Tools hand over the same records in many wrappings: between two sentences, in a code fence, one object a line, as content blocks (MCP, "Tool result",
type `text`), as a string inside other JSON, as a Python literal. Each of them comes out as the value it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.log.compact.blobs import without_blobs
from ctxfold.log.compact.cells import Spelled, parse, shallow, word
from ctxfold.log.compact.literal import literal
from ctxfold.text.strict_json import begun, strictly

__all__ = ["Held", "Tree", "Words", "trees_of", "unwrapped"]


@dataclass(frozen=True, slots=True)
class Words:
    """A stretch of text as it stands.

    Attributes:
        text: its words.
        name: the path of names under which it lay in the value before it; empty for a stretch of its own.
    """

    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """A stretch that is data.

    Attributes:
        value: the object or list, without the long texts that follow it as parts of their own.
        name: as of `Words`.
    """

    value: Any
    name: str = ""


Held = Words | Tree

_LEAST = 45
"""Characters from which JSON within a text is taken out of it: below, rows save nothing."""
_LARGEST = 2_000_000
"""Characters of a text that is no JSON as a whole up to which JSON is looked for in it."""
_TRIES = 8
"""Places that look like the beginning of JSON and are not, after which a text is a text."""
_LONG, _LINES = 400, 3
"""Characters, or lines of a text of some length, from which a text inside a value stands outside it: escaped in one row it could not be read or cut."""
_DEEP = 3
"""How often a text may lie in a value that lies in a text."""
_HELD = re.compile(r'"(?:type": ?"text"|[^"]{400})')
"""What JSON has in it that holds long texts or content blocks."""
_OPENING = re.compile(r"(?:^|(?<=[:=] ))[ \t]*(?=[\[{])", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)\w*[ \t]*")
_NEXT = re.compile(r"\s*[\[,]\s*(?=\{)")
_NEXT_LINE = re.compile(r"\s*,?\s*")
_REST = re.compile(r"[ \t]*\r?(?:\n|\Z)")


def unwrapped(text: str) -> tuple[Held, ...]:
    """The stretches of a text in their order.

    Args:
        text: what a tool answered.

    Returns:
        At least one; a text that holds no data is one stretch of words. Nothing is left out but code fences round data, what is blank, and
        the inside of bytes that are spelled as text.
    """
    text = without_blobs(text)
    return tuple(_apart(text, _DEEP)) or (Words(text),)


def trees_of(text: str) -> tuple[Any, ...]:
    """The values of a text in their order; none where it holds no data."""
    return tuple(part.value for part in unwrapped(text) if isinstance(part, Tree))


def _apart(text: str, deep: int) -> Iterator[Held]:
    tree = parse(text)
    if tree is not None and not _holds_texts(text):
        yield Tree(tree)
        return
    if tree is None:
        tree = literal(text)
    found = [(0, len(text), tree)] if tree is not None else _within(text)
    said = _spelled(text) if not found and deep else None
    if said is not None:
        yield from said
        return
    if not found or not deep:
        yield Words(text)
        return
    done = 0
    for start, end, value in found:
        yield from _words(text[done:start])
        yield from _opened(value, deep - 1)
        done = end
    yield from _words(text[done:])


def _holds_texts(text: str) -> bool:
    """Whether JSON may hold long texts, JSON in a text, which stands there with escapes, or content blocks; other JSON is not searched."""
    return "\\" in text or _HELD.search(text) is not None


def _words(text: str) -> Iterator[Words]:
    """What stands between data, without the code fence round that and the blank lines beside it."""
    lines = text.splitlines()
    while lines and (not lines[0].strip() or _FENCE.fullmatch(lines[0])):
        lines.pop(0)
    while lines and (not lines[-1].strip() or _FENCE.fullmatch(lines[-1])):
        lines.pop()
    if lines:
        yield Words("\n".join(lines).rstrip())


def _spelled(text: str) -> tuple[Held, ...] | None:
    """The parts of a text that is one JSON string, where they are more than words on one line."""
    held = strictly(text) if text[:1] == '"' else None
    parts = tuple(_apart(held, 1)) if isinstance(held, str) else ()
    return parts if parts and (isinstance(parts[0], Tree) or len(parts) > 1 or "\n" in parts[0].text) else None


# JSON within a text


def _within(text: str) -> list[tuple[int, int, Any]]:
    """The values a text holds on lines of their own, with their places, where they are most of it; else none. One object a line is one list."""
    if len(text) > _LARGEST or not ("{" in text or "[" in text):
        return []
    found: list[tuple[int, int, Any]] = []
    at, tries = 0, 0
    while tries < _TRIES and (opening := _OPENING.search(text, at)) is not None:
        start = opening.end()
        value, end = _value_at(text, start)
        if end - start < _LEAST or not shallow(text[start:end], value):
            tries, at = tries + 1, start + 1
            continue
        at = end
        before = found[-1] if found else (0, -1, None)
        if before[1] == opening.start() and isinstance(value, dict) and isinstance(before[2], _Lines):
            before[2].append(value)
            found[-1] = before[0], end, before[2]
        else:
            found.append((start, end, _Lines([value]) if isinstance(value, dict) else value))
    taken = sum(end - start for start, end, _ in found)
    return [(start, end, _plain(value)) for start, end, value in found] if 2 * taken >= len(text.strip()) else []


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at a place and ends its line, in JSON or Python, and where the next line begins; of a list that breaks off, the objects before that."""
    whole = begun(text, start, Spelled)
    if whole is not None:
        rest = _REST.match(text, whole[1])
        return (whole[0], rest.end()) if rest is not None else (None, start)
    line = text[start:].partition("\n")[0]
    told = literal(line)
    if told is not None:
        return told, min(start + len(line) + 1, len(text))
    made: list[Any] = []
    at = start
    while (sign := _NEXT.match(text, at)) is not None and (read := begun(text, sign.end(), Spelled)) is not None:
        made.append(read[0])
        at = read[1]
    after = _NEXT_LINE.match(text, at)
    return (made, after.end() if after else at) if len(made) > 1 else (None, start)


class _Lines(list[Any]):
    """Objects that stand one a line."""


def _plain(value: Any) -> Any:
    return (list(value) if len(value) > 1 else value[0]) if isinstance(value, _Lines) else value


# Texts within JSON


def _opened(value: Any, deep: int) -> Iterator[Held]:
    """A value with the JSON in its texts in place of these, and behind it its long texts."""
    said = _blocks(value)
    if said is not None:
        yield from _apart(said, deep)
        return
    lifted: list[Held] = []
    rest = _without_texts(value, (), deep, lifted)
    if rest or not lifted:
        yield Tree(rest)
    yield from lifted


def _without_texts(value: Any, path: tuple[str, ...] | None, deep: int, lifted: list[Held]) -> Any:
    """A value whose texts are opened.

    Args:
        value: any value.
        path: the names that lead to it; None below a list, where nothing is lifted.
        deep: as of `_apart`.
        lifted: takes the parts of long texts.
    """
    match value:
        case dict():
            made: dict[str, Any] = {}
            for name, child in value.items():
                there = None if path is None else (*path, name)
                before = len(lifted)
                opened = _text_opened(child, there, deep, lifted)
                if opened or len(lifted) == before:
                    made[name] = opened
            return made
        case list():
            return [_text_opened(child, None, deep, lifted) for child in value]
        case _:
            return value


def _text_opened(value: Any, path: tuple[str, ...] | None, deep: int, lifted: list[Held]) -> Any:
    """The same of a value that may be a text; nothing where it was lifted."""
    text = value if isinstance(value, str) else _blocks(value)
    if text is None:
        return _without_texts(value, path, deep, lifted)
    if len(text) < _LEAST:
        return text
    parts = tuple(_apart(text, deep))
    if len(parts) == 1 and isinstance(parts[0], Tree) and not parts[0].name:
        return parts[0].value
    short = len(text) < _LONG and text.count("\n") < _LINES and len(parts) == 1
    if path is None or short:
        return text
    name = ".".join(map(word, path))
    first = parts[0]
    lifted += (replace(first, name=f"{name}.{first.name}" if first.name else name), *parts[1:])
    return None


def _blocks(value: Any) -> str | None:
    """What a list of content blocks says, where they are texts and nothing else."""
    if not isinstance(value, list) or not value:
        return None
    texts = [block.get("text") for block in value if isinstance(block, dict) and block.get("type") == "text"]
    alone = all(
        isinstance(block, dict) and all(part is None for name, part in block.items() if name not in ("type", "text"))
        for block in value
    )
    if not alone or len(texts) < len(value) or not all(isinstance(text, str) for text in texts):
        return None
    return "\n".join(map(str, texts))
