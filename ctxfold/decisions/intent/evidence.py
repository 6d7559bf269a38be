"""Whether what was done fulfils what was to be done: a call that succeeded, of the same kind, about the same thing. It changes no state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxfold.decisions.intent.likeness import call_kind, content, kind, overlap
from ctxfold.log.compact.cells import Spelled, parse
from ctxfold.text import words
from ctxfold.text.values import facts_of
from ctxfold.workspace.intent import Item

__all__ = ["Deed", "fulfilled"]

_NUMBER = re.compile(r"\d+")
_READ = 4_000


@dataclass(frozen=True, slots=True)
class Deed:
    """A call and what came back.

    Attributes:
        call: the record of the call.
        result: the record of its result.
        name: the tool's name.
        args: its arguments as text.
        text: the result.
    """

    call: str
    result: str
    name: str
    args: str
    text: str


def fulfilled(deed: Deed, items: Sequence[Item]) -> Item | None:
    """The open item that a deed fulfils, if any: of several the one it shares most with.

    Args:
        deed: what was done, successfully.
        items: the open items.
    """
    done = call_kind(deed.name)
    if not done or all(kind(item.text) != done for item in items):
        return None
    asked = frozenset(words(f"{deed.name} {_plain(deed.args)}"))
    said = asked | frozenset(words(deed.text[:_READ]))
    found: list[tuple[float, int, Item]] = []
    for at, item in enumerate(items):
        if kind(item.text) != done or not _names(item, f"{deed.args} {deed.text[:_READ]}", said):
            continue
        about = content(item.text)
        share = overlap(about, said)
        if about and not share:
            continue
        found.append((share + overlap(about, asked), at, item))
    return max(found, key=lambda each: (each[0], -each[1]))[2] if found else None


def _names(item: Item, text: str, said: frozenset[str]) -> bool:
    """Whether, where an item names codes or names, at least one of them stands in what was done."""
    named = facts_of(item.text)
    low = text.lower()
    return not named or any(
        fact.lower() in low or said.issuperset(words(fact)) or _numbers(fact, low) for fact in named
    )


def _numbers(fact: str, text: str) -> bool:
    """Whether the numbers of a quantity such as `300 people` all stand in a text."""
    numbers = _NUMBER.findall(fact)
    return bool(numbers) and all(re.search(rf"(?<!\d){re.escape(each)}(?!\d)", text) for each in numbers)


def _plain(args: str) -> str:
    tree = parse(args)
    return args if tree is None else " ".join(_leaves(tree))


def _leaves(tree: object) -> Iterable[str]:
    match tree:
        case dict():
            for name, child in tree.items():
                yield str(name)
                yield from _leaves(child)
        case list():
            for child in tree:
                yield from _leaves(child)
        case Spelled():
            yield tree.spelling
        case _:
            yield str(tree)
