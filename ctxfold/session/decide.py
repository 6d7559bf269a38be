"""Commits fold, memory, plan, extract, refactor, goal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ctxfold.decisions.branch import BranchMove, Move, RankedBranch, check_wish, ranked
from ctxfold.decisions.branch import Wish as BranchWish
from ctxfold.decisions.fold import FoldDirective, fold, stretch, told_tile
from ctxfold.decisions.marks import check_summary, invented, known_texts
from ctxfold.decisions.memory import Front, due, embedded_tile, front_of, front_room, micro_tile
from ctxfold.decisions.refactor import OPERATORS, Case, Operator, Refactored, Refactoring, Refusal, fault, refactor
from ctxfold.decisions.refactor.embedded import embedded, route
from ctxfold.decisions.refactor.written import plain_text, written
from ctxfold.decisions.register import (
    OVERHEAD,
    PlanGiven,
    Trigger,
    choose_lines,
    extract,
    items_given,
    lost_reference,
    newest_fold,
    pressing,
    resolve_plan,
    resolve_selections,
    selections_given,
    set_intent,
    statements_given,
)
from ctxfold.decisions.register import folded as folded_maintain
from ctxfold.errors import FoldError, InputError
from ctxfold.log import place_of
from ctxfold.prompts import prompt
from ctxfold.session.branches import move
from ctxfold.session.commits import Happened, advance
from ctxfold.session.handle import Handle, Sources, end_of, log_of
from ctxfold.session.load import Outline, put_tile, raw_steps, read_outline, read_tile
from ctxfold.session.record import Branch
from ctxfold.session.register import next_constraint, put_extraction, put_intent, put_refactoring, put_refusal
from ctxfold.session.validate import as_text
from ctxfold.store.rows import Path, Reading, Writing
from ctxfold.tokens import count
from ctxfold.view.fit import show
from ctxfold.view.render import query_of
from ctxfold.workspace import (
    HEADER,
    Block,
    By,
    Decider,
    Extract,
    Extraction,
    Intent,
    RawStep,
    Tile,
    Workspace,
    shown_guidance,
)


def branched(
    tx: Writing, now: Handle, action: BranchWish, query: str | None, where: tuple[int | None, str | None], by: By
) -> Move:
    """Go where a host or a model says; for `auto` stay, and say which branches a message is like.

    Raises:
        InputError: no such move, nothing to compare, or a message, step or name that the move has no use for.
        BranchError: an unknown or taken name, or a step that is on no branch.
    """
    at, to = where
    check_wish(as_text(action), query, at, to)
    place = now.place(tx)
    found = _ranked(tx, now, query) if action == "auto" else ()
    wish = BranchMove("continue" if action == "auto" else action, at, to, by.reason, by.decider)
    head, state = move(tx, place.session, place.head, wish)
    if head.id != now.branch or wish.action == "rename":
        now.stand(head.id)
    topic = next(topic.name for topic in tx.forest.topics(place.session) if topic.id == head.topic)
    return Move(head.name, topic, state.tip, wish.action, wish.reason, found)


def _ranked(tx: Reading, now: Handle, query: str | None) -> tuple[RankedBranch, ...]:
    """The branches by likeness to a message, or to the user's last words where none is given. Raises InputError: there is no message."""
    forest = now.forest(tx)
    message = query or ""
    if query is None and forest.path:
        message, forest = forest.path[-1].said, replace(forest, path=forest.path[:-1])
    if not message.strip():
        raise InputError("nothing to compare the branches with; give the user's message as the query")
    return ranked(forest, message)


REACH = 4
"""Times the budget of a view that is opened, in o200k tokens of lines, newest first; what lies before stays folded. Recorded conversations lose
nothing by it that opening all of them would keep; a long session in code at a very small budget loses a few values."""
_CHUNK = 16
"""Steps that are read at once."""


def unfolded(tx: Reading, session: int, workspace: Workspace, blocks: Sequence[Block], reach: int) -> tuple[Block, ...]:
    """Blocks of the same steps with the tiles among them opened: the steps they were made of, and the tiles inside them that somebody wrote.

    `reach`: o200k tokens of lines to open, and at most one chunk of steps more. Of a tile that reaches further back, the older steps are one block
    of what it kept of them. Raises CorruptStore: something of them does not read back.
    """
    if all(isinstance(block, RawStep) for block in blocks):
        return tuple(blocks)
    path = tx.log.path(session, workspace.blocks[-1].steps[-1])
    opening = _Opening(tx, session, path, frozenset(number for number, _ in workspace.guidance.depths))
    found: list[Block] = []
    spent = 0
    for block in reversed(blocks):
        parts = [block] if isinstance(block, RawStep) else opening.open(block, reach - spent)
        spent += sum(part.tokens for part in parts)
        found += parts
    return tuple(found[::-1])


