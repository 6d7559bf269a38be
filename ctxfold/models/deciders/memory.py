"""Asks a model for summaries: of a named stretch, and of the steps of a consolidation; the log as it reads
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count as numbers
from itertools import groupby, takewhile
from math import inf
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field

from ctxfold.decisions.fold import find_stretch
from ctxfold.decisions.memory import TINY, choose_batch, find_memory, is_memory_due, memory_room
from ctxfold.decisions.reply import parse
from ctxfold.errors import FoldError, InputError, RefError, StaleDecision
from ctxfold.log import place_of
from ctxfold.log.lines import AI, NOTE, USER, fence, unposed
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.workspace import Block, By, Memory, MemoryParts, RawStep, Tile, Workspace, spans

_LEAST = 200
"""o200k tokens that a record gets at least when a log is shortened."""
_CHARACTERS = 4
"""Characters of an o200k token, about."""
_REQUEST = 200
"""o200k tokens of the first request that are shown in place of a goal."""
_RECENT = 200
"""The steps at the end of a path that are read for a model."""


def read_records(session: Session, steps: Sequence[int], most: float = inf) -> list[Recalled]:
    """Return the records of steps, in order: the newest, until they hold `most` o200k tokens by their length."""
    found: list[Recalled] = []
    for step in reversed(steps):
        found[:0] = _read_step(session, step)
        if sum(len(each.text) for each in found) > _CHARACTERS * most:
            break
    return found


def _read_step(session: Session, step: int) -> Iterator[Recalled]:
    for k in numbers(1):
        try:
            yield session.recall(f"s{step}.{k}", reading=True)
        except RefError:
            return


def show_log(found: Sequence[Recalled], room: int, longest: int = 0) -> str:
    """Return records for a model, each under its ref, what tools and pages said fenced.

    If they do not fit `room` o200k tokens, the newest are shown, and long ones are cut at their end; `longest`: the
    o200k tokens from which one counts as long, 0 for a share of the room.
    """
    most, left, shown = longest or max(_LEAST, room // max(1, min(len(found), 8))), room, list[str]()
    for each in reversed(found):
        text = each.text[: most * 12]
        if len(text) < len(each.text) or count(text) > most:
            text = f"{head(text, most)} …"
        if each.origin in ("tool", "page"):
            text = f"{each.ref} {fence(each.ref, text)}"
        else:
            speaker = {"user": USER, "assistant": AI, "note": NOTE}.get(each.kind, ">")
            text = f"{each.ref} {speaker} {unposed(text)}"
        left -= count(text) + 1
        if left < 0:
            break
        shown.append(text)
    return "\n".join(reversed(shown))


def split_log(found: Sequence[Recalled], room: int, longest: int) -> list[list[Recalled]]:
    """Return records in parts of about `room` o200k tokens, oldest first; a record counts for `longest` at most."""
    parts: list[list[Recalled]] = []
    left = 0
    for each in found:
        size = min(len(each.text), _CHARACTERS * longest)
        if not parts or size > left:
            parts.append([])
            left = _CHARACTERS * room
        parts[-1].append(each)
        left -= size
    return parts


def list_prose(workspace: Workspace, found: Sequence[Recalled]) -> str:
    """Return the summaries and notes that a refactoring may correct; `found` are the records of the path."""
    tiles = [block for block in workspace.blocks if isinstance(block, Tile) and block.origin != "embedded"]
    texts = [f"b{tile.number}, of {spans(tile.steps)}: {tile.summary}" for tile in tiles if tile.summary]
    texts += [f"{each.ref}: {each.text}" for each in found if each.kind == "note" and each.origin == "model"]
    guidance = workspace.guidance
    return "\n".join([*texts, *(pin.text for pin in (guidance.thought, guidance.key_info) if pin)]) or "none"


def fill_register(workspace: Workspace) -> dict[str, str]:
    """Return the goal and the register as blanks of a prompt; without a goal, the first request."""
    intent = workspace.intent
    lines = (*workspace.words, *(line for block in workspace.blocks for line in block.said))
    first = next((line.text.removeprefix(USER).strip() for line in lines if line.kind == "user"), "")
    request = f"nobody set a goal; the first request was: {head(first, _REQUEST)}" if first else "not said"
    decisions = [each for each in intent.decisions if each.holds]
    return {
        "goal": " / ".join(workspace.goals) or request,
        "todo": "\n".join(f"{item.id} {item.state}: {item.text}" for item in intent.items) or "empty",
        "constraints": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.binding) or "none",
        "decisions": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in decisions) or "none",
    }


def find_last_message(session: Session, workspace: Workspace) -> tuple[str, str]:
    """Return the ref and the exact words of the user's last message; empty if none is loaded."""
    ref = next((line.ref for block in reversed(workspace.blocks) for line in reversed(block.said)), "")
    return ref, session.recall(ref).text if ref else ""


