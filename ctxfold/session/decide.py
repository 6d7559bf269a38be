"""Commits the decisions of a session but folds and memory: plan, extraction, refactoring, goal and branch move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ctxfold.decisions.extraction import (
    OLDER,
    OLDER_SHARE,
    OVERHEAD,
    PARTS,
    Material,
    choose_lines,
    choose_rows,
    number_rows,
    resolve_selections,
    split_rows,
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
from ctxfold.messages.apis import describe_tools
from ctxfold.session.branches import Move, RankedBranch, check_wish, move, rank_branches
from ctxfold.session.branches import Wish as BranchWish
from ctxfold.session.commits import Happened, advance
from ctxfold.session.handle import Handle
from ctxfold.session.record import Branch
from ctxfold.session.register import (
    find_next_constraint,
    find_read,
    put_extraction,
    put_intent,
    put_refactoring,
    put_refusal,
)
from ctxfold.session.sources import Place, Sources, find_end, read_case, read_evidence
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import State
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
    if goal not in ("", place.workspace.goals[-1] if place.workspace.goals else ""):
        _put_note(tx, place, "goal", goal, by)
        now.forget()


def set_tools(tx: Writing, now: Handle, tools: Sequence[Any]) -> None:
    """Keep the names and descriptions of the agent's tools, on all branches. Raises InputError: no definitions."""
    place, text = now.place(tx), "\n".join(describe_tools(tools))
    if text != tx.cover.newest_note(place.session, "tools"):
        now.take_decision(_put_note(tx, place, "tools", text, "host"), place.workspace)


def _put_note(tx: Writing, place: Branch, slot: str, text: str, by: Decider) -> State:
    after = replace(place.state, notes=tx.cover.add_note(place.session, place.state.notes, slot, text))
    happened = Happened("noted", {"slot": slot, "text": text}, cause=slot, decider=by)
    return advance(tx, place.session, place.head, place.state, after, happened)


Selections = Sequence[Mapping[str, Any]]
"""Lines to extract as callers give them: `{"ref", "why"?, "todo"?, "facts"?, "constraints"?}`."""


def set_plan(tx: Writing, now: Handle, given: PlanGiven, by: By, read: Place | None = None) -> Intent:
    """Write the goal and the register. Without a change nothing is committed, but how far a model has read.

    `read`: the last record that its author knew, None for the newest. Lines that were extracted for a goal go when it
    is revised. Raises InputError: an unknown id, or a ref of nothing.
    """
    goals = now.place(tx).workspace.goals
    set_goal(tx, now, given.goal, by.decider)
    place = now.place(tx)
    before, tip = place.workspace.intent, place.state.tip
    made = before.extraction
    if goals and place.workspace.goals != goals and made and (made.extracts or made.hint):
        before = replace(before, extraction=Extraction(()))
        now.take_intent(put_extraction(tx, place, Extraction(()), by), before)
        place = now.place(tx)
    if given.empty and by.decider != "model":
        return before
    log, known = Sources(tx, place.session), read or find_end(tx, place.session, tip)
    change = resolve_plan(before, given, log, tip, find_next_constraint(tx, place.session), max(known, before.read))
    if change.empty and (by.decider != "model" or change.read == before.read):
        return before
    after = put_intent(tx, place, change, By(by.decider, by.reason or "asked for"))
    intent = set_intent(before, change)
    now.take_intent(after, intent)
    return intent


_SEARCHED = 24
"""Records that a query of the embedded extractor finds at most."""
_LEAST = 16
"""The least budget of an extraction in o200k tokens: less holds no line with its ref."""


_HINT = 600
"""Characters of a hint that are kept."""


