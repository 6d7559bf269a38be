"""Commits the decisions of a session: fold, consolidation, plan, extraction, refactoring, goal and branch move."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ctxfold.decisions.extraction import (
    OVERHEAD,
    choose_lines,
    extract,
    read_selections,
    resolve_selections,
)
from ctxfold.decisions.fold import FoldDirective, FoldSettings, find_stretch, fold, price_blocks, write_tile
from ctxfold.decisions.memory import (
    Batch,
    Written,
    choose_batch,
    find_memory,
    keep_memory,
    make_batch,
    make_past,
    shorten_tile,
    split_blocks,
)
from ctxfold.decisions.refactor import (
    Case,
    Operator,
    Refactored,
    Refactoring,
    RefactorRefusal,
    find_fault,
    refactor,
)
from ctxfold.decisions.refactor.operators import apply_rules, apply_text, clean_text, route
from ctxfold.decisions.register import PlanGiven, resolve_plan, set_intent
from ctxfold.errors import FoldError, InputError, StaleDecision
from ctxfold.prompts import prompt
from ctxfold.session.branches import BranchMove, Move, RankedBranch, check_wish, move, rank_branches
from ctxfold.session.branches import Wish as BranchWish
from ctxfold.session.commits import Happened, advance
from ctxfold.session.handle import Handle
from ctxfold.session.load import put_tile, raw_steps, read_tile
from ctxfold.session.record import Branch
from ctxfold.session.register import find_next_constraint, put_extraction, put_intent, put_refactoring, put_refusal
from ctxfold.session.sources import Sources, find_end, read_case, read_evidence
from ctxfold.store.rows import Reading, Writing
from ctxfold.tokens import Budget, count
from ctxfold.view.ends import write_guidance
from ctxfold.view.fit import show
from ctxfold.view.native import CallLog
from ctxfold.view.render import View, query_of, render
from ctxfold.workspace import (
    HEADER,
    Block,
    By,
    Decider,
    Extract,
    Extraction,
    Intent,
    Memory,
    RawStep,
    Tile,
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
    wish = BranchMove("continue" if action == "auto" else action, at, to, by.reason, by.decider)
    head, state = move(tx, place.session, place.head, wish)
    if head.id != now.branch or wish.action == "rename":
        now.go_to(head.id)
    topic = next(topic.name for topic in tx.forest.topics(place.session) if topic.id == head.topic)
    return Move(head.name, topic, state.tip, wish.action, wish.reason, ranked)


def _rank(tx: Reading, now: Handle, query: str | None) -> tuple[RankedBranch, ...]:
    forest = now.forest(tx)
    message = query or ""
    if query is None and forest.path:
        message, forest = forest.path[-1].said, replace(forest, path=forest.path[:-1])
    if not message.strip():
        raise InputError("nothing to compare the branches with; give the user's message as the query")
    return rank_branches(forest, message)


REACH = 4
"""Lines of folded steps that a consolidation reads anew, in budgets of its view, the newest first.