def list_steps(workspace: Workspace) -> tuple[int, ...]:
    """Return the newest steps of the path, in path order."""
    return tuple(step for block in workspace.blocks for step in block.steps)[-_RECENT:]


Made = TypeVar("Made")

_MICRO = 100
"""o200k tokens of a step from which folding it alone saves something."""
MICRO, MACRO = 120, 800
"""o200k tokens of a summary that a model is asked to keep within, for one step and for several."""
_BATCH, _BATCH_SHARE = 60, 0.08
"""o200k tokens of a summary behind the memory: at least, and as a share of its steps."""
LONGEST = 100_000
"""o200k tokens of steps that a model summarises; the embedded folder takes longer stretches."""


class FoldSummary(BaseModel, frozen=True, extra="forbid"):
    """The reply of a model: the text that replaces the steps."""

    summary: str = Field(min_length=1, max_length=40_000, description="What replaces the steps, in plain sentences.")


_KIND = RequestKind.of(FoldSummary, "keep", "fold")


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold a stretch that somebody named; without `first` the last step alone, without `last` up to the latest.

    `limit`: where a due consolidation folds them, o200k tokens of the view; the summary goes on behind the memory.
    """

    model: str
    first: int | None = None
    last: int | None = None
    limit: int = 0
    kind: ClassVar[RequestKind[FoldSummary]] = _KIND

    def ask(self, session: Session) -> ModelQuestion[FoldSummary, Tile] | str:
        """Ask for a summary of the stretch. Raises FoldError: nothing to fold, or a cut through a tile."""
        workspace = session.workspace
        loaded = {step for block in workspace.blocks for step in block.steps}
        if workspace.older is not None and not {self.first, self.last} - {None} <= loaded:
            return "the steps lie too far back"
        blocks = find_stretch(workspace, self.first, self.last)
        took = sum(block.tokens for block in blocks)
        if took > LONGEST:
            return "the stretch is too long"
        memory, most = find_memory(workspace.blocks), max(_BATCH, int(_BATCH_SHARE * took))
        if self.limit == 0 or memory is None or memory.memory is None:
            most = max(16, min(MICRO if len(blocks) == 1 and len(blocks[0].steps) == 1 else MACRO, took // 2))
            wanted = prompt("fold_wanted_tile", took=took, most=most)
        else:
            wanted = prompt("fold_wanted_batch", most=most, open=memory.memory.open, next=memory.memory.next)

        def apply(session: Session, written: FoldSummary) -> Tile:
            _check_unchanged(session, blocks)
            ends = blocks[0].steps[0], blocks[-1].steps[-1]
            return session.fold(written.summary, *ends, By("model", f"written by {self.model}"))

        return _question(session, workspace, blocks, wanted, apply)

    def fall_back(self, session: Session, why: str) -> Tile:
        """Let the embedded folder fold it."""
        return session.fold(None, self.first, self.last, By("embedded", why))


_MEMORY = RequestKind.of(MemoryParts, "remember", "memory")
PART, RECORD = 24_000, 12_000
"""o200k tokens of log in one request for a memory, and of the longest record in it."""
_DENSE = 3.0
"""Characters of an o200k token in a memory, whose ids and numbers are shorter than words."""
_LONG = 1.15
"""How far a memory may exceed its room before it goes back to its author."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory in the making: its text, and the latest step that it tells; the memory in force before the first."""

    memory: Memory | None
    as_of: int


@dataclass(frozen=True, slots=True)
class Remember:
    """Write the memory anew, from the one before and a part of the log since.

    Attributes:
        model: the model's name, for the event.
        limit: o200k tokens of the view.
        steps: the steps of the part.
        before: the memory before them.
        last: whether no part comes after; then the memory is put in place of the steps of a due consolidation.
    """

    model: str
    limit: int
    steps: tuple[int, ...]
    before: Draft
    last: bool
    kind: ClassVar[RequestKind[MemoryParts]] = _MEMORY

    def ask(self, session: Session) -> ModelQuestion[MemoryParts, Draft]:
        """Ask for the nine parts. A memory that is far too long goes back once."""
        workspace, as_of, room = session.workspace, self.steps[-1], memory_room(self.limit)
        batch = choose_batch(workspace, self.limit, session.settings)
        leaving = spans(batch.steps if batch else self.steps)
        before = self.before.memory
        earlier = prompt("memory_before", as_of=self.before.as_of, memory=_show_memory(before)) if before else ""
        log = show_log(read_records(session, self.steps), 2 * PART, RECORD)
        blanks = {"leaving": leaving, "as_of": as_of, "room": room, "characters": int(_DENSE * room)}
        text = prompt("memory_request", before=earlier, log=log, **blanks, **fill_register(workspace))

        def apply(session: Session, written: MemoryParts) -> Draft:
            memory = Memory(**written.model_dump())
            if self.last:
                by = By("model", f"high water, written by {self.model}")
                session.consolidate(self.limit, by=by, memory=memory.model_dump(), as_of=as_of)
            return Draft(memory, as_of)

        words, most = partial(parse_words, tool="remember"), int(_LONG * room)
        return ModelQuestion(text, apply, "its parts", words, _join_parts, room=most, is_rewritten=True)

    def fall_back(self, session: Session, why: str) -> Draft:
        """Let the embedded folder consolidate."""
        session.consolidate(self.limit, by=By("embedded", f"high water; {why}" if why else "high water"))
        return self.before


