"""Folding: the directive, the tile of a written summary with the lines that it keeps, its sub-task, the applier."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field

from ctxfold.errors import FoldError
from ctxfold.log import place_of, spans
from ctxfold.log.lines import Line
from ctxfold.select.pieces import cells_of
from ctxfold.tokens import count_lines, head
from ctxfold.view.fit import demote_lifted, show, write_account
from ctxfold.view.trail import changes_of
from ctxfold.workspace import STANDING, Block, Item, Memory, Origin, Status, Tile, Workspace


class SubTask(BaseModel, frozen=True, extra="forbid"):
    """The sub-task of folded steps, as whoever folds them tells it. What is left out is taken from the evidence."""

    status: Status | None = Field(default=None, description="How it ended. A refused call is failed.")
    goal: str | None = Field(default=None, description="What it was for, if no to-do item says it.")
    outcome: str | None = Field(default=None, description="What came of it, in one sentence.")
    todo: str | None = Field(default=None, description="The to-do item that the steps served, as t3.")

    @property
    def told(self) -> dict[str, Any]:
        """What was given, as `Session.fold` takes it."""
        return self.model_dump(include=set(SubTask.model_fields), exclude_none=True)


class FoldDirective(SubTask, frozen=True, extra="forbid"):
    """Keep `summary` in place of every step from `first_step` to `last_step`."""

    summary: str | None = Field(
        default=None,
        description="What replaces the steps: what was done, found and decided. Omit to let ctxfold write it.",
    )
    first_step: int | None = Field(default=None, ge=1, description="The first step to fold; omit for the latest alone.")
    last_step: int | None = Field(default=None, ge=1, description="The last step to fold; omit for the latest.")

    def reword(self, mend: Callable[[str], str]) -> FoldDirective:
        """Return the directive with its texts passed through `mend`."""
        texts = self.model_dump(include={"summary", "goal", "outcome"}, exclude_none=True)
        return self.model_copy(update={name: mend(text) for name, text in texts.items()})


_UNTOLD = SubTask()


def find_stretch(workspace: Workspace, first: int | None, last: int | None) -> tuple[Block, ...]:
    """Return the blocks from a first step (None for the last alone) to a last one (None for the latest).

    Raises FoldError: nothing to fold, a step that is not on this path, ends in the wrong order, or a cut through a
    tile.
    """
    blocks = workspace.blocks
    if not blocks:
        raise FoldError("nothing to fold yet; record a step first")
    end = len(blocks) - 1 if last is None else _holding(workspace, last)
    start = end if first is None or first == last else _holding(workspace, first)
    if start > end:
        raise FoldError(f"s{first} comes after s{last} on this path; name the earlier step first")
    for step, here, edge in ((first, blocks[start].steps, 0), (last, blocks[end].steps, -1)):
        if step is not None and here[edge] != step:
            fault = f"s{step} lies inside a folded block of {spans(here)}"
            raise FoldError(f"{fault}; fold from s{here[0]} or to s{here[-1]}")
    return blocks[start : end + 1]


def _holding(workspace: Workspace, step: int) -> int:
    """The index of the block that holds a step."""
    at = workspace.holding(step)
    if at is not None:
        return at
    path = spans([step for block in workspace.blocks for step in block.steps])
    older = f"s{workspace.older.first}-s{workspace.older.last}, " if workspace.older else ""
    raise FoldError(f"s{step} is not on this branch, whose steps are {older}{path}; name one of those")


def fold(workspace: Workspace, tile: Tile) -> Workspace:
    """Put a tile in place of the blocks of its steps. Pure. Raises FoldError: those steps are not whole
    blocks of this workspace.
    """
    blocks = find_stretch(workspace, tile.first, tile.last)
    if tuple(step for block in blocks for step in block.steps) != tile.steps:
        raise FoldError(f"the blocks of {spans(tile.steps)} changed; look at the context again and name whole blocks")
    start = workspace.blocks.index(blocks[0])
    after = workspace.blocks[start + len(blocks) :]
    return replace(workspace, blocks=(*workspace.blocks[:start], tile, *after))


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """A memory, the latest step that its author had read, the author, and the values in it that the log lacks.

    `fresh`: o200k tokens of the raw records after that step that are folded into its tile.
    """

    memory: Memory
    as_of: int
    origin: Origin
    marks: tuple[str, ...] = ()
    fresh: int = 0


def find_memory(blocks: Iterable[Block]) -> KeptMemory | None:
    """Return the memory that a tile among the blocks holds; None if nobody wrote one."""
    tiles = (block for block in blocks if isinstance(block, Tile))
    kept = (KeptMemory(tile.memory, tile.as_of, tile.origin, tile.marks, tile.fresh) for tile in tiles if tile.memory)
    return next(kept, None)


def write_tile(
    workspace: Workspace, blocks: Sequence[Block], number: int, summary: str, origin: Origin, given: SubTask = _UNTOLD
) -> Tile:
    """Return the tile of a written summary, with the user's words and the findings of its steps.

    Raises FoldError: the summary is empty, an unknown item of the to-do, or the tile would cost more than its blocks.
    """
    summary = summary.strip()
    if not summary:
        raise FoldError(
            "the summary is empty; say what was done, found and decided, or leave it out to let ctxfold write it"
        )
    lines = keep_words(blocks, workspace.intent.lifted)
    tile = set_sub_task(workspace, blocks, make_tile(blocks, number, summary, lines, origin), given)
    if (kept := find_memory(blocks)) is not None:  # the text becomes a part of the memory, which lives on
        report = "\n".join(filter(None, (kept.memory.report, f"{spans(tile.steps)}: {write_account(tile)}")))
        memory = kept.memory.model_copy(update={"report": report})
        tile = replace(tile, summary="", goal="", outcome="", memory=memory, as_of=kept.as_of, fresh=kept.fresh)
        tile = replace(tile, origin=kept.origin, marks=kept.marks, tokens=show(tile).tokens)
    took, gives = price_blocks(*blocks), price_blocks(tile)
    if gives >= took:
        words = sum(line.tokens for line in lines)
        raise FoldError(
            f"this summary would cost {gives} tokens, {words} of them for the user's words; "
            f"{spans(tile.steps)} costs {took}; shorten it, or fold more steps"
        )
    return tile


def make_tile(
    blocks: Sequence[Block],
    number: int,
    summary: str,
    lines: tuple[Line, ...],
    origin: Origin,
    whole: bool = False,
    status: Status | None = None,
) -> Tile:
    """Return a tile for blocks. `whole`: it keeps every line of them; `status`: None takes it from the evidence."""
    steps = tuple(step for block in blocks for step in block.steps)
    raw = sum(block.raw for block in blocks)
    untrusted = any(line.untrusted for block in blocks for line in block.lines) or any(
        isinstance(block, Tile) and block.untrusted for block in blocks
    )
    children = tuple(block.number for block in blocks if isinstance(block, Tile))
    made = Tile(number, steps, summary, lines, status or status_of(blocks), origin, raw, 0, untrusted, whole, children)
    return replace(made, tokens=show(made).tokens, changed=changes_of(blocks))


def price_blocks(*blocks: Block) -> int:
    """Return the o200k tokens of blocks in a view, with the lines between them."""
    return count_lines(["", *(text for block in blocks for text in show(block).texts), ""])


def status_of(blocks: Sequence[Block]) -> Status:
    """Return how a stretch of the past ended: partial if its last step is not settled."""
    last = blocks[-1]
    is_settled = last.status != "partial" if isinstance(last, Tile) else last.settled
    return "completed" if is_settled else "partial"


_REFUSED = re.compile(
    rf"\b(?:{'|'.join(rf'{code:d}:? {re.escape(code.phrase)}' for code in HTTPStatus if code >= 400)})\b"
    r"|\bHTTP/\S+ [45]\d\d\b|://\S+ \([45]\d\d\)$",
    re.IGNORECASE,
)
"""In the first row of a text: a status line of HTTP (RFC 9110, section 15), or a page's address with its status."""
_FAULTY = re.compile(
    r"(?:is_?)?errors?(?:=(?!null\b|false\b|0\b|\[\]|\{\}|\"\")|: )|(?:exit_?code|return_?code)=(?!0\b|null\b)"
    r"|(?:http_?)?status(?:_?code)?=\"?[45]\d\d\b|(?:ok|success)=false\b",
    re.IGNORECASE,
)
"""In JSON: a key by which JSON-RPC, MCP, HTTP APIs and shells report a failure, with a value that says so."""
_ROW = 500
"""Characters of a row in which a status line is looked for."""


