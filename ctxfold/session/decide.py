"""Commits the decisions of a session but folds and memory: plan, extraction, refactoring, goal and branch move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ctxfold.decisions.extraction import (
    OVERHEAD,
    choose_lines,
    resolve_selections,
)
from ctxfold.decisions.refactor import (
    Case,
    Operator,
    Refactored,
    Refactoring,
    check_refactoring,
    refactor,
)
from ctxfold.decisions.refactor.operators import apply_rules, apply_text, clean_text, route
from ctxfold.decisions.register import PlanGiven, resolve_plan, set_intent
from ctxfold.errors import InputError, RefactorRefusal
from ctxfold.prompts import prompt
from ctxfold.session.branches import Move, RankedBranch, check_wish, move, rank_branches
from ctxfold.session.branches import Wish as BranchWish
from ctxfold.session.commits import Happened, advance
from ctxfold.session.handle import Handle
from ctxfold.session.record import Branch
from ctxfold.session.register import find_next_constraint, put_extraction, put_intent, put_refactoring, put_refusal
from ctxfold.session.sources import Sources, find_end, read_case
from ctxfold.store.rows import Reading, Writing
from ctxfold.tokens import count
from ctxfold.view.ends import write_guidance
from ctxfold.view.fit import show
from ctxfold.workspace import (
    Action,
    By,
    Decider,
    Extract,
    Extraction,
    Intent,
    Workspace,
)


def move_branch(
    tx: Writing, now: Handle, action: BranchWish, query: str | None, at: int | None, to: str | None, by: By
) -> Move:
    """Move as a host or a model decided; `auto` stays and ranks the branches by likeness to a message.

    Raises:
        InputError: no such move, nothing to compare, or an argument that the move ignores.
        BranchError: an unknown or taken name, or a step that is on no branch.
    """
    check_wish(action, query, at, to)
    place = now.place(tx)
    ranked = _rank(tx, now, query) if action == "auto" else ()
    chosen: Action = "continue" if action == "auto" else action
    head, state = move(tx, place.session, place.head, chosen, at, to, by)
    if head.id != now.branch or chosen == "rename":
        now.go_to(head.id)
    topic = next(topic.name for topic in tx.forest.topics(place.session) if topic.id == head.topic)
    return Move(head.name, topic, state.tip, chosen, by.reason, ranked)


def _rank(tx: Reading, now: Handle, query: str | None) -> tuple[RankedBranch, ...]:
    forest = now.forest(tx)
    message = query or ""
    if query is None and forest.path:
        message, forest = forest.path[-1].said, replace(forest, path=forest.path[:-1])
    if not message.strip():
        raise InputError("nothing to compare the branches with; give the user's message as the query")
    return rank_branches(forest, message)


def set_goal(tx: Writing, now: Handle, goal: str, by: Decider = "host") -> None:
    """Set the goal, or revise it. An empty goal and the same words again change nothing."""
    place = now.place(tx)
    if goal in ("", place.workspace.goals[-1] if place.workspace.goals else ""):
        return
    after = replace(place.state, notes=tx.cover.add_note(place.session, place.state.notes, "goal", goal))
    happened = Happened("noted", {"slot": "goal", "text": goal}, cause="goal", decider=by)
    advance(tx, place.session, place.head, place.state, after, happened)
    now.forget()


Selections = Sequence[Mapping[str, Any]]
"""Lines to extract as callers give them: `{"ref", "why"?, "todo"?, "facts"?}`."""


def set_plan(tx: Writing, now: Handle, given: PlanGiven, by: By, *, is_read: bool = True) -> Intent:
    """Write the goal and the register; without a change nothing is committed. `is_read`: its author knew the log.

    Raises InputError: an unknown id, or a ref of nothing.
    """
    set_goal(tx, now, given.goal, by.decider)
    place = now.place(tx)
    before, tip = place.workspace.intent, place.state.tip
    if given.empty:
        return before
    log, read = Sources(tx, place.session), find_end(tx, place.session, tip) if is_read else before.read
    change = resolve_plan(before, given, log, tip, find_next_constraint(tx, place.session), read)
    if change.empty:
        return before
    after = put_intent(tx, place, change, By(by.decider, by.reason or "asked for"))
    intent = set_intent(before, change)
    now.take_intent(after, intent)
    return intent


_SEARCHED = 24
"""Records that a query of the embedded extractor finds at most."""
_LEAST = 16
"""The least budget of an extraction in o200k tokens: less holds no line with its ref."""


def extract_lines(
    tx: Writing, now: Handle, need: str | None, selections: Selections | None, budget: int, by: By
) -> Extraction:
    """Put lines of the log at the end of the view: those that were chosen, or those nearest to the need.

    Without a `need`, the open items, the latest message and the constraints say what to look for. Raises InputError:
    selections of which none names lines of the log; nothing is changed then.
    """
    if budget < _LEAST:
        raise InputError(f"an extraction needs a budget of at least {_LEAST} tokens; 400 is usual")
    place = now.place(tx)
    workspace, intent = place.workspace, place.workspace.intent
    log = Sources(tx, place.session)
    made = Extraction((), " ".join((need or "").split()))
    if selections is not None:
        items = frozenset(item.id for item in intent.items)
        done = resolve_selections(selections, log, items, budget)
        if not done.extracts:
            raise InputError(f"nothing was extracted: {'; '.join(done.omitted[:3]) or 'no selection was given'}"[:400])
        counts, omitted = tuple(sorted(done.counts.items())), tuple(done.omitted[:40])
        made = replace(made, extracts=tuple(done.extracts), counts=counts, omitted=omitted)
    else:
        made = replace(made, extracts=_find_lines(log, workspace, need, budget))
    made = replace(
        made,
        tokens=sum(count(each.text) + OVERHEAD for each in made.extracts),
        hint=prompt("extract_hint", item=intent.open[0].id) if intent.open else "",
    )
    if made.extracts == intent.extracts == ():
        return made
    who = By("embedded" if selections is None else by.decider, by.reason or "asked for")
    now.take_intent(put_extraction(tx, place, made, who), replace(intent, extraction=made))
    return made


def _find_lines(log: Sources, workspace: Workspace, need: str | None, budget: int) -> tuple[Extract, ...]:
    """The lines that the embedded extractor chooses."""
    intent = workspace.intent
    about = [*(item.text for item in intent.open), workspace.asked, *(each.text for each in intent.binding)]
    query = "\n".join(part[:2_000] for part in ([need] if need else about) if part) or workspace.goal
    queries = [query, *(item.text for item in intent.open[:4] if not need)]
    return tuple(choose_lines(query, log.find(queries, _SEARCHED), budget))


@dataclass(frozen=True, slots=True)
class RefactorWanted:
    """A request to refactor.

    Attributes:
        operator: one of the six, or `auto` for the router's choice.
        text: the text that somebody wrote for it; None for the embedded rules.
    """

    operator: Operator | Literal["auto"]
    text: object
    by: By
    budget: int | None = None

    @property
    def decider(self) -> Decider:
        """The author of the operator's text."""
        return "embedded" if self.text is None else self.by.decider


