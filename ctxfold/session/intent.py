"""Makes and commits plans and extractions, within the session's write transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxfold.decisions.intent.apply import extract, set_intent
from ctxfold.decisions.intent.checks import OVERHEAD, resolve_selections, selections_given
from ctxfold.decisions.intent.embedded import choose_lines
from ctxfold.decisions.intent.plan import items_given, resolve_plan, statements_given
from ctxfold.decisions.intent.triggers import Trigger, newest_fold
from ctxfold.decisions.intent.values import PlanGiven
from ctxfold.errors import InputError
from ctxfold.prompts import prompt
from ctxfold.session.evidence import Sources, end_of
from ctxfold.session.handle import Handle
from ctxfold.session.history.intents import next_constraint, put_extraction, put_intent
from ctxfold.store.sqlite import Writing
from ctxfold.tokens import count
from ctxfold.workspace.by import By
from ctxfold.workspace.intent import Extract, Extraction, Intent
from ctxfold.workspace.workspace import Workspace

__all__ = ["Selections", "Statements", "Todo", "Wanted", "extracted", "plan", "plan_given"]

Todo = Sequence[str | Mapping[str, Any]]
"""A to-do as it is given: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`."""
Statements = Sequence[str | Mapping[str, Any]]
"""Constraints or decisions as they are given: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}`."""
Selections = Sequence[Mapping[str, Any]]
"""What to extract as it is given: `{"ref", "why"?, "todo"?, "path"?, "facts"?}`."""

_SEARCHED = 24
_LEAST = 16


def plan_given(
    summary: str | None,
    todo: Todo | None,
    constraints: Statements | None,
    decisions: Statements | None,
    goal: str | None = None,
) -> PlanGiven:
    """A plan as a caller gave it. Raises InputError: an empty summary, or entries that cannot be read."""
    if summary is not None and not summary.strip():
        raise InputError("an empty summary says nothing; leave it out to keep the one there is")
    return PlanGiven(
        None if summary is None else summary.strip(),
        () if todo is None else items_given(todo),
        () if constraints is None else statements_given(constraints, "a list of constraints"),
        () if decisions is None else statements_given(decisions, "a list of decisions"),
        (goal or "").strip(),
    )


def plan(tx: Writing, now: Handle, given: PlanGiven, by: By, trigger: Trigger | None = None) -> Intent:
    """Set the intent of a branch by what was given; where that changes nothing, nothing is committed. Raises InputError: an unknown id, or an address where nothing is recorded."""
    place = now.place(tx)
    before, tip = place.workspace.intent, place.state.tip
    if given.nothing:
        return before
    log, read = Sources(tx, place.session), end_of(tx, place.session, tip)
    change = resolve_plan(before, given, log, tip, next_constraint(tx, place.session), read)
    now.looked = max(now.looked, read)
    if change.nothing:
        return before
    said = (by.decider, by.reason or (str(trigger) if trigger else "asked for"))
    after = put_intent(tx, place.session, place.head, place.state, before, change, said)
    intent = set_intent(before, change)
    now.intends(after, intent)
    return intent


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to extract.

    Attributes:
        need: what is wanted, in words; None for what the intent is about.
        selections: the lines that were chosen; None lets the log be searched.
        trigger: what called for it: what stands in the view is left out then, and what was asked for stays. None where somebody asked.
    """

    need: str | None = None
    selections: Selections | None = field(default=None, hash=False)
    budget: int = 400
    trigger: Trigger | None = None


def extracted(tx: Writing, now: Handle, wanted: Wanted, by: By) -> Extraction:
    """Put lines of the log at the end of the view: those that were chosen, or those nearest to what is wanted.

    Raises:
        InputError: selections that cannot be read, or of which none names lines that are there; nothing is changed then.
    """
    if wanted.budget < _LEAST:
        raise InputError(f"an extraction needs a budget of at least {_LEAST} tokens; 400 is usual")
    place = now.place(tx)
    workspace, intent = place.workspace, place.workspace.intent
    log = Sources(tx, place.session)
    cause = wanted.trigger.cause if wanted.trigger is not None else "asked for"
    made = Extraction((), cause, " ".join((wanted.need or "").split()))
    if wanted.selections is not None:
        items = frozenset(item.id for item in intent.items)
        done = resolve_selections(selections_given(wanted.selections), log, items, wanted.budget)
        if not done.extracts:
            raise InputError(f"nothing was extracted: {'; '.join(done.omitted[:3]) or 'no selection was given'}"[:400])
        counts, omitted = tuple(sorted(done.counts.items())), tuple(done.omitted[:40])
        made = replace(made, extracts=tuple(done.extracts), counts=counts, omitted=omitted)
    else:
        made = replace(made, extracts=_found(log, workspace, wanted))
    tokens = sum(count(each.text) + OVERHEAD for each in made.extracts)
    before = intent.extraction
    asked = cause in ("asked for", "compaction") or (
        before is not None and before.asked and before.extracts[:1] == made.extracts[:1]
    )
    hint = prompt("extract_hint", item=intent.open[0].id) if intent.open else ""
    made = replace(made, tokens=tokens, hint=hint, seen=newest_fold(workspace), asked=asked)
    now.pressed = made.seen
    if made.extracts == intent.extracts and (wanted.trigger is not None or not made.extracts):
        return made
    said = ("embedded" if wanted.selections is None else by.decider, by.reason or made.cause)
    after = put_extraction(tx, place.session, place.head, place.state, intent, made, said)
    now.intends(after, extract(intent, made))
    return made


def _found(log: Sources, workspace: Workspace, wanted: Wanted) -> tuple[Extract, ...]:
    """What the embedded extractor finds; for a trigger, beside what somebody asked for."""
    intent, need = workspace.intent, wanted.need
    about = [*(item.text for item in intent.open), workspace.asked, *(each.text for each in intent.binding)]
    query = "\n".join(part[:2_000] for part in ([need] if need else about) if part) or workspace.goal
    queries = [query, *(item.text for item in intent.open[:4] if not need)]
    sources = log.found(queries, _SEARCHED, whole=wanted.trigger is None)
    if wanted.trigger is None:
        return tuple(choose_lines(query, sources, wanted.budget))
    shown = "\n".join(line.text for block in workspace.blocks for line in block.lines)
    fresh = choose_lines(query, sources, wanted.budget, shown)
    before = intent.extraction
    kept = before.extracts if before is not None and (before.asked or not fresh) else ()
    known = {each.ref for each in kept}
    return (*kept, *(each for each in fresh if each.ref not in known))
