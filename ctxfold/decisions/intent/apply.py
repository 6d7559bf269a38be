"""Applies a plan or an extraction to an intent and returns the next intent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from ctxfold.workspace.intent import Extraction, Intent, IntentChange, Item, Statement

__all__ = ["VERSION", "extract", "merged", "set_intent"]

VERSION = 2
"""Of the appliers. Events hold resolved content, so an older session keeps its values when this grows."""

T = TypeVar("T", bound=Item | Statement)


def set_intent(intent: Intent, change: IntentChange) -> Intent:
    """Apply a change: new values at the end, changed ones where they stood, none removed. Pure."""
    return replace(
        intent,
        items=merged(intent.items, change.items),
        constraints=merged(intent.constraints, change.constraints),
        decisions=merged(intent.decisions, change.decisions),
        told=intent.told if change.told is None else change.told,
        read=change.read,
    )


def merged(known: Iterable[T], changed: Iterable[T]) -> tuple[T, ...]:
    """Values with others added, or put in their places by id. Pure."""
    fresh = {each.id: each for each in changed}
    return tuple(fresh.pop(each.id, each) for each in known) + tuple(fresh.values())


def extract(intent: Intent, extraction: Extraction) -> Intent:
    """Apply an extraction: it takes the place of the one before. Pure."""
    return replace(intent, extraction=extraction)