def _is_failure(result: Sequence[Line]) -> bool:
    """Whether the lines of a result report a failure, by structure alone."""
    if (text := result[0].text) and result[0].kind == "text":
        return bool(_REFUSED.search(text.split("\n", 2)[text.startswith("<<")][:_ROW]))
    cells = (cell for row in result if row.depth <= 1 for cell in (row.text.lstrip("< "), *cells_of(row)))
    return any(map(_FAULTY.match, cells))


def find_status(blocks: Sequence[Block]) -> Status:
    """Return how a sub-task ended: partial if its last step is not settled, failed if its last call failed."""
    if status_of(blocks) == "partial":
        return "partial"
    for block in reversed(blocks):
        if isinstance(block, Tile):
            return block.status
        calls = {line.ref for line in block.lines if line.kind == "call"}
        results = [line for line in block.lines if line.kind in ("data", "text") and line.ref not in calls]
        if calls and results:
            return "failed" if _is_failure([line for line in results if line.ref == results[-1].ref]) else "completed"
    return "completed"


_STATUSES: dict[str, Status] = {"done": "completed", "dropped": "partial"}
_GOAL = 24
"""o200k tokens of an item's text that a tile shows as its goal."""


def set_sub_task(workspace: Workspace, blocks: Sequence[Block], tile: Tile, given: SubTask = _UNTOLD) -> Tile:
    """Return a tile with the sub-task of its blocks: as somebody told it, else by the to-do and by the evidence.

    Raises FoldError: an unknown item of the to-do.
    """
    items, owners = workspace.intent.items, assign_steps(workspace.blocks, workspace.intent.items)
    served = {owners.get(step, "") for step in tile.steps}
    todo = given.todo or (served.pop() if len(served) == 1 else "")
    item = next((item for item in items if item.id == todo), None)
    if todo and item is None:
        raise FoldError(f"no item {todo!r} in the to-do, which has {', '.join(item.id for item in items) or 'none'}")
    status = given.status or (_STATUSES.get(item.state) if item else None) or find_status(blocks)
    goal = given.goal or (head(item.text, _GOAL) if item and given.told and not item.untrusted else "")
    tile = replace(tile, status=status, todo=todo, goal=goal, outcome=given.outcome or "")
    return replace(tile, tokens=show(tile).tokens)