@dataclass(frozen=True, slots=True)
class _Opening:
    """What tiles are opened from: the log along a path; tiles in `kept` stay closed."""

    tx: Reading
    session: int
    path: Path
    kept: frozenset[int]

    def open(self, tile: Tile, room: int) -> list[Block]:
        """What a tile was made of, newest first, as far as there is room; what it kept of the rest as one block. A summary in front of a tile speaks for
        all that was written inside it, so that is opened too.
        """
        made: list[Block] = []
        within: list[Outline | range] = [Outline.of(tile)]
        while within and room > 0:
            inner = within.pop()
            if isinstance(inner, range):
                steps = self._steps(inner[-_CHUNK:])
                if len(inner) > _CHUNK:
                    within.append(inner[:-_CHUNK])
                made += reversed(steps)
                room -= sum(step.tokens for step in steps)
            elif (inner.written and not tile.front) or inner.number in self.kept:
                made.append(read_tile(self.tx, self.session, inner.number))
                room -= made[-1].tokens
            else:
                within += self._inside(inner)
        return [*made, _rest(tile, made)] if within else made

    def _inside(self, tile: Outline) -> Iterator[Outline | range]:
        """The tiles a tile was made of and the depths of the steps between them, in path order."""
        at = self._depth(tile.first)
        end = at + tile.size
        for number in tile.children:
            child = read_outline(self.tx, self.session, number)
            first = self._depth(child.first)
            if first > at:
                yield range(at, first)
            yield child
            at = first + child.size
        if end > at:
            yield range(at, end)

    def _depth(self, step: int) -> int:
        there = self.tx.log.step(self.session, step)
        return 0 if there is None else there.depth

    def _steps(self, depths: range) -> list[RawStep]:
        steps = self.tx.log.along(self.session, self.path, depths[0], depths[-1])
        return raw_steps(self.tx, self.session, steps)


def _rest(tile: Tile, opened: Sequence[Block]) -> Tile:
    """A tile of the steps that were not opened, with what was kept of them."""
    refs = {line.ref for block in opened for line in block.lines}
    refs |= {block.id for block in opened if isinstance(block, Tile)}
    lines = tuple(line for line in tile.lines if line.ref not in refs and line.kind != "stub")
    steps = tile.steps[: len(tile.steps) - sum(len(block.steps) for block in opened)]
    return replace(
        tile,
        steps=steps,
        lines=lines,
        summary="" if tile.front else tile.summary,
        tokens=HEADER + sum(line.tokens for line in lines),
    )


def folded(tx: Writing, now: Handle, directive: FoldDirective, by: By) -> Tile:
    """Fold what a directive names. A directive without a last step means the latest that this handle has seen.

    Raises:
        FoldError: nothing to fold, a cut through a tile, a summary longer than what it replaces, or one that holds what the log of the steps does not.
    """
    latest = now.seen
    place = now.place(tx, upto=directive.first_step)
    workspace = place.workspace
    blocks = stretch(workspace, directive.first_step, directive.last_step or latest or None)
    empty = [block.steps[0] for block in blocks if isinstance(block, RawStep) and not (block.lines or block.settled)]
    if empty:
        raise FoldError(f"s{empty[0]} shows nothing yet, and what is recorded next stands in it; fold when it has come")
    number = tx.cover.next_tile(place.session)
    if directive.summary is None:
        tile = micro_tile(workspace, blocks, number, now.settings, query_of(workspace))
        return _put(tx, now, place, blocks, tile, By("embedded", by.reason))
    steps = tuple(step for block in blocks for step in block.steps)
    source = [*known_texts(workspace, blocks), *log_of(tx, place.session, steps)]
    check_summary("summary", directive.summary, source, frozenset(steps))
    tile = told_tile(workspace, blocks, number, directive.summary, "model" if by.decider == "model" else "host")
    return _put(tx, now, place, blocks, tile, by)


