"""Writes the memory and named folds from the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as numbers
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field

from ctxfold.decisions.fold import find_stretch
from ctxfold.decisions.memory import choose_batch, find_front, front_room
from ctxfold.decisions.reply import parse
from ctxfold.errors import FoldError, InputError, RefError, StaleDecision
from ctxfold.log.lines import AI, NOTE, USER, fence, unposed
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind
from ctxfold.models.protocol import spoken
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.view.fit import address_lines
from ctxfold.workspace import Block, By, RawStep, Tile, Workspace, spans

_LEAST = 200
_CHARACTERS = 4
"""Characters of an o200k token, about."""
_REQUEST = 200
"""o200k tokens of the first request that stand for a goal."""
_RECENT = 200
"""Steps at the end of a path that are read for a model."""


def records(session: Session, steps: Sequence[int]) -> list[Recalled]:
    """Every record of some steps, in order."""
    return [each for step in steps for each in _of_step(session, step)]


def _of_step(session: Session, step: int) -> Iterator[Recalled]:
    for k in numbers(1):
        try:
            yield session.recall(f"s{step}.{k}", reading=True)
        except RefError:
            return


def newest_records(session: Session, steps: Sequence[int], most: int) -> list[Recalled]:
    """The records of the newest of some steps, in order, until they hold some o200k tokens by their length."""
    found: list[Recalled] = []
    for step in reversed(steps):
        found[:0] = _of_step(session, step)
        if sum(len(each.text) for each in found) > _CHARACTERS * most:
            break
    return found


def log_of(found: Sequence[Recalled], room: int) -> str:
    """Records as a model reads them, each under its address, what tools and pages said as data. Where not all fit the room, the newest are shown, long ones cut at their end."""
    most, left, shown = max(_LEAST, room // max(1, min(len(found), 8))), room, list[str]()
    for each in reversed(found):
        text = _posed(each, _cut(each.text, most))
        left -= count(text) + 1
        if left < 0:
            break
        shown.append(text)
    return "\n".join(reversed(shown))


def in_parts(found: Sequence[Recalled], room: int, longest: int) -> list[list[Recalled]]:
    """Records in parts of about `room` o200k tokens by their length, oldest first; one of more than `longest` is shown in so many."""
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


def _cut(text: str, most: int) -> str:
    kept = text[: most * 12]
    if len(kept) == len(text) and count(text) <= most:
        return text
    return f"{head(kept, most)} …"


def _posed(each: Recalled, text: str) -> str:
    if each.origin in ("tool", "page"):
        return f"{each.ref} {fence(each.ref, text)}"
    speaker = {"user": USER, "assistant": AI, "note": NOTE}.get(each.kind, ">")
    return f"{each.ref} {speaker} {unposed(text)}"


def standing(workspace: Workspace, found: Sequence[Recalled]) -> str:
    """The summaries and notes that a host or a model wrote and a refactoring may correct, as they stand; `found` are the records of the path."""
    tiles = [block for block in workspace.blocks if isinstance(block, Tile) and block.origin != "embedded"]
    told = [f"b{tile.number}, of {spans(tile.steps)}: {tile.summary}" for tile in tiles if tile.summary]
    told += [f"{each.ref}: {each.text}" for each in found if each.kind == "note" and each.origin == "model"]
    guidance = workspace.guidance
    return "\n".join([*told, *(pin.text for pin in (guidance.thought, guidance.key_info) if pin)]) or "none"


def _goal(workspace: Workspace) -> str:
    """What a session is for: the goal with its revisions, or the first request where nobody set one."""
    lines = (*workspace.words, *(line for block in workspace.blocks for line in block.lines))
    first = next((line.text for line in lines if line.kind == "user"), "")
    said = (
        f"nobody set a goal; the first request was: {head(first.removeprefix(USER).strip(), _REQUEST)}"
        if first
        else "not said"
    )
    return " / ".join(note.text for note in workspace.notes) or said


def known(workspace: Workspace) -> dict[str, str]:
    """The goal and the register, as blanks of a prompt."""
    intent = workspace.intent
    return {
        "goal": _goal(workspace),
        "todo": "\n".join(f"{item.id} {item.state}: {item.text}" for item in intent.items) or "empty",
        "constraints": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.binding) or "none",
        "decisions": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.decisions if each.holds)
        or "none",
    }


def last_said(session: Session, workspace: Workspace) -> tuple[str, str]:
    """The user's last message on the path: its record's address and its exact words; empty where none is loaded."""
    refs = (line.ref for block in reversed(workspace.blocks) for line in reversed(block.lines) if line.kind == "user")
    ref = next(refs, "")
    return ref, session.recall(ref).text if ref else ""


def steps_of(workspace: Workspace) -> tuple[int, ...]:
    """The newest steps of the path, in path order."""
    return tuple(step for block in workspace.blocks for step in block.steps)[-_RECENT:]


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


_KIND = RequestKind.of(FoldSummary, "keep", "fold")


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold a stretch that somebody named. `first`: the first step; None for the last alone; `last`: the last step; None for the latest."""

    model: str
    first: int | None = None
    last: int | None = None
    kind: ClassVar[RequestKind[FoldSummary]] = _KIND

    def ask(self, session: Session) -> ModelQuestion[FoldSummary, Tile] | str:
        """Ask for a summary of the stretch. Raises FoldError where there is nothing to fold, or a cut through a tile."""
        workspace = session.workspace
        loaded = {step for block in workspace.blocks for step in block.steps}
        if workspace.older is not None and not {self.first, self.last} - {None} <= loaded:
            return "the steps lie too far back"
        blocks = find_stretch(workspace, self.first, self.last)
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
    kind: ClassVar[RequestKind[FoldSummary]] = _KIND

    def ask(self, session: Session) -> ModelQuestion[FoldSummary, tuple[Tile, ...]] | str:
        """Ask for the summary in front of what is due: for what goes on behind the earlier one while there is room for that, else for all of it anew."""
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
    return choose_batch(session.workspace, limit, session.settings) is not None


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
    return "\n".join(text for block in fronts for text in address_lines(block.lines)) or "none"


def _question(
    session: Session,
    workspace: Workspace,
    blocks: Sequence[Block],
    wanted: str,
    apply: Callable[[Session, FoldSummary], Made],
) -> ModelQuestion[FoldSummary, Made]:
    """Ask for the summary of blocks, from the log of their steps."""
    steps = tuple(step for block in blocks for step in block.steps)
    now = " ".join(last_said(session, workspace)).strip() or "not said"
    log = log_of(newest_records(session, steps, LONGEST), LONGEST)
    text = prompt("fold_request", steps=spans(steps), wanted=wanted, now=now, text=log, **known(workspace))
    return ModelQuestion(text, apply, "its length", lambda reply: _in_words(reply, workspace, steps))


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
        now = find_stretch(session.workspace, blocks[0].steps[0], blocks[-1].steps[-1])
    except FoldError as error:
        raise StaleDecision(f"the steps changed while the fold was written ({error}); fold again") from error
    if [(block.steps, block.lines) for block in now] != [(block.steps, block.lines) for block in blocks]:
        raise StaleDecision("the steps changed while the fold was written; fold again")