def assign_steps(blocks: Sequence[Block], items: Sequence[Item]) -> dict[int, str]:
    """Return of each step the id of the to-do item that it served; a step of which nothing is known is left out. Pure.

    A tile names its item. Else an item takes the steps from the one where it was opened, or from earlier evidence, to
    its last evidence, an open one all after it, a closed one without evidence those before the next item. Of several,
    that which ends first, then the one opened last, then the first of the to-do.
    """
    starts, reach = sorted(place_of(item.ref)[0] for item in items), list[tuple[int, int, str]]()
    for item in items:
        start, shown = place_of(item.ref)[0], [int(step) for ref in item.evidence for step in _STEP.findall(ref)]
        end = max(shown, default=next((other for other in starts if other > start), start + 1) - 1)
        reach.append((_NO_END if item.state == "open" else end, -min([start, *shown]), item.id))
    owners = {step: block.todo for block in blocks if isinstance(block, Tile) for step in block.steps if block.todo}
    for step in (step for block in blocks for step in block.steps if step not in owners):
        fits = [each for each in reach if -each[1] <= step <= each[0]]
        owners |= {step: min(fits, key=lambda each: each[:2])[2]} if fits else {}
    return owners


_STEP = re.compile(r"\bs(\d{1,12})")
_NO_END = 2**63
"""The end of an item that is open: no step is beyond it."""


def describe_items(workspace: Workspace) -> str:
    """Return which steps served which items of the to-do, open ones first: `t2 open: s7-s12; t1 done: s2-s6`."""
    items = workspace.intent.items
    owners = assign_steps(workspace.blocks, items)
    served = ((item, [step for step, name in owners.items() if name == item.id]) for item in items)
    told = [(item.state, f"{item.id} {item.state}: {spans(steps)}") for item, steps in served if steps]
    return "; ".join(text for _, text in sorted(told, key=lambda each: each[0] != "open"))


def keep_words(blocks: Sequence[Block], lifted: frozenset[str] = frozenset()) -> tuple[Line, ...]:
    """Return the lines that are kept beside a summary: the user's words and the findings that hold.

    `lifted`: findings that no longer hold.
    """
    lines = (line for block in blocks for line in demote_lifted(block.lines, lifted))
    return tuple(line for line in lines if line.kind in STANDING)
