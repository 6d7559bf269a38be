"""The embedded decider of branches: it stays on the branch, and ranks all branches by how alike their words are to the message."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.decisions.branch.values import RankedBranch
from ctxfold.text import Vocabulary, cosine
from ctxfold.workspace.forest import ForestView, Turn

__all__ = ["ranked"]


def ranked(forest: ForestView, message: str) -> tuple[RankedBranch, ...]:
    """Every branch that holds anything, the most alike to a message first."""
    here = forest.elsewhere
    others = sorted(here.branches, key=lambda branch: -branch.visited)
    held = [(here.branch, here.topic, forest.path), *((each.branch, each.topic, each.turns) for each in others)]
    texts = [_text(turns) for _, _, turns in held]
    vocabulary = Vocabulary(texts)
    asked = vocabulary.vector(message)
    found = [
        RankedBranch(name, topic, round(cosine(asked, vocabulary.vector(text)), 4), _last(turns))
        for (name, topic, turns), text in zip(held, texts, strict=True)
        if turns
    ]
    return tuple(sorted(found, key=lambda each: -each.score))


def _text(turns: Sequence[Turn]) -> str:
    return "\n".join(f"{turn.said}\n{turn.reply}" for turn in turns)


def _last(turns: Sequence[Turn]) -> str:
    return next((" ".join(turn.said.split()) for turn in reversed(turns) if turn.said), "")