def consolidated(tx: Writing, now: Handle, limit: int, by: By, summary: str | None = None) -> tuple[Tile, ...]:
    """Fold older steps when the cover stands above its high-water mark. `summary` stands in front of what is chosen of the folded steps; None keeps what was written of them before.

    Raises:
        FoldError: a summary over its room, or one that holds what the log of the steps does not.
    """
    older = now.place(tx).workspace.older
    place = now.place(tx, upto=older.first if older else None)
    batch = due(place.workspace, limit, now.settings)
    if batch is None:
        return ()
    opened = unfolded(tx, place.session, place.workspace, batch.blocks, REACH * limit)
    number = tx.cover.next_tile(place.session)
    front = (
        None
        if summary is None
        else _front(tx, place, batch.blocks, summary.strip(), front_room(limit, now.settings), by)
    )
    tile = embedded_tile(batch, opened, number, limit, query_of(place.workspace), front)
    return () if tile.whole else (_put(tx, now, place, batch.blocks, tile, by),)


def _front(tx: Writing, place: Branch, blocks: Sequence[Block], summary: str, room: int, by: By) -> Front:
    """A summary that may stand in front of blocks. What it says may stand anywhere in their log; that of the newest, which mostly suffices, is read first."""
    costs = count(summary)
    if not summary or costs > room:
        raise FoldError(f"this summary costs {costs} tokens, and its room is {room}; say what matters within that")
    before = front_of(blocks)
    new = summary.removeprefix(before.text) if before else summary
    known = known_texts(place.workspace, blocks)
    steps = tuple(step for block in blocks for step in block.steps)
    fresh = [step for block in blocks if not (isinstance(block, Tile) and block.front) for step in block.steps]
    if invented(new, [*known, *log_of(tx, place.session, fresh)], frozenset(steps)):
        check_summary("summary", new, [*known, *log_of(tx, place.session, steps)], frozenset(steps))
    return Front(summary, "model" if by.decider == "model" else "host")


def _put(tx: Writing, now: Handle, place: Branch, blocks: Sequence[Block], tile: Tile, by: By) -> Tile:
    """Commit a tile in place of blocks, and take it in."""
    after = put_tile(tx, place.session, place.state, tile, (by.decider, by.reason), place.head)
    now.became(after, fold(place.workspace, tile), sum(block.tokens for block in blocks) - tile.tokens)
    return tile


def goal_set(tx: Writing, now: Handle, goal: str, by: Decider = "host") -> None:
    """Note what the session is for; after the first time, a revision of it. The same words again, and none, change nothing."""
    place = now.place(tx)
    if goal in ("", place.workspace.notes[-1].text if place.workspace.notes else ""):
        return
    note = tx.cover.add_note(place.session, place.state.notes, "goal", goal)
    payload = {"slot": "goal", "text": goal}
    advance(
        tx,
        place.session,
        place.head,
        place.state,
        replace(place.state, notes=note),
        Happened("noted", payload, cause="goal", decider=by),
    )
    now.forget()


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


_SHARE, _FEW, _MOST = 3, 64, 400
"""An extraction that nobody asked for takes a third of what the cover leaves of the budget, within these bounds in o200k tokens."""


