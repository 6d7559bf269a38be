"""From a wish to a committed plan or extraction: what was said and done since is read, the decision resolved, applied and kept.

It works inside a write transaction that the session opens. What is committed is resolved: replaying it decides nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxfold.decisions.intent.apply import extract, set_intent
from ctxfold.decisions.intent.extract import chosen
from ctxfold.decisions.intent.plan import planned
from ctxfold.decisions.intent.selections import OVERHEAD, resolved, selections_of
from ctxfold.decisions.intent.told import told, wishes
from ctxfold.decisions.intent.triggers import Trigger, folded, newest_fold
from ctxfold.errors import InputError
from ctxfold.prompts import prompt
from ctxfold.session.evidence import Sources, since
from ctxfold.session.handle import Handle
from ctxfold.session.history.intents import next_constraint, put_extraction, put_intent
from ctxfold.store.protocol import Writing
from ctxfold.text.values import facts_of
from ctxfold.tokens import count
from ctxfold.workspace.by import By, Decider
from ctxfold.workspace.intent import Cause, Extract, Extraction, Intent, IntentChange, Item, Said
from ctxfold.workspace.workspace import Workspace

__all__ = ["ASKED", "Selections", "Todo", "Wanted", "extracted", "plan"]

Todo = Sequence[str | Mapping[str, Any]]
"""A to-do as it is given: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`."""
Selections = Sequence[Mapping[str, Any]]
"""What to extract as it is given: `{"ref", "why"?, "todo"?, "path"?, "facts"?}`."""

ASKED: Cause = "asked for"
"""The cause of what nobody but the caller called for."""

_SEARCHED = 24
_LEAST = 16
_RECENT = 4
"""Blocks at the end in which the assistant's last words are looked for: the user may have said yes to them."""


def plan(
    tx: Writing, now: Handle, summary: str | None, todo: Todo | None, by: By, trigger: Trigger | None = None
) -> Intent:
    """Set the intent of a branch: by what was given, and for the rest by the user's words and the deeds since the last plan.

    Raises:
        InputError: a to-do that cannot be read, an unknown item, or a state that nothing shows.
    """
    if summary is not None and not summary.strip():
        raise InputError("an empty summary says nothing; leave it out to keep the one there is")
    given = None if todo is None else wishes(todo)
    place = now.place(tx)
    before = place.workspace.intent
    upto = before.looked if trigger else before.read
    events, read = since(tx, place.session, place.state.tip, upto)
    embedded = planned(before, events, next_constraint(tx, place.session), todo=given is None)
    change = replace(embedded, read=read)
    outside = by.decider != "embedded" and _untrusted(place.workspace)
    if given is not None:
        items = told(before, given, Sources(tx, place.session), events, untrusted=outside)
        change = replace(change, items=items)
    if summary is not None:
        change = replace(change, course=(Said("", "told", summary.strip(), outside),), afresh=True)
    decider: Decider = "embedded" if summary is None and given is None else by.decider
    now.looked = read
    if change.nothing or (change.afresh and _same(before, change)):
        return before
    said = (decider, by.reason or _cause(change))
    after = put_intent(tx, place.session, place.head, place.state, before, change, said)
    intent = set_intent(before, change)
    now.intends(after, intent)
    return intent


def _same(before: Intent, change: IntentChange) -> bool:
    return before.course == change.course and not change.items and not change.constraints


def _cause(change: IntentChange) -> str:
    turned = {said.cue for said in change.course} & {"changed", "cancelled", "returned"}
    if turned:
        return f"intent change: {', '.join(sorted(turned))}"
    if change.afresh:
        return "told"
    return "new words" if change.course else "evidence"


def _untrusted(workspace: Workspace) -> bool:
    return workspace.older is not None or any(line.untrusted for block in workspace.blocks for line in block.lines)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to extract.

    Attributes:
        need: what is wanted, in words; None for what the intent is about.
        selections: the lines that were chosen; None lets the log be searched.
        budget: o200k tokens that all of it may cost.
        trigger: what called for it: what stands in the view is left out then, and what was asked for stays. None where somebody asked.
    """

    need: str | None = None
    selections: Selections | None = field(default=None, hash=False)
    budget: int = 400
    trigger: Trigger | None = None


def extracted(tx: Writing, now: Handle, wanted: Wanted, by: By) -> Extraction:
    """Put lines of the log at the end of the view: those that were chosen, or those that serve the intent.

    Raises:
        InputError: selections that cannot be read, or of which none names lines that are there; nothing is changed then.
    """
    if wanted.budget < _LEAST:
        raise InputError(f"an extraction needs a budget of at least {_LEAST} tokens; 400 is usual")
    place = now.place(tx)
    workspace, intent = place.workspace, place.workspace.intent
    log = Sources(tx, place.session)
    made = Extraction((), cause_of(workspace, wanted), " ".join((wanted.need or "").split()))
    if wanted.selections is not None:
        items = frozenset(item.id for item in intent.items)
        done = resolved(selections_of(wanted.selections), log, items, wanted.budget)
        if not done.extracts:
            raise InputError(f"nothing was extracted: {'; '.join(done.omitted[:3]) or 'no selection was given'}"[:400])
        counts, omitted = tuple(sorted(done.counts.items())), tuple(done.omitted[:40])
        made = replace(made, extracts=tuple(done.extracts), counts=counts, omitted=omitted)
    else:
        made = replace(made, extracts=_embedded(log, workspace, wanted))
    tokens = sum(count(each.text) + OVERHEAD for each in made.extracts)
    before = intent.extraction
    asked = wanted.trigger is None or (before is not None and before.asked and before.extracts[:1] == made.extracts[:1])
    made = replace(made, tokens=tokens, hint=_hint(intent.open), seen=newest_fold(workspace), asked=asked)
    decider: Decider = "embedded" if wanted.selections is None else by.decider
    now.pressed = made.seen
    if made.extracts == intent.extracts and (wanted.trigger is not None or not made.extracts):
        return made
    said = (decider, by.reason or made.cause)
    after = put_extraction(tx, place.session, place.head, place.state, intent, made, said)
    now.intends(after, extract(intent, made))
    return made


def _embedded(log: Sources, workspace: Workspace, wanted: Wanted) -> tuple[Extract, ...]:
    intent, need = workspace.intent, wanted.need
    said = [line.text.partition(" ")[2] for block in workspace.blocks for line in block.lines if line.kind == "user"]
    about = [*(item.text for item in intent.open), *said[-1:], *(each.text for each in intent.binding)]
    if wanted.trigger is not None:
        offered = [line.text for block in workspace.blocks[-_RECENT:] for line in block.lines if line.kind == "say"]
        about = [*said[-1:], *offered[-1:], *about]
    query = "\n".join(part[:2_000] for part in ([need] if need else about or [workspace.goal]))
    found = log.found(
        [query, *(item.text for item in intent.open[:4] if not need)], _SEARCHED, whole=wanted.trigger is None
    )
    if wanted.trigger is None:
        return tuple(chosen(query, found, intent.open, wanted.budget))
    shown = "\n".join(line.text for block in workspace.blocks for line in block.lines)
    fresh = chosen(query, found, intent.open, wanted.budget, shown)
    return _beside(intent, fresh, wanted.trigger)


def _beside(intent: Intent, fresh: Sequence[Extract], trigger: Trigger) -> tuple[Extract, ...]:
    """What a trigger found, beside what somebody asked for; where it found nothing and the intent is as it was, what stood there stays."""
    before = intent.extraction
    if before is None:
        return tuple(fresh)
    changed = trigger.cause == "intent change"
    stays = (before.asked and not (fresh and changed)) or not (fresh or changed)
    kept = before.extracts if stays else ()
    known = {each.ref for each in kept}
    return (*kept, *(each for each in fresh if each.ref not in known))


def cause_of(workspace: Workspace, wanted: Wanted) -> Cause:
    """Why something is extracted now: the trigger's word; else what is needed stands nowhere in the cover, the intent changed, or the cover was folded."""
    if wanted.trigger is not None:
        return wanted.trigger.cause
    need = wanted.need
    if need:
        shown = "\n".join(line.text for block in workspace.blocks for line in block.lines).lower()
        if any(fact.lower() not in shown for fact in facts_of(f". {need}")):
            return "unresolved reference"
    course = workspace.intent.course
    if course and course[-1].cue in ("changed", "cancelled", "returned"):
        return "intent change"
    return "budget pressure" if folded(workspace) and not need else "asked for"


def _hint(items: Sequence[Item]) -> str:
    """What the next act should heed."""
    return prompt("extract_hint", item=items[0].id) if items else ""
