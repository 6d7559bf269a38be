"""Asks a model for summaries: of a named stretch, and of the steps of a consolidation; the log as it reads
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, takewhile
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from ctxfold.decisions.fold import KeptMemory, SubTask, describe_items, find_memory, find_stretch
from ctxfold.decisions.memory import CONDENSED, TINY, choose_batch, find_condensable, is_memory_due, memory_room
from ctxfold.decisions.register import PlanWritten
from ctxfold.decisions.reply import parse
from ctxfold.errors import InputError, StaleDecision, Unfit
from ctxfold.log import place_of, spans
from ctxfold.log.lines import AI, NOTE, USER, fence, unposed
from ctxfold.models.deciders.loop import DecisionKind, ModelQuestion, RequestKind, check_values, write_plan
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.workspace import By, Memory, MemoryParts, RawStep, Tile, Workspace

_LEAST = 200
"""o200k tokens that a record gets at least when a log is shortened."""
_CHARACTERS = 4
"""Characters of an o200k token, about."""
_LONGEST_TOKEN = 12
"""Characters of an o200k token at most, on the average of any text: more of a text need not be counted."""
_REQUEST = 200
"""o200k tokens of the first request that are shown in place of a goal."""
_RECENT = 200
"""The steps at the end of a path that are read for a model."""


def show_log(found: Sequence[Recalled], room: int, longest: int = 0) -> str:
    """Return records for a model, each under its ref, what tools and pages said fenced.

    If they do not fit `room` o200k tokens, the newest are shown, and long ones are cut at their end; `longest`: the
    o200k tokens from which one counts as long, 0 for a share of the room.
    """
    most, left, shown = longest or max(_LEAST, room // max(1, min(len(found), 8))), room, list[str]()
    for each in reversed(found):
        text = each.text[: most * _LONGEST_TOKEN]
        if len(text) < len(each.text) or count(text) > most:
            text = f"{head(text, most)} …"
        if each.origin in ("tool", "page"):
            text = f"{each.ref} {fence(each.ref, text)}"
        else:
            speaker = {"user": USER, "assistant": AI, "note": NOTE}.get(each.kind, ">")
            when = (
                f" {datetime.fromtimestamp(each.time, UTC):%a %Y-%m-%d %H:%M}" if speaker == USER and each.time else ""
            )
            text = f"{each.ref}{when} {speaker} {unposed(text)}"
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
        size = min(count(each.text[: longest * _LONGEST_TOKEN]), longest)
        if not parts or size > left:
            parts.append([])
            left = room
        parts[-1].append(each)
        left -= size
    return parts


def fill_register(workspace: Workspace) -> dict[str, str]:
    """Return the goal, its newest two revisions and the register as blanks of a prompt; or else the first request."""
    intent = workspace.intent
    lines = (*workspace.words, *(line for block in workspace.blocks for line in block.said))
    first = next((line.text.removeprefix(USER).strip() for line in lines if line.kind == "user"), "")
    request = f"nobody set a goal; the first request was: {head(first, _REQUEST)}" if first else "not said"
    decisions = [each for each in intent.decisions if each.holds]
    return {
        "goal": " / ".join(dict.fromkeys((workspace.goal, *workspace.goals[-2:]))) or request,
        "todo": "\n".join(f"{item.id} {item.state}: {item.text}" for item in intent.items) or "empty",
        "constraints": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.binding) or "none",
        "decisions": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in decisions) or "none",
    }


def find_last_message(session: Session, workspace: Workspace) -> tuple[str, str]:
    """Return the ref and the exact words of the user's last message; empty if none is loaded."""
    ref = next((line.ref for block in reversed(workspace.blocks) for line in reversed(block.said)), "")
    return ref, session.recall(ref).text if ref else ""


def list_newest_steps(workspace: Workspace) -> tuple[int, ...]:
    """Return the newest steps of the path, in path order."""
    return tuple(step for block in workspace.blocks for step in block.steps)[-_RECENT:]