On recorded conversations this loses nothing against reading all of them; a long coding session at a very small budget
loses a few values.
"""
_CHUNK = 16
"""Steps that are read at once."""
UNSAID = "[not the user's words]"
"""Marks a row of a memory that says what to do and cites no message of the user."""
_STEP = re.compile(r"\bs(\d{1,9})\b")


def open_tiles(
    tx: Reading, session: int, workspace: Workspace, blocks: Sequence[Block], reach: int
) -> tuple[Block, ...]:
    """Return blocks with their tiles opened: the steps they were made of, and the tiles inside that somebody wrote and
    that the memory does not tell.

    Opens about `reach` o200k tokens of lines, the newest; of a tile that holds more, the older steps stay one block.
    Raises CorruptStore.
    """
    if all(isinstance(block, RawStep) for block in blocks):
        return tuple(blocks)
    path = tx.log.path(session, workspace.blocks[-1].steps[-1])
    closed = frozenset(number for number, _ in workspace.guidance.depths)
    memory = find_memory(blocks)
    as_of = 0 if memory is None else memory.as_of

    def depth_of(step: int) -> int:
        row = tx.log.step(session, step)
        return 0 if row is None else row.depth

    def parts_of(tile: Tile) -> Iterator[Tile | range]:
        """The tiles that a tile was made of, and the depths of the steps between them, in path order."""
        at = depth_of(tile.first)
        end = at + len(tile.steps)
        for number in tile.children:
            child = read_tile(tx, session, number)
            first = depth_of(child.first)
            if first > at:
                yield range(at, first)
            yield child
            at = first + len(child.steps)
        if end > at:
            yield range(at, end)

    def open_tile(tile: Tile, room: int) -> list[Block]:
        """The parts of a tile, newest first."""
        made: list[Block] = []
        inside: list[Tile | range] = [tile]
        while inside and room > 0:
            part = inside.pop()
            if isinstance(part, range):
                if len(part) > _CHUNK:
                    inside.append(part[:-_CHUNK])
                depths = part[-_CHUNK:]
                steps = raw_steps(tx, session, tx.log.along(session, path, depths[0], depths[-1]))
                made += reversed(steps)
                room -= sum(step.tokens for step in steps)
            elif (part.summary and part.origin != "embedded" and not part.memory and part.last > as_of) or (
                part.number in closed
            ):
                made.append(part)
                room -= part.tokens
            else:
                inside += parts_of(part)
        return [*made, _keep_rest(tile, made)] if inside else made

    opened: list[Block] = []
    spent = 0
    for block in reversed(blocks):
        parts = [block] if isinstance(block, RawStep) else open_tile(block, reach - spent)
        spent += sum(part.tokens for part in parts)
        opened += parts
    return tuple(opened[::-1])


def _keep_rest(tile: Tile, opened: Sequence[Block]) -> Tile:
    """A tile of the steps that were not opened, with the lines that it kept of them."""
    refs = {line.ref for block in opened for line in block.lines}
    refs |= {block.id for block in opened if isinstance(block, Tile)}
    lines = tuple(line for line in tile.lines if line.ref not in refs and line.kind != "stub")
    steps = tile.steps[: len(tile.steps) - sum(len(block.steps) for block in opened)]
    tokens = HEADER + sum(line.tokens for line in lines)
    return replace(tile, steps=steps, lines=lines, memory=None, as_of=0, fresh=0, tokens=tokens)


def fold_steps(tx: Writing, now: Handle, directive: FoldDirective, by: By) -> Tile:
    """Fold the steps of a directive; without a last step, up to the latest that this handle has seen.

    Raises:
        FoldError: nothing to fold, a cut through a tile, or a summary longer than its steps.
    """
    latest = now.seen
    place = now.place(tx, upto=directive.first_step)
    workspace = place.workspace
    blocks = find_stretch(workspace, directive.first_step, directive.last_step or latest or None)
    empty = [block.steps[0] for block in blocks if isinstance(block, RawStep) and not (block.lines or block.settled)]
    if empty:
        raise FoldError(f"s{empty[0]} is empty yet; fold it when something is recorded in it")
    number = tx.cover.next_tile(place.session)
    if directive.summary is None:
        tile = shorten_tile(workspace, blocks, number, query_of(workspace))
        return _put(tx, now, place, blocks, tile, By("embedded", by.reason))
    steps = tuple(step for block in blocks for step in block.steps)
    summary, marks = read_evidence(tx, place, steps).mark(directive.summary)
    tile = write_tile(workspace, blocks, number, summary, _author(by))
    return _put(tx, now, place, blocks, replace(tile, marks=marks), by)


def consolidate(
    tx: Writing, now: Handle, limit: int, by: By, memory: Memory | None = None, as_of: int | None = None
) -> tuple[Tile, ...]:
    """Fold older steps if the cover is above its high-water mark. Returns the tile that was made, if any.

    `memory`: None keeps the one written before; `as_of`: the latest step that its author had read, None for the latest
    that this handle has shown. Raises StaleDecision: that step is no longer on the path.
    """
    older = now.place(tx).workspace.older
    latest = as_of or now.seen
    place = now.place(tx, upto=older.first if older else None)
    batch = choose_batch(place.workspace, limit, now.settings)
    if batch is None:
        return ()
    if as_of is not None and place.workspace.holding(as_of) is None:
        raise StaleDecision(f"s{as_of} is no longer on this branch; write the memory again")
    written = None if memory is None else _sign(tx, place, memory, latest, by)
    return _fold_past(tx, now, place, batch, limit, by, written)


def put_memory(tx: Writing, now: Handle, limit: int, memory: Memory, upto: int | None, as_of: int, by: By) -> Tile:
    """Put a memory in place of the steps up to `upto`, None for the one before `as_of`, the latest that its author had
    read.

    Raises FoldError: there are no such steps.
    """
    older = now.place(tx).workspace.older
    place = now.place(tx, upto=older.first if older else None)
    blocks = place.workspace.blocks
    end = sum(block.steps[0] <= (as_of - 1 if upto is None else upto) for block in blocks)
    if end == 0:
        raise FoldError("there is nothing before the latest step; record more steps first")
    batch = make_batch(blocks, end, limit, now.settings.of(limit))
    return _fold_past(tx, now, place, batch, limit, by, _sign(tx, place, memory, as_of, by))[0]


def _fold_past(
    tx: Writing, now: Handle, place: Branch, batch: Batch, limit: int, by: By, written: Written | None
) -> tuple[Tile, ...]:
    """Fold a batch into the tile of the past, with a new memory or the one there is, and commit it."""
    opened = open_tiles(tx, place.session, place.workspace, batch.blocks, REACH * limit)
    number, kept = tx.cover.next_tile(place.session), written or keep_memory(batch.blocks)
    tile = make_past(batch, opened, number, limit, query_of(place.workspace), kept)
    return () if tile.whole else (_put(tx, now, place, batch.blocks, tile, by),)


def _sign(tx: Reading, place: Branch, memory: Memory, as_of: int, by: By) -> Written:
    """A memory as it is kept, with marks behind the values that the log lacks, and behind rows that say what to do and
    cite no message of the user.
    """
    cited = {int(step) for step in _STEP.findall("\n".join((memory.wanted, memory.laid_down)))}
    said = {record.step for record in tx.log.records(place.session, sorted(cited)) if record.kind == "user"}

    def mark_rows(text: str) -> str:
        return "\n".join(
            row if not row.strip() or said.intersection(map(int, _STEP.findall(row))) else f"{row} {UNSAID}"
            for row in text.splitlines()
        )

    texts, marks, evidence = dict[str, str](), list[str](), read_evidence(tx, place, ())
    for name, text in memory:
        texts[name], missing = evidence.mark(text)
        marks += missing
        if name in ("wanted", "laid_down"):
            texts[name] = mark_rows(texts[name])
    return Written(Memory(**texts), as_of, _author(by), tuple(marks))


_FULL = 0.95
"""The share of its budget that a filled view takes wherever the log holds that much."""
_FILLS = 3
"""How often a filled view is given more room."""


def fill_view(tx: Reading, now: Handle, workspace: Workspace, budget: Budget, log: CallLog) -> View:
    """Render a view whose past is chosen anew from the log, so that it takes its budget. Commits nothing."""
    view = render(workspace, budget, log)
    if all(isinstance(block, RawStep) for block in workspace.blocks):
        return view
    limit = budget.tokens
    opened = open_tiles(tx, now.session, workspace, workspace.blocks, REACH * limit)
    room = limit - render(replace(workspace, blocks=()), budget).tokens
    for _ in range(_FILLS):
        filled = render(_choose_past(workspace, opened, limit, room, now.settings), budget, log)
        view = filled if filled.tokens >= _FULL * limit or filled.tokens > view.tokens else view
        if filled.tokens >= _FULL * limit:
            break
        room += limit - filled.tokens
    return view


def _choose_past(
    workspace: Workspace, opened: Sequence[Block], limit: int, room: int, settings: FoldSettings
) -> Workspace:
    """A workspace whose older steps are folded anew, from the log, down to a room of o200k tokens."""
    kept = keep_memory(workspace.blocks)
    batch = split_blocks(opened, limit, replace(settings, at=1.0, to=min(room / limit, 0.99)))
    if batch is None or (kept is None and price_blocks(*opened) <= room):
        return replace(workspace, blocks=tuple(opened))
    number = max(block.number for block in workspace.blocks if isinstance(block, Tile))
    tile = make_past(batch, batch.blocks, number, limit, query_of(workspace), kept)
    past = batch.blocks if tile.whole else (tile,)
    return replace(workspace, blocks=(*past, *batch.newest))


def _author(by: By) -> Literal["host", "model"]:
    return "model" if by.decider == "model" else "host"


def _put(tx: Writing, now: Handle, place: Branch, blocks: Sequence[Block], tile: Tile, by: By) -> Tile:
    """Commit a tile in place of blocks."""
    after = put_tile(tx, place.session, place.state, tile, (by.decider, by.reason), place.head)
    now.take_decision(after, fold(place.workspace, tile), sum(block.tokens for block in blocks) - tile.tokens)
    return tile


def set_goal(tx: Writing, now: Handle, goal: str, by: Decider = "host") -> None:
    """Set the goal, or revise it. An empty goal and the same words again change nothing."""
    place = now.place(tx)
    if goal in ("", place.workspace.notes[-1].text if place.workspace.notes else ""):
        return
    after = replace(place.state, notes=tx.cover.add_note(place.session, place.state.notes, "goal", goal))
    happened = Happened("noted", {"slot": "goal", "text": goal}, cause="goal", decider=by)
    advance(tx, place.session, place.head, place.state, after, happened)
    now.forget()


Selections = Sequence[Mapping[str, Any]]
"""Lines to extract as callers give them: `{"ref", "why"?, "todo"?, "facts"?}`."""


def set_plan(tx: Writing, now: Handle, given: PlanGiven, by: By) -> Intent:
    """Write the goal and the register; without a change nothing is committed.

    Raises InputError: an unknown id, or a ref of nothing.
    """
    set_goal(tx, now, given.goal, by.decider)
    place = now.place(tx)
    before, tip = place.workspace.intent, place.state.tip
    if given.empty:
        return before
    log, read = Sources(tx, place.session), find_end(tx, place.session, tip)
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


@dataclass(frozen=True, slots=True)
class ExtractionWanted:
    """A request for lines of the log.

    Attributes:
        need: what to look for, in words; None for the open items, the latest message and the constraints.
        selections: the lines that somebody chose; None searches the log.
        budget: o200k tokens that all of it may cost.
    """

    need: str | None = None
    selections: Selections | None = field(default=None, hash=False)
    budget: int = 400


def extract_lines(tx: Writing, now: Handle, wanted: ExtractionWanted, by: By) -> Extraction:
    """Put lines of the log at the end of the view: those that were chosen, or those nearest to the need.

    Raises InputError: selections of which none names lines of the log; nothing is changed then.
    """
    if wanted.budget < _LEAST:
        raise InputError(f"an extraction needs a budget of at least {_LEAST} tokens; 400 is usual")
    place = now.place(tx)
    workspace, intent = place.workspace, place.workspace.intent
    log = Sources(tx, place.session)
    made = Extraction((), " ".join((wanted.need or "").split()))
    if wanted.selections is not None:
        items = frozenset(item.id for item in intent.items)
        done = resolve_selections(read_selections(wanted.selections), log, items, wanted.budget)
        if not done.extracts:
            raise InputError(f"nothing was extracted: {'; '.join(done.omitted[:3]) or 'no selection was given'}"[:400])
        counts, omitted = tuple(sorted(done.counts.items())), tuple(done.omitted[:40])
        made = replace(made, extracts=tuple(done.extracts), counts=counts, omitted=omitted)
    else:
        made = replace(made, extracts=_find_lines(log, workspace, wanted))
    made = replace(
        made,
        tokens=sum(count(each.text) + OVERHEAD for each in made.extracts),
        hint=prompt("extract_hint", item=intent.open[0].id) if intent.open else "",
    )
    if made.extracts == intent.extracts == ():
        return made
    who = By("embedded" if wanted.selections is None else by.decider, by.reason or "asked for")
    now.take_intent(put_extraction(tx, place, made, who), extract(intent, made))
    return made


def _find_lines(log: Sources, workspace: Workspace, wanted: ExtractionWanted) -> tuple[Extract, ...]:
    """The lines that the embedded extractor chooses."""
    intent, need = workspace.intent, wanted.need
    about = [*(item.text for item in intent.open), workspace.asked, *(each.text for each in intent.binding)]
    query = "\n".join(part[:2_000] for part in ([need] if need else about) if part) or workspace.goal
    queries = [query, *(item.text for item in intent.open[:4] if not need)]
    return tuple(choose_lines(query, log.find(queries, _SEARCHED), wanted.budget))


_HEALTHY = "nothing repeats, and the view is below its high-water mark"


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
    made = _make_refactoring(case, wanted)
    if isinstance(made, RefactorRefusal):
        operator: Operator | Literal["none"] = "none" if wanted.operator == "auto" else wanted.operator
        tokens = (_count_cover(before),) * 2
        result = Refactored(operator, False, made.reason, wanted.decider, tokens=tokens, values=made.values)
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


def _make_refactoring(case: Case, wanted: RefactorWanted) -> Refactoring | RefactorRefusal:
    """The refactoring, checked; or why none may be applied."""
    if wanted.operator == "auto":
        return route(case) or RefactorRefusal(_HEALTHY)
    marks = tuple[str, ...]()
    if wanted.text is None:
        made = apply_rules(wanted.operator, case)
    else:
        try:
            text = clean_text(wanted.text)
        except InputError as error:
            return RefactorRefusal(str(error))
        if wanted.operator != "fact_rectify":
            text, marks = case.evidence().mark(text)
        made = apply_text(wanted.operator, case, text, _author(wanted.by))
    if isinstance(made, RefactorRefusal):
        return made
    made = replace(made, decider=wanted.decider, marks=marks)
    return find_fault(case, made) or made


def _show_guidance(workspace: Workspace) -> str:
    texts = [show(block).text for block in workspace.blocks]
    return write_guidance(workspace.guidance.at(workspace.path_length), texts)


def _count_cover(workspace: Workspace) -> int:
    """o200k tokens of the cover and of the guidance."""
    shown = _show_guidance(workspace)
    return workspace.tokens + (count(shown) if shown else 0)


def _show_changed(workspace: Workspace, made: Refactoring, same_guidance: bool) -> str:
    """What a view shows of the steps and the guidance that a refactoring changes."""
    inside = set(made.steps)
    blocks = [show(block).text for block in workspace.blocks if not inside.isdisjoint(block.steps)]
    return "\n".join(filter(None, (*blocks, "" if same_guidance else _show_guidance(workspace))))