def room(limit: int, taken: int) -> int:
    """o200k tokens that an extraction of a trigger may take of a view's."""
    return min(max((limit - taken) // _SHARE, _FEW), _MOST)


def triggers(tx: Reading, now: Handle, limit: int, *, taken: bool) -> tuple[Trigger, ...]:
    """Why lines of the log should be extracted now; most often for no reason. `taken`: the caller acts on it, so that this handle names no reason twice."""
    state = now.refresh(tx, reach=limit)
    workspace = now.workspace
    upto = max(workspace.intent.looked, now.looked)
    before, log = workspace.intent.extraction, Sources(tx, now.session)
    seen = max(now.pressed, workspace.intent.passed.seen, 0 if before is None else before.seen)
    found = (
        [
            lost_reference(workspace, lambda line: place_of(line.ref) > upto, lambda name: log.holds(name, upto)),
            pressing(workspace, seen),
        ]
        if folded_maintain(workspace)
        else []
    )
    due = tuple(trigger for trigger in found if trigger is not None)
    if taken or not due:
        now.looked = end_of(tx, now.session, state.tip)
    if taken:
        now.pressed = max(now.pressed, newest_fold(workspace))
    return due


def maintained(tx: Writing, now: Handle, limit: int) -> tuple[Trigger, ...]:
    """Extract for the triggers of the newest revision. Returns them."""
    due = triggers(tx, now, limit, taken=True)
    wanted = extraction_of(due, now.workspace, limit)
    if wanted is not None:
        extracted(tx, now, wanted, By("embedded", str(wanted.trigger)))
    return due


def extraction_of(due: tuple[Trigger, ...], workspace: Workspace, limit: int) -> Wanted | None:
    """The extraction that triggers call for, of which the first counts; None where there is none, or where all of the path stands."""
    if not due or not folded_maintain(workspace):
        return None
    return Wanted(due[0].need or None, None, room(limit, workspace.tokens), due[0])


_HEALTHY = "nothing repeats, and the view stands below its high-water mark"


@dataclass(frozen=True, slots=True)
class Wish:
    """A refactoring as it is asked for. `operator`: which; `auto` for what the router says; `text`: what was written for it, as it was given; None for the embedded rules."""

    operator: Operator | Literal["auto"]
    text: object
    by: By
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Considered:
    """A wish thought through, nothing kept yet. `made`: the refactoring; None where none is to be applied; `after`: the workspace after it."""

    place: Branch
    made: Refactoring | None
    after: Workspace
    result: Refactored


def wish_of(operator: str, text: object, by: By, budget: int | None = None) -> Wish:
    """A wish from what a caller gave. Raises InputError: no such operator, or a text for `auto`."""
    known: tuple[Operator | Literal["auto"], ...] = ("auto", *OPERATORS)
    chosen = next((each for each in known if each == operator), None)
    if chosen is None:
        raise InputError(f"{operator!r} is no operator; use auto or one of {', '.join(OPERATORS)}")
    if chosen == "auto" and text is not None:
        raise InputError(f"a text needs an operator; name one of {', '.join(OPERATORS)}")
    return Wish(chosen, text, by, budget)


def considered(tx: Reading, now: Handle, wish: Wish) -> Considered:
    """What would become of a wish."""
    place = now.place(tx)
    budget, named = wish.budget or now.budget(tx), wish.operator != "auto"
    case = now.trail.case(tx, place.session, place.workspace, budget, now.settings, named)
    made = _made(case, wish)
    if isinstance(made, Refactoring):
        after = refactor(place.workspace, made)
        tokens = (_tokens(place.workspace), _tokens(after))
        before, behind = _shown(place.workspace, after, made)
        result = Refactored(made.operator, True, made.reason, made.decider, made.steps, before, behind, tokens)
        return Considered(place, made, after, result)
    tokens = (_tokens(place.workspace), _tokens(place.workspace))
    operator = "none" if wish.operator == "auto" else wish.operator
    result = Refactored(operator, False, made.reason, _decider(wish), tokens=tokens, values=made.values)
    return Considered(place, None, place.workspace, result)


def refactored(tx: Writing, now: Handle, wish: Wish) -> Refactored:
    """Refactor; where an operator was named and is refused, log why not. A history that the router leaves alone leaves no event."""
    done = considered(tx, now, wish)
    result, place = done.result, done.place
    if done.made is not None:
        state = put_refactoring(tx, place, done.made, done.after.guidance, wish.by.reason)
        now.became(state, done.after, place.workspace.tokens - done.after.tokens)
    elif wish.operator != "auto":
        cause = "; ".join(filter(None, (f"{result.operator} refused: {result.reason}", wish.by.reason)))
        now.became(put_refusal(tx, place, result.decider, cause), place.workspace, 0)
    return result


def _decider(wish: Wish) -> Decider:
    return "embedded" if wish.text is None else wish.by.decider


def _made(case: Case, wish: Wish) -> Refactoring | Refusal:
    """What is to be applied, checked; or why nothing may be."""
    if wish.operator == "auto":
        return route(case) or Refusal(_HEALTHY)
    if wish.text is None:
        made = embedded(wish.operator, case)
    else:
        try:
            text = plain_text(wish.text)
        except InputError as error:
            return Refusal(str(error))
        made = written(wish.operator, case, text, "model" if wish.by.decider == "model" else "host")
    if isinstance(made, Refusal):
        return made
    made = replace(made, decider=_decider(wish))
    return fault(case, made) or made


def _tokens(workspace: Workspace) -> int:
    """o200k tokens of the cover and of what refactorings left beside it."""
    said = _notes(workspace)
    return workspace.tokens + (count(said) if said else 0)


def _notes(workspace: Workspace) -> str:
    texts = [show(block).text for block in workspace.blocks]
    return shown_guidance(workspace.guidance.at(workspace.path_length), texts, 0)


def _shown(before: Workspace, after: Workspace, made: Refactoring) -> tuple[str, str]:
    """What stands in the view for what a refactoring changes, before and after."""
    inside = set(made.steps)
    same = before.guidance == after.guidance

    def shown(workspace: Workspace) -> str:
        blocks = [show(block).text for block in workspace.blocks if not inside.isdisjoint(block.steps)]
        return "\n".join(part for part in (*blocks, "" if same else _notes(workspace)) if part)

    return shown(before), shown(after)
