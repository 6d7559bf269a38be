"""The appliers: an intent and a decision to the next intent. Pure; each kind of decision has exactly one, and replay uses no other."""

from __future__ import annotations

from dataclasses import replace

from ctxfold.workspace.intent import Constraint, Extraction, Intent, IntentChange, Said

__all__ = ["VERSION", "extract", "register", "set_intent"]

VERSION = 1
"""Of the appliers. Events hold resolved content, so an older session keeps its bytes when this grows."""

_COURSE = 80
"""Stretches of the course that are kept; the user's words themselves stay in the log."""


def set_intent(intent: Intent, change: IntentChange) -> Intent:
    """Apply a change: new items at the end, changed ones where they stood, none removed. Pure."""
    fresh = {item.id: item for item in change.items}
    items = tuple(fresh.pop(item.id, item) for item in intent.items) + tuple(fresh.values())
    course: tuple[Said, ...] = change.course if change.afresh else (*intent.course, *change.course)
    return replace(
        intent,
        course=course[-_COURSE:],
        items=items,
        constraints=register(intent.constraints, change.constraints),
        read=change.read,
        planned=True,
    )


def register(known: tuple[Constraint, ...], changed: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """A register with constraints added, or superseded, by id. Pure."""
    fresh = {each.id: each for each in changed}
    return tuple(fresh.pop(each.id, each) for each in known) + tuple(fresh.values())


def extract(intent: Intent, extraction: Extraction) -> Intent:
    """Apply an extraction: it takes the place of the one before. Pure."""
    return replace(intent, extraction=extraction)
