"""Asks a model for summaries: of a named stretch, and of the steps of a consolidation; the log as it reads
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count as numbers
from math import inf
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field

from ctxfold.decisions.fold import find_stretch
from ctxfold.decisions.memory import choose_batch, find_front, front_room
from ctxfold.decisions.reply import parse
from ctxfold.errors import FoldError, InputError, RefError, StaleDecision
from ctxfold.log.lines import AI, NOTE, USER, fence, unposed
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.view.fit import address_lines
from ctxfold.workspace import Block, By, RawStep, Tile, Workspace, spans

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


def show_log(found: Sequence[Recalled], room: int) -> str:
    """Return records for a model, each under its ref, what tools and pages said fenced.

    If they do not fit `room` o200k tokens, the newest are shown, and long ones are cut at their end.
    """
    most, left, shown = max(_LEAST, room // max(1, min(len(found), 8))), room, list[str]()
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
        "goal": " / ".join(note.text for note in workspace.notes) or request,
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

MICRO, MACRO = 120, 800
"""o200k tokens of a summary that a model is asked to keep within, for one step and for several."""
LONGEST = 100_000
"""o200k tokens of steps that a model summarises; the embedded folder takes longer stretches."""
_BEHIND = 4
"""A summary that continues an earlier one gets one part in so many of the room for both."""


class FoldSummary(BaseModel, frozen=True, extra="forbid"):
    """The reply of a model: the text that replaces the steps."""

    summary: str = Field(min_length=1, max_length=40_000, description="What replaces the steps, in plain sentences.")


_KIND = RequestKind.of(FoldSummary, "keep", "fold")


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold a stretch that somebody named; without `first` the last step alone, without `last` up to the latest."""

    model: str
    first: int | None = None
    last: int | None = None
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
        most = max(16, min(MICRO if len(blocks) == 1 and len(blocks[0].steps) == 1 else MACRO, took // 2))

        def apply(session: Session, written: FoldSummary) -> Tile:
            _check_unchanged(session, blocks)
            ends = blocks[0].steps[0], blocks[-1].steps[-1]
            return session.fold(written.summary, *ends, By("model", f"written by {self.model}"))

        return _question(session, workspace, blocks, prompt("fold_wanted_tile", took=took, most=most), apply)

    def fall_back(self, session: Session, why: str) -> Tile:
        """Let the embedded folder fold it."""
        return session.fold(None, self.first, self.last, By("embedded", why))


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Fold older steps, with the cover above its high-water mark."""

    model: str
    limit: int
    kind: ClassVar[RequestKind[FoldSummary]] = _KIND

    def ask(self, session: Session) -> ModelQuestion[FoldSummary, tuple[Tile, ...]] | str:
        """Ask for the summary in front: to continue the earlier one while there is room, else for all of it anew."""
        workspace, room = session.workspace, front_room(self.limit, session.settings)
        found = choose_batch(workspace, self.limit, session.settings) if workspace.older is None else None
        if found is None:
            return "the stretch is too long"
        earlier = find_front(found.blocks)
        behind = earlier is not None and count(earlier.text) + room // _BEHIND <= room
        blocks = [block for block in found.blocks if not (isinstance(block, Tile) and block.front)]
        if not blocks or sum(block.raw for block in blocks if isinstance(block, RawStep)) > LONGEST:
            return "the stretch is too long"
        most = room // _BEHIND if behind else room // 2
        wanted = prompt(f"fold_wanted_{'behind' if behind else 'anew' if earlier else 'first'}", most=most)
        before = [prompt("fold_earlier", earlier=earlier.text)] if earlier else []
        if earlier and not behind:
            fronts = (block for block in found.blocks if isinstance(block, Tile) and block.front)
            kept = [text for block in fronts for text in address_lines(block.lines)]
            before.append(prompt("fold_kept", kept="\n".join(kept) or "none"))

        def apply(session: Session, written: FoldSummary) -> tuple[Tile, ...]:
            _check_unchanged(session, found.blocks)
            goes_on = f"{spans([step for block in blocks for step in block.steps])}: {written.summary}"
            text = f"{earlier.text}\n{goes_on}" if earlier and behind else written.summary
            return session.consolidate(self.limit, by=By("model", f"high water, written by {self.model}"), summary=text)

        return replace(_question(session, workspace, blocks, "\n\n".join((*before, wanted)), apply), steps=())

    def fall_back(self, session: Session, why: str) -> tuple[Tile, ...]:
        """Let the embedded folder consolidate."""
        return session.consolidate(self.limit, by=By("embedded", f"high water; {why}" if why else "high water"))


def is_due(session: Session, limit: int) -> bool:
    """Return whether the cover is above the high-water mark of a view of `limit` o200k tokens."""
    return choose_batch(session.workspace, limit, session.settings) is not None


def find_micro(session: Session) -> int:
    """Return the step to fold alone, or 0: the one before the latest if it is long and the user did not answer it."""
    match session.workspace.blocks:
        case [*_, RawStep(steps=(step,)) as before, latest] if before.tokens > 2 * MICRO:
            return 0 if any(line.kind == "user" for line in latest.lines) else step
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
