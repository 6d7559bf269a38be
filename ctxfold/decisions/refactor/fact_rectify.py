"""`fact_rectify`: put the newer value where prose still says an older one, each edit citing the event it follows; mark what was superseded. It rewrites nothing else.

Source: ACR's fact rectification: the least edits of spans, toward trusted signals; all correct text as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.decisions.fold.consolidate import tile_of
from ctxfold.decisions.refactor.rectify import Edit, Ledger, contradictions
from ctxfold.decisions.refactor.values import Added, Case, Effect, Fact, Outdated, Put, Refactoring, Refusal
from ctxfold.errors import RefError
from ctxfold.log.refs import RecordRef, parse_ref
from ctxfold.tokens import count
from ctxfold.view.ladder import show
from ctxfold.workspace.guidance import Pin, Superseded
from ctxfold.workspace.workspace import Block, Origin, RawStep, Tile

__all__ = ["fact_rectify", "faulty"]

_EDIT = re.compile(r"^\W*(.{1,200}?)\s*=>\s*(.{1,200}?)\s*\((s\d+\.\d+)\)\s*$")
_NAMED = 12
"""Superseded values that are named at most where no prose is at fault."""


@dataclass(frozen=True, slots=True)
class _Prose:
    """A text that may be at fault: the summary of a tile, a note's line in a block, or a pin.

    Attributes:
        text: what it says.
        block: the block it stands in; None for a pin.
        line: the place of its line in the block; -1 for a tile's summary.
        pin: the pin, where it is one.
    """

    text: str
    block: Block | None = None
    line: int = -1
    pin: Pin | None = None


def faulty(case: Case) -> bool:
    """Whether prose contradicts what newer events say."""
    proses = _proses(case)
    ledger = Ledger(case.facts if proses else ())
    return any(contradictions(prose.text, ledger, case) for prose in proses)


def fact_rectify(case: Case, text: str | None, origin: Origin) -> Refactoring | Refusal:
    """Correct prose that newer events contradict.

    Args:
        case: what is looked at.
        text: corrections, one a line: `OLD => NEW (s12.2)`; None finds them.
        origin: who wrote it.

    Returns:
        The corrected tiles and notes with the values that are superseded, or why there are none.
    """
    proses = _proses(case)
    if text is not None:
        edits = _given(case, proses, text)
        if isinstance(edits, str):
            return Refusal("fact_rectify", edits)
        return _applied(case, edits, origin)
    ledger = Ledger(case.facts)
    found = [(prose, contradictions(prose.text, ledger, case)) for prose in proses]
    found = [(prose, edits) for prose, edits in found if edits]
    return _applied(case, found, origin) if found else _marked(case, ledger)


def _proses(case: Case) -> list[_Prose]:
    found: list[_Prose] = []
    for block in case.workspace.blocks[: case.protected]:
        if isinstance(block, Tile) and block.summary and block.origin != "embedded":
            found.append(_Prose(block.summary, block))
        for at, line in enumerate(block.lines):
            if line.kind == "note" and line.ref in case.model_notes:
                found.append(_Prose(line.text, block, at))
    guidance = case.workspace.guidance
    return found + [_Prose(pin.text, pin=pin) for pin in (guidance.thought, guidance.key_info) if pin is not None]


def _given(case: Case, proses: Sequence[_Prose], text: str) -> list[tuple[_Prose, list[Edit]]] | str:
    """The corrections of a text, or why they cannot be made."""
    found: dict[int, list[Edit]] = {}
    for line in filter(str.strip, text.splitlines()):
        parts = _EDIT.match(line)
        if parts is None:
            return "write each correction on a line of its own: OLD => NEW (s12.2)"
        was, now, ref = parts[1].strip("\"'"), parts[2].strip("\"'"), parts[3]
        at = [index for index, prose in enumerate(proses) if was in prose.text]
        if not at:
            return "what is to be corrected stands in no summary and no note"
        if not _tells(case, ref, now):
            return "the event that is cited does not say the new value"
        fact = Fact("", "", now, ref, 0)
        for index in at:
            start = proses[index].text.index(was)
            found.setdefault(index, []).append(Edit(start, start + len(was), was, fact))
    if not found:
        return "no correction is given; write OLD => NEW (s12.2)"
    return [(proses[index], sorted(edits, key=lambda edit: edit.start)) for index, edits in found.items()]


def _tells(case: Case, ref: str, value: str) -> bool:
    try:
        named = parse_ref(ref)
    except RefError:
        return False
    return isinstance(named, RecordRef) and value.lower() in case.read(ref).lower()


def _applied(case: Case, found: Sequence[tuple[_Prose, Sequence[Edit]]], origin: Origin) -> Refactoring | Refusal:
    changed: dict[int, Block] = {}
    effects: list[Effect] = []
    touched = whole = 0
    for prose, edits in found:
        text = _edited(prose.text, edits)
        touched += sum(len(edit.was.split()) for edit in edits)
        whole += len(prose.text.split())
        if prose.pin is not None:
            effects.append(Added(replace(prose.pin, text=text)))
        elif prose.block is not None:
            stands = changed.get(id(prose.block), prose.block)
            changed[id(prose.block)] = _with(stands, prose.line, text)
        effects += [Outdated(_superseded(edit)) for edit in edits]
    blocks = {id(block): block for block in case.workspace.blocks}
    for number, (key, block) in enumerate(changed.items(), case.tile):
        effects.insert(0, Put(_as_tile(block, blocks[key], number, origin)))
    many = len([effect for effect in effects if isinstance(effect, Outdated)])
    reason = "prose says what a newer event contradicts" + (f", {many} times" if many > 1 else "")
    return Refactoring("fact_rectify", tuple(effects), reason, edits=(touched, whole))


def _edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with each older value replaced by the newer and its ref."""
    for edit in reversed(edits):
        cited = "" if f"({edit.fact.ref})" in text[edit.end : edit.end + 12] else f" ({edit.fact.ref})"
        text = f"{text[: edit.start]}{edit.fact.value}{cited}{text[edit.end :]}"
    return text


