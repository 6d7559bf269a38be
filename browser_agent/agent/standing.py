"""Judges what of a request stands in the next one: which folds pay, what is worth its place in the prompt cache, and how much room the past has."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.tokens import MIN_BUDGET, count
from ctxfold.view.render import View
from ctxfold.workspace.workspace import Block, Tile, Workspace

__all__ = ["kept_blocks", "pays", "room_of_past"]

READ, WRITE = 0.05, 1.25
"""Prices of a token that comes from the prompt cache and of one that goes into it, beside one that is read in full."""

_REACH = 24
"""Steps over which a fold is counted on: about as many pass between two batches."""

_HABIT = 5
"""Steps before the latest that must all have been folded by a model for the latest to be expected to be folded next."""

_GRAIN = 256
"""Tokens by which the room beside the past grows: what stands there changes from step to step, and the room of the past should not."""

_SPARE = 0.1
"""Of a budget, what may stand beside the past before the past has less room: its high-water mark leaves as much."""


def pays(took: int, gives: int, behind: int, left: int) -> bool:
    """Whether a fold is worth the prefix it breaks.

    Args:
        took: tokens of the steps in full.
        gives: tokens of what takes their place.
        behind: tokens of the past that stand behind them, which are written to the cache again.
        left: steps the run may still take.
    """
    return (took - gives) * READ * min(left, _REACH) > (gives + behind) * (WRITE - READ)


def kept_blocks(view: View, workspace: Workspace) -> int:
    """How many leading blocks of a view the next request keeps: without the latest step where whoever decides folds each step after the next."""
    before = workspace.blocks[:-1]
    steps = sum(len(block.steps) for block in before)
    folding = steps >= _HABIT and _written(before) >= _HABIT
    return max(view.stable - folding, 0)


def room_of_past(view: View, budget: int, beside: str) -> int:
    """o200k tokens of a budget at which the past is consolidated, so that it fits with what stands beside it.

    Args:
        view: the past as it was fitted into the budget, with the goal before it and the register behind it.
        budget: o200k tokens of all of it.
        beside: what closes the context.
    """
    texts = [part["text"] for part in view.messages[0]["content"]]
    ends = [texts[0], *texts[view.stable :], beside]
    taken = -(-sum(count(text) for text in ends) // _GRAIN) * _GRAIN
    over = max(taken - int(_SPARE * budget), 0)
    return max(budget - over, MIN_BUDGET)


def _written(blocks: Sequence[Block]) -> int:
    """How many of the newest steps in a row stand as what a model wrote of them."""
    steps = 0
    for block in reversed(blocks):
        if not (isinstance(block, Tile) and block.origin == "model"):
            break
        steps += len(block.steps)
    return steps
