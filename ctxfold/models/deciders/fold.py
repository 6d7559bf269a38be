"""Asks a model for the summary that takes the place of steps, showing it their log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field

from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.fold.embedded import due, front_of, front_room
from ctxfold.decisions.fold.parse import parse
from ctxfold.errors import FoldError, InputError, StaleDecision
from ctxfold.models.deciders.loop import Kind, Question
from ctxfold.models.deciders.material import known, last_said, log_of, newest_records
from ctxfold.models.protocol import spoken
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.tokens import count
from ctxfold.view.show import addressed
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Block, RawStep, Tile, Workspace, spans

__all__ = ["Consolidate", "Fold", "FoldSummary", "is_due", "micro_due"]

Made = TypeVar("Made")

MICRO, MACRO = 120, 800
"""o200k tokens a model is asked to stay within for one step, and for several."""
LONGEST = 100_000
"""o200k tokens of steps a model is asked about at most; longer stretches are the embedded folder's."""
_BEHIND = 4
"""What a summary that goes on behind an earlier one may take: one part in so many of the room for both."""


class FoldSummary(BaseModel, frozen=True, extra="forbid"):
    """What a model answers: the text that takes the place of the steps."""

    summary: str = Field(min_length=1, max_length=40_000, description="What replaces the steps, in plain sentences.")


_KIND = Kind.of(FoldSummary, "keep", "fold")


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold a stretch that somebody named. `first`: the first step; None for the last alone; `last`: the last step; None for the latest."""

    model: str
    first: int | None = None
    last: int | None = None
    kind: ClassVar[Kind[FoldSummary]] = _KIND

    def ask(self, session: Session) -> Question[FoldSummary, Tile] | str:
        """Ask for a summary of the stretch. Raises FoldError where there is nothing to fold, or a cut through a tile."""
        workspace = session.workspace
        loaded = {step for block in workspace.blocks for step in block.steps}
        if workspace.older is not None and not {self.first, self.last} - {None} <= loaded:
            return "the steps lie too far back"
        blocks = stretch(workspace, self.first, self.last)
        if sum(block.tokens for block in blocks) > LONGEST:
            return "the stretch is too long"
        took = sum(block.tokens for block in blocks)
        most = max(16, min(MICRO if len(blocks) == 1 and len(blocks[0].steps) == 1 else MACRO, took // 2))

        def apply(session: Session, written: FoldSummary) -> Tile:
            _must_stand(session, blocks)
            ends = blocks[0].steps[0], blocks[-1].steps[-1]
            return session.fold(written.summary, *ends, By("model", f"written by {self.model}"))

        return _question(session, workspace, blocks, prompt("fold_wanted_tile", took=took, most=most), apply)

    def fall_back(self, session: Session, why: str) -> Tile:
        """Let the embedded folder fold it."""
        return session.fold(None, self.first, self.last, By("embedded", why))


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Fold older steps where the cover stands above its high-water mark."""

    model: str
    limit: int
    kind: ClassVar[Kind[FoldSummary]] = _KIND

    def ask(self, session: Session) -> Question[FoldSummary, tuple[Tile, ...]] | str:
        """Ask for the summary in front of what is due: for what goes on behind the earlier one while there is room for that, else for all of it anew."""
        workspace, room = session.workspace, front_room(self.limit, session.settings)
        found = due(workspace, self.limit, session.settings) if workspace.older is None else None
        if found is None:
            return "the stretch is too long"
        earlier = front_of(found.blocks)
        behind = earlier is not None and count(earlier.text) + room // _BEHIND <= room
        blocks = [block for block in found.blocks if not (isinstance(block, Tile) and block.front)]
        if not blocks or sum(block.raw for block in blocks if isinstance(block, RawStep)) > LONGEST:
            return "the stretch is too long"
        most = room // _BEHIND if behind else room // 2
        wanted = prompt(f"fold_wanted_{'behind' if behind else 'anew' if earlier else 'first'}", most=most)
        before = [prompt("fold_earlier", earlier=earlier.text)] if earlier else []
        if earlier and not behind:
            before.append(prompt("fold_kept", kept=_beside(found.blocks)))

        def apply(session: Session, written: FoldSummary) -> tuple[Tile, ...]:
            _must_stand(session, found.blocks)
            goes_on = f"{spans([step for block in blocks for step in block.steps])}: {written.summary}"
            text = f"{earlier.text}\n{goes_on}" if earlier and behind else written.summary
            return session.consolidate(self.limit, by=By("model", f"high water, written by {self.model}"), summary=text)

        return _question(session, workspace, blocks, "\n\n".join((*before, wanted)), apply)

    def fall_back(self, session: Session, why: str) -> tuple[Tile, ...]:
        """Let the embedded folder consolidate."""
        return session.consolidate(self.limit, by=By("embedded", f"high water; {why}" if why else "high water"))


def is_due(session: Session, limit: int) -> bool:
    """Whether the cover stands above the high-water mark of a view of `limit` o200k tokens."""
    return due(session.workspace, limit, session.settings) is not None


def micro_due(session: Session) -> int:
    """The step before the latest, where it stands in full, would be worth a tile of its own, and is not what the user's newest words answer; else 0."""
    match session.workspace.blocks:
        case [*_, RawStep(steps=(step,)) as before, latest] if before.tokens > 2 * MICRO:
            return 0 if any(line.kind == "user" for line in latest.lines) else step
        case _:
            return 0


def _beside(blocks: Sequence[Block]) -> str:
    """The lines that stand beside an earlier summary, word for word."""
    fronts = [block for block in blocks if isinstance(block, Tile) and block.front]
    return "\n".join(text for block in fronts for text in addressed(block.lines)) or "none"


def _question(
    session: Session,
    workspace: Workspace,
    blocks: Sequence[Block],
    wanted: str,
    apply: Callable[[Session, FoldSummary], Made],
) -> Question[FoldSummary, Made]:
    """Ask for the summary of blocks, from the log of their steps."""
    steps = tuple(step for block in blocks for step in block.steps)
    now = " ".join(last_said(session, workspace)).strip() or "not said"
    log = log_of(newest_records(session, steps, LONGEST), LONGEST)
    text = prompt("fold_request", steps=spans(steps), wanted=wanted, now=now, text=log, **known(workspace))
    return Question(text, apply, "its length", lambda reply: _in_words(reply, workspace, steps))


def _in_words(reply: str, workspace: Workspace, steps: Sequence[int]) -> Mapping[str, Any]:
    """The arguments of a reply that calls no tool: a directive in its text form, for the steps that were shown, or the tool's call in words. Raises InputError: neither."""
    read = parse(reply, workspace)
    if read.reason is not None:
        raise InputError(f"- {read.reason}")
    if read.directive is None:
        return spoken(read.text, "keep")
    if (read.directive.first_step, read.directive.last_step) != (steps[0], steps[-1]):
        raise InputError(f"- fold {spans(steps)}, the steps you were shown, and no others")
    return {"summary": read.directive.summary}


def _must_stand(session: Session, blocks: Sequence[Block]) -> None:
    """Raise StaleDecision where the blocks are no longer what the model was shown."""
    try:
        now = stretch(session.workspace, blocks[0].steps[0], blocks[-1].steps[-1])
    except FoldError as error:
        raise StaleDecision(f"the steps changed while the fold was written ({error}); fold again") from error
    if [(block.steps, block.lines) for block in now] != [(block.steps, block.lines) for block in blocks]:
        raise StaleDecision("the steps changed while the fold was written; fold again")