def _with(block: Block, line: int, text: str) -> Block:
    """A block that says another text in one place."""
    if line < 0 and isinstance(block, Tile):
        return replace(block, summary=text)
    lines = list(block.lines)
    lines[line] = lines[line].reworded(text, count(text) + 1, lines[line].keys)
    return replace(block, lines=tuple(lines))


def _as_tile(block: Block, before: Block, number: int, origin: Origin) -> Tile:
    """The corrected block as a tile of the same steps."""
    match block:
        case RawStep():
            return tile_of([before], number, "", block.lines, origin)
        case Tile():
            children = (before.number,) if isinstance(before, Tile) else ()
            made = replace(block, number=number, children=children)
            return replace(made, tokens=show(made).tokens)


def _superseded(edit: Edit) -> Superseded:
    names = edit.fact.names
    return Superseded(names[-1] if names else "", edit.fact.field, edit.was, edit.at, edit.fact.value, edit.fact.ref)


def _marked(case: Case, ledger: Ledger) -> Refactoring | Refusal:
    """Mark values that have another in their place by now, where the older still stands in the view and nothing says so."""
    known = case.workspace.guidance.superseded
    shown = [line for block in case.workspace.blocks for line in block.lines if line.kind == "data"]
    effects: list[Outdated] = []
    for was, now in ledger.changed[::-1]:
        edit = Edit(0, 0, was.value, now, was.ref)
        stands = any(line.ref == was.ref and was.value in line.text for line in shown)
        if now.names and stands and (made := _superseded(edit)) not in known:
            effects.append(Outdated(made))
    if not effects:
        return Refusal("fact_rectify", "no summary and no note contradicts a newer event")
    return Refactoring("fact_rectify", tuple(effects[:_NAMED][::-1]), "values that a newer event took the place of")
