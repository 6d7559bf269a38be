"""What a call shows: whether it failed and how, whether it is one that was made before, what came back, which facts it told. It reads texts, and judges no history.

Source: ACR's cues for a router without a model: the same tool, normalised arguments and error class; a state that recurs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

from ctxfold.decisions.refactor.values import Act, Fact
from ctxfold.log.compact.cells import Spelled, parse
from ctxfold.log.compact.outcome import failed
from ctxfold.log.compact.unwrap import Tree, trees_of, unwrapped
from ctxfold.log.facts import canonical, identity, identity_key

__all__ = ["act", "answered", "facts_of"]

_MARKS = re.compile(r"\s\[[a-z-]+(?:=[^\]\n]*)?\]")
"""What a snapshot of a page says of its elements in brackets: it changes while the page stays as it is."""
_SILENT = frozenset({"", "null", "none", '""', "undefined"})
_NOTHING = _SILENT | {"[]", "{}"}
_HEAD, _TAIL = 300, 120
_CALL, _READ, _SHORT = 20_000, 400_000, 4_000
_PAIR = re.compile(r"[ \t]*(?:[-*•] )?([A-Za-z_][\w .-]{0,30}?)\s*[:=]\s*([^\s{\[<][^\n]{0,58}?)[ \t.;,]*")
_FACTS = 400
"""Facts of one record at most."""


def act(step: int, call: str, text: str) -> Act:
    """A call that waits for its answer.

    Args:
        step: its step.
        call: its record's address.
        text: the record: the JSON of its name and arguments.
    """
    tree = parse(text[:_CALL])
    if not isinstance(tree, dict):
        return Act(step, call, "", "", _digest(text))
    name = str(tree.get("name", ""))
    return Act(step, call, "", name, f"{name} {canonical(_normal(tree.get('args')))}")


def answered(waiting: Act, ref: str, text: str, page: bool) -> Act:
    """The same call with what came back.

    Args:
        waiting: the call.
        ref: the result's address.
        text: the result.
        page: whether it came from a page.
    """
    wrong = failed(text)
    plain = " ".join((_MARKS.sub("", text[:_READ]) if page else text[:_READ]).split())
    return Act(
        waiting.step,
        waiting.call,
        ref,
        waiting.name,
        waiting.key,
        _class(text) if wrong else "",
        _digest(plain),
        plain.lower() in _NOTHING,
        plain.lower() in _SILENT,
        page,
    )


def _class(text: str) -> str:
    """The class of an error: its first words, numbers left out."""
    tree = next(iter(trees_of(text)), None)
    if isinstance(tree, dict):
        told = next((tree[key] for key in ("error", "errors", "code", "message", "status") if tree.get(key)), tree)
        text = told if isinstance(told, str) else canonical(told)
    return _digest(re.sub(r"\d+", "#", " ".join((text[:_HEAD] + text[-_TAIL:]).lower().split())))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _normal(value: Any) -> Any:
    """Arguments without what changes nothing: blanks, letter case, what was left empty."""
    match value:
        case dict():
            kept = {str(name): _normal(part) for name, part in value.items()}
            return {name: part for name, part in kept.items() if part not in (None, "", [], {})}
        case list():
            return [_normal(part) for part in value]
        case str():
            return " ".join(value.lower().split())
        case _:
            return value


def facts_of(key: str, text: str, ref: str, order: int) -> list[Fact]:
    """The scalars of a structured result, each under what names its object; of a short text its `field: value` lines.

    An object with an id of its own is one thing wherever it is told. Any other is one thing within the call that told it, or within the object it
    lies in: a price stands for another thing in another booking.

    Args:
        key: the call that told them, with its arguments.
        text: the result.
        ref: its address.
        order: its place on the path.
    """
    if len(text) > _READ:
        return []
    parts = unwrapped(text)
    found = chain.from_iterable(
        _facts(part.value, key, ref, order) if isinstance(part, Tree) else _pairs(part.text, key, ref, order)
        for part in parts
    )
    return list(islice(found, _FACTS))


def _pairs(text: str, key: str, ref: str, order: int) -> Iterator[Fact]:
    """The `field: value` lines of a short text."""
    for line in text.splitlines() if len(text) <= _SHORT else ():
        pair = _PAIR.fullmatch(line)
        if pair is not None:
            yield Fact(key, " ".join(pair[1].split()), pair[2], ref, order)


def _facts(tree: Any, key: str, ref: str, order: int) -> Iterator[Fact]:
    stack: list[tuple[Any, tuple[str, ...]]] = [(tree, ())]
    while stack:
        node, within = stack.pop()
        match node:
            case list():
                stack.extend((child, within) for child in reversed(node))
            case dict():
                named = identity(node)
                names = within if named is None else (*within, f"{named[0]}={named[1]}")
                loose = not names or (len(names) == 1 and identity_key(node) != identity_key(node, _ELSEWHERE))
                group = "\0".join((key, *names) if loose else names)
                for field, value in _scalars(node):
                    if named is None or (field, value) != named:
                        yield Fact(group, field, value, ref, order)
                stack.extend((child, names) for child in reversed(node.values()) if isinstance(child, (dict, list)))
            case _:
                pass


_ELSEWHERE = "elsewhere"
"""Another place than where an object stands: what keeps its key there has a name of its own."""


def _scalars(node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field, value in node.items():
        if isinstance(value, (str, bool, int, float)):
            yield str(field), _spelled(value)


def _spelled(value: str | float) -> str:
    match value:
        case str():
            return value
        case Spelled():
            return value.spelling
        case _:
            return json.dumps(value)