def _join_parts(written: MemoryParts) -> str:
    return "\n".join(text for _, text in written)


def _show_memory(memory: Memory) -> str:
    """A memory under its headings, for its next author."""
    return "\n".join([*(f"{name}:\n{text}" for name, text in memory.parts), memory.report]).strip()


def plan_memory(session: Session, limit: int) -> tuple[Draft, list[tuple[int, ...]]] | None:
    """Return the memory in force and the steps after it, in parts to be read one by one; None unless it is due."""
    workspace = session.workspace
    batch = choose_batch(workspace, limit, session.settings)
    if batch is None or not is_memory_due(workspace, limit, batch):
        return None
    tile = find_memory(workspace.blocks)
    if tile is None and workspace.older is not None:
        return None  # the oldest steps are not loaded: they are folded first, and the memory is due then
    before = Draft(tile.memory, tile.as_of) if tile else Draft(None, 0)
    closed = [block for block in workspace.blocks if isinstance(block, Tile) or block.settled]
    steps = [step for block in closed for step in block.steps if step > before.as_of]
    part_of = dict[int, int]()  # a step is read with the part that holds its first record
    for number, part in enumerate(split_log(read_records(session, steps), PART, RECORD)):
        for each in part:
            part_of.setdefault(place_of(each.ref)[0], number)
    return before, [tuple(steps) for _, steps in groupby(part_of, key=part_of.__getitem__)]


def plan_batch(session: Session, limit: int) -> tuple[int, int] | None:
    """Return the first and the last step of a due consolidation that a summary behind the memory replaces; None without
    a memory, or at a budget that has no room for summaries behind it.
    """
    batch = choose_batch(session.workspace, limit, session.settings)
    if batch is None or limit < TINY or find_memory(batch.blocks) is None:
        return None
    raw = takewhile(lambda block: isinstance(block, RawStep), reversed(batch.blocks))
    steps = [block.steps[0] for block in raw]
    return (steps[-1], steps[0]) if steps else None


def find_new_tiles(blocks: Sequence[Block], before: Sequence[Block]) -> tuple[Tile, ...]:
    """Return the tiles among blocks that were not there before."""
    known = {block.number for block in before if isinstance(block, Tile)}
    return tuple(block for block in blocks if isinstance(block, Tile) and block.number not in known)


def find_micro(session: Session) -> int:
    """Return the step to fold alone, the one before the latest; 0 without the setting, or where that saves nothing."""
    match session.workspace.blocks if session.settings.micro else ():
        case [*_, RawStep(steps=(step,), settled=True) as before, _] if before.tokens > _MICRO:
            return step
        case _:
            return 0


def _question(
    session: Session,
    workspace: Workspace,
    blocks: Sequence[Block],
    wanted: str,
    apply: Callable[[Session, FoldSummary], Made],
) -> ModelQuestion[FoldSummary, Made]:
    """Ask for the summary of blocks, from the log of their steps."""
    steps = tuple(step for block in blocks for step in block.steps)
    now = " ".join(find_last_message(session, workspace)).strip() or "not said"
    log = show_log(read_records(session, steps, LONGEST), LONGEST)
    text = prompt("fold_request", steps=spans(steps), wanted=wanted, now=now, text=log, **fill_register(workspace))
    words = partial(_in_words, workspace=workspace, steps=steps)
    return ModelQuestion(text, apply, "its length", words, lambda written: written.summary, steps)


def _in_words(reply: str, workspace: Workspace, steps: Sequence[int]) -> Mapping[str, Any]:
    """Read a reply that calls no tool: a directive for the steps that were shown, or the tool's call in words."""
    read = parse(reply, workspace)
    if read.reason is not None:
        raise InputError(f"- {read.reason}")
    if read.directive is None:
        return parse_words(read.text, "keep")
    if (read.directive.first_step, read.directive.last_step) != (steps[0], steps[-1]):
        raise InputError(f"- fold {spans(steps)}, the steps you were shown, and no others")
    return {"summary": read.directive.summary}


def _check_unchanged(session: Session, blocks: Sequence[Block]) -> None:
    """Raise StaleDecision if the blocks are no longer those that the model was shown."""
    try:
        now = find_stretch(session.workspace, blocks[0].steps[0], blocks[-1].steps[-1])
    except FoldError as error:
        raise StaleDecision(f"the steps changed while the fold was written ({error}); fold again") from error
    if [(block.steps, block.lines) for block in now] != [(block.steps, block.lines) for block in blocks]:
        raise StaleDecision("the steps changed while the fold was written; fold again")
