"""Whether a question of the user was answered and accepted: the assistant replied to it, and the user went on without a word against it. It changes no item.

Source: U-Fold closes an item by a successful call or by the user's word. A question that a reply answers has no call; the user's next words, thanks or something
else, are the word. A claim to have done something is no answer, and a reply that only asks back, promises or apologises is none either.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.decisions.intent.likeness import content, kind, overlap
from ctxfold.text import sentences, words
from ctxfold.text.phrases import pattern
from ctxfold.tokens import count
from ctxfold.workspace.intent import Item

__all__ = ["accepted"]

_SHARE = 0.34
_LONG = 40
"""o200k tokens from which a reply may be the text that was asked for, such as a letter."""
_READ = 8_000
_EMPTY = 4
"""Words of a sentence up to which it says nothing."""


def accepted(items: Sequence[Item], reply: str, asked: Sequence[str], now: str) -> list[Item]:
    """The open items that a reply answered and the user's next message leaves at that.

    Args:
        items: the open items from before the message.
        reply: what the assistant said last before it, without a call.
        asked: the records of the user that it replied to.
        now: the message.
    """
    if not reply or pattern("clause.disputes").search(now) is not None:
        return []
    said = [span.of(reply) for span in sentences(reply[:_READ])]
    telling = [each for each in said if _tells(each)]
    if not telling:
        return []
    about = frozenset(words(" ".join(telling)))
    return [
        item for item in items if _answerable(item, count(reply[:_READ])) and (item.ref in asked or _of(item, about))
    ]


def _tells(sentence: str) -> bool:
    """Whether a sentence states something: it neither asks nor promises nor says that nothing was to be had."""
    plain = sentence.strip()
    if plain.endswith(("?", "？")) or pattern("clause.promises").search(plain[:80]) is not None:
        return False
    return len(words(plain)) > _EMPTY or any(sign.isdigit() for sign in plain)


def _answerable(item: Item, length: int) -> bool:
    """Whether words alone can be what an item asks for."""
    if kind(item.text) == "find":
        return True
    return pattern("clause.told").match(item.text) is not None and length >= _LONG


def _of(item: Item, about: frozenset[str]) -> bool:
    return overlap(content(item.text), about) >= _SHARE