class Considered(NamedTuple):
    """The outcome of a refactoring before it is committed; `made` is None if none is to be applied."""

    place: Branch
    made: Refactoring | None
    after: Workspace
    result: Refactored


def consider_refactoring(tx: Reading, now: Handle, wanted: RefactorWanted) -> Considered:
    """Compute a refactoring without committing it."""
    place = now.place(tx)
    before = place.workspace
    budget, named = wanted.budget or now.budget(tx), wanted.operator != "auto"
    case = read_case(tx, place, before, budget, now.settings, named)
    try:
        made = _make_refactoring(case, wanted)
    except InputError as refused:
        operator: Operator | Literal["none"] = "none" if wanted.operator == "auto" else wanted.operator
        tokens = (_count_cover(before),) * 2
        values = refused.values if isinstance(refused, RefactorRefusal) else ()
        result = Refactored(operator, False, str(refused), wanted.decider, tokens=tokens, values=values)
        return Considered(place, None, before, result)
    after = refactor(before, made)
    texts = [_show_changed(each, made, before.guidance == after.guidance) for each in (before, after)]
    tokens = (_count_cover(before), _count_cover(after))
    result = Refactored(
        made.operator, True, made.reason, made.decider, made.steps, texts[0], texts[1], tokens, made.marks
    )
    return Considered(place, made, after, result)


def apply_refactoring(tx: Writing, now: Handle, wanted: RefactorWanted) -> Refactored:
    """Refactor; the refusal of a named operator is committed too. A history left alone adds no event."""
    place, made, after, result = consider_refactoring(tx, now, wanted)
    if made is not None:
        state = put_refactoring(tx, place, made, after.guidance, wanted.by.reason)
        now.take_decision(state, after, place.workspace.tokens - after.tokens)
    elif wanted.operator != "auto":
        cause = "; ".join(filter(None, (f"{result.operator} refused: {result.reason}", wanted.by.reason)))
        now.take_decision(put_refusal(tx, place, result.decider, cause), place.workspace)
    return result


def _make_refactoring(case: Case, wanted: RefactorWanted) -> Refactoring:
    """The refactoring, checked. Raises InputError: none may be applied."""
    if wanted.operator == "auto":
        return route(case)
    if wanted.text is None:
        return check_refactoring(case, apply_rules(wanted.operator, case))
    text, marks = clean_text(wanted.text), tuple[str, ...]()
    if wanted.operator != "fact_rectify":
        text, marks = case.evidence().mark(text)
    made = apply_text(wanted.operator, case, text, wanted.by.author)
    return check_refactoring(case, replace(made, decider=wanted.decider, marks=marks))


def _show_guidance(workspace: Workspace) -> str:
    texts = [show(block).text for block in workspace.blocks]
    return write_guidance(workspace.guidance.at(workspace.path_length), texts)


def _count_cover(workspace: Workspace) -> int:
    """o200k tokens of the cover and of the guidance."""
    shown = _show_guidance(workspace)
    return workspace.tokens + (count(shown) if shown else 0)


def _show_changed(workspace: Workspace, made: Refactoring, same_guidance: bool) -> str:
    """What a view shows of the steps and the guidance that a refactoring changes."""
    blocks = [show(block).text for block in workspace.covering(made.steps)]
    return "\n".join(filter(None, (*blocks, "" if same_guidance else _show_guidance(workspace))))