def extract_lines(
    tx: Writing, now: Handle, asked: Extraction, selections: Selections | None, budget: int, by: By
) -> Extraction:
    """Put lines of the log at the end of the view: those that were chosen, or those nearest to the need.

    `asked`: the need, the hint, and the records that a model has read. Without a need, the open items, the latest
    message and the constraints say where to look. An empty list of selections takes the lines of before away. Raises
    InputError: selections of which none names lines of the log; nothing is changed then.
    """
    if budget < _LEAST:
        raise InputError(f"an extraction needs a budget of at least {_LEAST} tokens; 400 is usual")
    place = now.place(tx)
    intent, log = place.workspace.intent, Sources(tx, place.session)
    made = replace(asked, need=" ".join(asked.need.split()), hint=" ".join(asked.hint.split())[:_HINT])
    if selections is None:
        made = replace(made, extracts=_find_lines(log, place.workspace, asked.need, budget))
    else:
        done = resolve_selections(selections, log, frozenset(item.id for item in intent.open), budget)
        if selections and not done.extracts:
            raise InputError(f"nothing was extracted: {'; '.join(done.omitted[:3])}"[:400])
        counts, omitted = tuple(sorted(done.counts.items())), tuple(done.omitted[:40])
        made = replace(made, extracts=tuple(done.extracts), counts=counts, omitted=omitted)
    before = intent.extraction or Extraction(())
    if not (made.extracts or made.hint or made.read or before.extracts or before.hint):
        return made
    made = _mark_values(tx, place, made)
    made = replace(made, tokens=sum(count(each.text) + OVERHEAD for each in made.extracts))
    who = By("embedded" if selections is None else by.decider, by.reason or "asked for")
    now.take_intent(put_extraction(tx, place, made, who), replace(intent, extraction=made))
    return made


def _mark_values(tx: Reading, place: Branch, made: Extraction) -> Extraction:
    """Mark the values of the hint and of constraints that the log of the session lacks."""
    if not (made.hint or any(each.constraints for each in made.extracts)):
        return made
    mark = read_evidence(tx, place, [step.n for step in tx.log.steps(place.session)]).mark
    extracts = (replace(each, constraints=tuple(mark(text)[0] for text in each.constraints)) for each in made.extracts)
    return replace(made, hint=mark(made.hint)[0], extracts=tuple(extracts))


def _find_lines(log: Sources, workspace: Workspace, need: str, budget: int) -> tuple[Extract, ...]:
    """The lines that the embedded extractor chooses."""
    queries = _list_queries(workspace, need)
    return tuple(choose_lines(queries[0], log.find(queries, _SEARCHED), budget))


def _list_queries(workspace: Workspace, need: str) -> list[str]:
    """The words that are wanted, all together first; the goal where there is nothing else."""
    intent = workspace.intent
    about = [*(item.text for item in intent.open), workspace.asked, *(each.text for each in intent.binding)]
    query = "\n".join(part[:2_000] for part in ([need] if need else about) if part) or workspace.goal
    return [query, *(item.text for item in intent.open[:4] if not need)]


_SEARCHED_OLDER = 240
"""Records with words of a query in which older lines for a model are looked for."""


def list_material(tx: Reading, now: Handle, need: str) -> Material:
    """Return the lines that a model reads before it chooses some, of all branches (U-Fold eq. 6)."""
    place = now.place(tx)
    log, records = Sources(tx, place.session), tx.log.entries_of(place.session)
    fresh = sorted(records[find_read(tx, place.session) :], key=lambda record: (record.step, record.k))
    parts = split_rows([row for record in fresh for row in number_rows(log.read(record))])
    shown, steps = [row for part in parts[-PARTS:] for row in part], tx.log.steps(place.session)
    known, queries = {row.source.ref for row in shown}, _list_queries(place.workspace, need)
    older = [source for source in log.find(queries, _SEARCHED_OLDER) if source.ref not in known]
    near = choose_rows(queries[0], older, max(OLDER, sum(row.tokens for row in shown) // OLDER_SHARE))
    unread = [*(row for part in parts[:-PARTS] for row in part), *(row for row in shown if row.is_cut)]
    left = tuple(sorted({row.source.step for row in unread}))
    return Material(tuple(split_rows([*near, *shown])), left, len(records), tuple(step.n for step in steps))


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
