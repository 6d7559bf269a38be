"""The register of constraints: what the user's words bind, and what a newer one takes the place of. It only grows; nothing is dropped from it.

Source: a constraint said in one branch holds in the others; a correction supersedes it by name, and the old words stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxfold.decisions.intent.cues import Clause, asks
from ctxfold.decisions.intent.likeness import content, dimensions, overlap
from ctxfold.text.values import facts_of
from ctxfold.workspace.intent import Constraint, number_of

__all__ = ["bound"]

_ALIKE = 0.5


def bound(
    register: Sequence[Constraint], said: Sequence[tuple[str, Clause]], first: int | None = None
) -> tuple[Constraint, ...]:
    """What a turn adds to the register, and which older constraints it supersedes.

    Args:
        register: the constraints so far.
        said: the record and clause of what was said, in order.
        first: the number of the first new constraint; None counts on from the register's highest.

    Returns:
        New constraints, and older ones with `superseded_by` set, whole.
    """
    known = {each.id: each for each in register}
    changed: dict[str, Constraint] = {}
    number = max((number_of(each.id) for each in register), default=0) + 1 if first is None else first
    correcting: set[str] = {ref for ref, clause in said if clause.corrects}
    for ref, clause in said:
        if not (clause.binds or clause.corrects):
            continue
        if any(each.ref == ref and each.text == clause.text for each in known.values()):
            continue
        made = Constraint(f"c{number}", clause.text, ref)
        number += 1
        old = _replaced(made, [each for each in known.values() if each.ref != ref], ref in correcting)
        if old is not None:
            changed[old.id] = known[old.id] = replace(old, superseded_by=made.id)
        changed[made.id] = known[made.id] = made
    return tuple(changed.values())


def _replaced(new: Constraint, known: Sequence[Constraint], corrects: bool) -> Constraint | None:
    """The newest constraint that holds and that a new one takes the place of; a new request beside an old one takes no place."""
    for old in reversed(known):
        if old.superseded_by is None and _replaces(new, old, corrects):
            return old if corrects or not (asks(new.text) or asks(old.text)) else None
    return None


def _replaces(new: Constraint, old: Constraint, corrects: bool) -> bool:
    """Whether a newer constraint speaks of what an older one did, with another value."""
    shared = overlap(_frame(new.text), _frame(old.text))
    measured, before = dimensions(new.text), dimensions(old.text)
    if not before <= measured:
        return False
    differ = set(facts_of(new.text)) != set(facts_of(old.text))
    if before and differ:
        return corrects or shared >= _ALIKE
    return corrects and not before and shared >= _ALIKE and new.text != old.text


def _frame(text: str) -> frozenset[str]:
    """The words around the values: what a bound is about."""
    return frozenset(word for word in content(text) if not any(letter.isdigit() for letter in word))