_MICRO = 100
"""o200k tokens of a step from which folding it alone saves something."""
MICRO, MACRO = 120, 800
"""o200k tokens of a summary that a model is asked to keep within, for one step and for several."""
_BATCH, _BATCH_SHARE = 60, 0.08
"""o200k tokens of a summary behind the memory: at least, and as a share of its steps."""
_TEXT = 32
"""o200k tokens of a text that is asked for, beside the time and the calls of its step."""
LONGEST = 100_000
"""o200k tokens of steps that a model summarises; the embedded folder takes longer stretches."""


class FoldSummary(SubTask, frozen=True, extra="forbid"):
    """The reply of a model: the text that replaces the steps, and their sub-task."""

    summary: str = Field(min_length=1, max_length=40_000, description="What replaces the steps, in plain sentences.")


def _ask_for(session: Session, steps: Sequence[int], wanted: str) -> str:
    """The request for a text in place of steps, or for several."""
    workspace = session.workspace
    now = " ".join(find_last_message(session, workspace)).strip() or "not said"
    log = show_log(session.read_records(steps, reading=True, most=_CHARACTERS * LONGEST), LONGEST)
    blanks = {"steps": spans(steps), "wanted": wanted, "now": now, "text": log, **fill_register(workspace)}
    return prompt("fold_request", **blanks)


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold a stretch that somebody named; without `first` the last step alone, without `last` up to the latest.

    `limit`: where a due consolidation folds them, o200k tokens of the view; the summary goes on behind the memory.
    """

    first: int | None = None
    last: int | None = None
    limit: int = 0
    kind: ClassVar[RequestKind[FoldSummary]] = RequestKind.of(FoldSummary, "keep", "fold")

    def ask(self, session: Session, by: By) -> ModelQuestion[FoldSummary, Tile] | str:
        """Ask for a summary of the stretch. Raises FoldError: nothing to fold, or a cut through a tile."""
        workspace = session.workspace
        loaded = {step for block in workspace.blocks for step in block.steps}
        if workspace.older is not None and not {self.first, self.last} - {None} <= loaded:
            return "the steps lie too far back"
        blocks = find_stretch(workspace, self.first, self.last)
        steps = tuple(step for block in blocks for step in block.steps)
        took, memory = sum(block.tokens for block in blocks), find_memory(workspace.blocks)
        if took > LONGEST:
            return "the stretch is too long"
        if self.limit and memory is not None:
            most, parts = max(_BATCH, int(_BATCH_SHARE * took)), memory.memory
            wanted = prompt("fold_wanted_batch", most=most, open=parts.open, next=parts.next)
        else:
            most = max(16, min(MICRO if len(steps) == 1 else MACRO, took // 2))
            wanted = prompt("fold_wanted_tile", took=took, most=most)

        def apply(session: Session, written: FoldSummary) -> Tile:
            now = session.workspace.covering(steps)
            if [(block.steps, block.lines) for block in now] != [(block.steps, block.lines) for block in blocks]:
                raise StaleDecision("the steps changed while the fold was written; fold again")
            return session.fold(written.summary, steps[0], steps[-1], by, **written.told)

        def check(session: Session, written: FoldSummary) -> None:
            check_values(session, "\n".join(filter(None, (written.outcome, written.summary))), steps)

        words = partial(_in_words, workspace=workspace, steps=steps)
        return ModelQuestion(_ask_for(session, steps, wanted), apply, "its length", words, check)

    def fall_back(self, session: Session, why: str) -> Tile:
        """Let the embedded folder fold it."""
        return session.fold(None, self.first, self.last, By("embedded", why))


class CondensedStep(BaseModel, frozen=True, extra="forbid"):
    """What is kept of one step."""

    step: int = Field(ge=1, description="The number of the step.")
    text: str = Field(min_length=1, max_length=2_000, description="What replaces it.")


class CondensedSteps(BaseModel, frozen=True, extra="forbid"):
    """The reply of a model: a text for each step."""

    steps: tuple[CondensedStep, ...] = Field(min_length=1, description="One entry for each step shown.")


@dataclass(frozen=True, slots=True)
class Condense:
    """Fold each of the last steps alone, all in one request."""

    last: int
    kind: ClassVar[RequestKind[CondensedSteps]] = RequestKind.of(CondensedSteps, "keep", "fold")

    def ask(self, session: Session, by: By) -> ModelQuestion[CondensedSteps, tuple[Tile, ...]] | str:
        """Ask for a text for each step."""
        steps = [step.n for step in find_condensable(session.workspace, session.list_steps()[-self.last :])]
        if not steps:
            return "no step to condense"

        def apply(session: Session, written: CondensedSteps) -> tuple[Tile, ...]:
            return session.condense(by=by, texts={each.step: each.text for each in written.steps})

        def check(session: Session, written: CondensedSteps) -> None:
            for each in written.steps:
                if count(each.text) > CONDENSED:
                    raise Unfit(f"the text of s{each.step} takes {count(each.text)} tokens of {_TEXT}", "its length")
                check_values(session, each.text, [each.step])

        text = _ask_for(session, steps, prompt("fold_wanted_each", most=_TEXT))
        return ModelQuestion(text, apply, "its steps", check=check)

    def fall_back(self, session: Session, why: str) -> tuple[Tile, ...]:
        """Let the embedded folder condense them."""
        return session.condense(self.last, By("embedded", why))


PART, RECORD = 24_000, 12_000
"""o200k tokens of log in one request for a memory, and of the longest record in it."""
_DENSE = 3.0
"""Characters of an o200k token in a memory, whose ids and numbers are shorter than words."""
_LONG = 1.15
"""How far a memory may exceed its room before it goes back to its author."""


class MemoryAndPlan(MemoryParts, frozen=True, extra="forbid"):
    """The nine parts of a memory, and what the log and the newest words change in the register."""

    plan: PlanWritten = Field(default=PlanWritten(), description="What changes in it; nothing if nothing does.")


_MEMORY = RequestKind.of(MemoryParts, "remember", "memory", register="")
_MEMORY_AND_PLAN = RequestKind.of(
    MemoryAndPlan, "remember", "memory", register=prompt("memory_register", rules=prompt("plan_rules"))
)


@dataclass(frozen=True, slots=True)
class Remember:
    """Write the memory anew, from the one before and a part of the log since.

    Attributes:
        plans: whether the reply carries the changes of the register too, in place of a plan of its own.
        limit: o200k tokens of the view.
        leaving: the steps that a due consolidation folds.
        steps: the steps of the part.
        drafts: the memory in force, if any, then one for each part that was read.
        last: whether no part comes after; then the memory is put in place of the steps of a due consolidation.
    """

    limit: int
    leaving: tuple[int, ...]
    steps: tuple[int, ...]
    drafts: list[KeptMemory]
    last: bool
    plans: bool = False

    @property
    def kind(self) -> RequestKind[MemoryParts]:
        """With the register or without."""
        return _MEMORY_AND_PLAN if self.plans else _MEMORY  # type: ignore[return-value]

    def ask(self, session: Session, by: By) -> ModelQuestion[MemoryParts, None]:
        """Ask for the nine parts. A memory that is far too long goes back once."""
        as_of, room = self.steps[-1], memory_room(self.limit)
        earlier = [
            prompt("memory_before", as_of=draft.as_of, memory=_show_memory(draft.memory)) for draft in self.drafts[-1:]
        ]
        records = session.read_records(self.steps, reading=True)
        newer = session.read_records(session.list_steps(as_of), reading=True) if self.plans else []
        read = max(place_of(each.ref) for each in (*records, *newer))
        log = show_log(records, 2 * PART, RECORD)
        if self.plans:
            log += prompt("memory_newer", newer=show_log(newer, 2 * PART, PART) or "nothing")
        blanks = {"leaving": spans(self.leaving), "as_of": as_of, "room": room, "characters": int(_DENSE * room)}
        items = describe_items(session.workspace)
        blanks |= {"items": f"Their steps: {items}" if items else ""}
        register = fill_register(session.workspace)
        text = prompt("memory_request", before="".join(earlier), log=log, **blanks, **register)

        def apply(session: Session, written: MemoryParts) -> None:
            memory = Memory(**written.model_dump(exclude={"plan"}))
            if isinstance(written, MemoryAndPlan):
                write_plan(session, written.plan, by, read)
            if self.last:
                who = By("model", f"high water, {by.reason}")
                session.consolidate(self.limit, by=who, memory=memory.model_dump(), as_of=as_of)
            self.drafts.append(KeptMemory(memory, as_of, "model"))

        def check(_session: Session, written: MemoryParts) -> None:
            tokens, most = count("\n".join(text for _, text in written if isinstance(text, str))), int(_LONG * room)
            if tokens > most:
                raise Unfit(f"it takes {tokens} tokens of {most}: leave out what matters least", "its length")

        return ModelQuestion(text, apply, "its parts", check=check)

    def fall_back(self, session: Session, why: str) -> None:
        """Let the embedded folder consolidate."""
        session.consolidate(self.limit, by=By("embedded", f"high water; {why}" if why else "high water"))


def _show_memory(memory: Memory) -> str:
    """A memory under its headings, for its next author."""
    return "\n".join([*(f"{name}:\n{text}" for name, text in memory.parts), memory.report]).strip()


def plan_folding(session: Session, limit: int, plans: bool = False) -> Sequence[DecisionKind[Any, Any]]:
    """Return the requests of a due consolidation, in order; none if it takes no model.

    A memory that is due is written anew from the steps after the one in force, in parts that are read one by one. Else
    a summary behind the memory replaces the newest raw steps to fold, at a budget that has room for it. `plans`: the
    register is to be written too; the last request for a memory does that if it shows all that no plan has read.
    """
    workspace = session.workspace
    batch, kept = choose_batch(workspace, limit, session.settings), find_memory(workspace.blocks)
    if batch is None or (kept is None and workspace.older is not None):
        return []  # the oldest steps are not loaded: they are folded first, and the memory is due then
    if is_memory_due(workspace, limit, batch):
        drafts = [kept] if kept else []
        closed = [block for block in workspace.blocks if isinstance(block, Tile) or block.settled]
        steps = [step for block in closed for step in block.steps if kept is None or step > kept.as_of]
        part_of = dict[int, int]()  # a step is read with the part that holds its first record
        for number, part in enumerate(split_log(session.read_records(steps, reading=True), PART, RECORD)):
            for each in part:
                part_of.setdefault(place_of(each.ref)[0], number)
        parts = [tuple(steps) for _, steps in groupby(part_of, key=part_of.__getitem__)]
        newer = session.read_records(session.list_steps(parts[-1][-1])) if plans else []
        is_short = sum(count(each.text[: PART * _LONGEST_TOKEN]) for each in newer) <= PART
        plans = plans and is_short and parts[-1][0] <= workspace.intent.read[0] + 1
        last = Remember(limit, batch.steps, parts[-1], drafts, True, plans)
        return [*(Remember(limit, batch.steps, part, drafts, False) for part in parts[:-1]), last]
    raw = [block.steps[0] for block in takewhile(lambda block: isinstance(block, RawStep), reversed(batch.blocks))]
    return [Fold(raw[-1], raw[0], limit)] if raw and limit >= TINY and find_memory(batch.blocks) else []


def find_micro(session: Session) -> int:
    """Return the step to fold alone, the one before the latest; 0 without the setting, or where that saves nothing."""
    match session.workspace.blocks if session.settings.micro else ():
        case [*_, RawStep(steps=(step,), settled=True) as before, _] if before.tokens > _MICRO:
            return step
        case _:
            return 0


def _in_words(reply: str, workspace: Workspace, steps: Sequence[int]) -> Mapping[str, Any]:
    """Read a reply that calls no tool: a directive for the steps that were shown, or the tool's call in words."""
    read = parse(reply, workspace)
    if read.reason is not None:
        raise InputError(f"- {read.reason}")
    if read.directive is None:
        return parse_words(read.text, "keep")
    if (read.directive.first_step, read.directive.last_step) != (steps[0], steps[-1]):
        raise InputError(f"- fold {spans(steps)}, the steps you were shown, and no others")
    return {"summary": read.directive.summary, **read.directive.told}
