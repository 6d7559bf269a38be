"""The refactorings for which a host or a model wrote a text, and how that text is read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from ctxfold.decisions.fold import find_stretch, find_values_in_force, keep_beside, make_tile
from ctxfold.decisions.memory import choose_batch
from ctxfold.decisions.refactor import (
    AddNote,
    Case,
    Effect,
    Operator,
    PutTile,
    Refactoring,
    RefactorRefusal,
    Supersede,
    make_note,
)
from ctxfold.decisions.refactor.embedded import path_prune
from ctxfold.errors import InputError
from ctxfold.log.lines import KEY_INFO, THINKING
from ctxfold.view.fit import show
from ctxfold.workspace import Block, Origin, Pin, RawStep, Slot, Superseded, Tile, spans

_LONGEST = 100_000
_SUMMARY = re.compile(r"\A\s*<summary>(.*)</summary>\s*\Z", re.I | re.S)
_TAG = re.compile(
    r"</?\s*(?:context|compress|tool_call|think|thinking|answer|output|result|response|summary|system|function_calls|invoke)\b[^>\n]{0,80}>?",
    re.I,
)
_LABEL = re.compile(rf"\A\s*(?:{re.escape(THINKING)}|{re.escape(KEY_INFO)})\s*:?", re.I)
"""ACR's labels of a thought and of key facts, with which a text for them may begin: the view writes its own."""
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.M)
_CORRECTION = re.compile(r"^\W*(.{1,200}?)\s*=>\s*(.{1,200}?)\s*\((s\d+\.\d+)\)\s*$")


def clean_text(reply: object) -> str:
    """The text of a reply, taken out of one `<summary>` around all of it.

    Raises InputError: it is not text to be put in place: empty, too long, with control characters, tags of a reply, code or JSON.
    """
    if not isinstance(reply, str):
        raise InputError("the reply is not text")
    if len(reply) > _LONGEST:
        raise InputError("the reply is too long")
    if any(ord(sign) < 32 and sign not in "\n\r\t" for sign in reply) or not _encodes(reply):
        raise InputError("the reply holds control characters")
    whole = _SUMMARY.match(reply)
    text = _LABEL.sub("", whole[1] if whole else reply).strip()
    if not any(sign.isalnum() for sign in text):
        raise InputError("the text is empty")
    if _TAG.search(text):
        raise InputError("the text holds tags of a reply; write plain sentences, with nothing outside <summary>")
    if _FENCE.search(text) or _looks_like_json(text):
        raise InputError("the text is code or JSON; write plain sentences")
    return text


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _looks_like_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return text[:1] in ("{", "[") and text[1:2] in ('"', "{", "[", "}", "]")


def apply_text(operator: Operator, case: Case, text: str, origin: Origin) -> Refactoring | RefactorRefusal:
    """What an operator makes of a case with a text that somebody wrote for it.

    The text is the state for state_abstract, the history without its noise for noise_filter, what the newest loop showed for path_prune, the note for
    cognitive_boosting and attention_anchor, corrections for fact_rectify.
    """
    match operator:
        case "state_abstract":
            wanted = choose_batch(case.workspace, case.budget, case.settings)
            blocks: Sequence[Block] = case.workspace.blocks[: case.protected] if wanted is None else wanted.blocks
            return _told(operator, case, blocks, text, origin)
        case "noise_filter":
            return _told(operator, case, case.workspace.blocks[: case.protected], text, origin)
        case "path_prune":
            return _pruned(case, text, origin)
        case "fact_rectify":
            return _rectified(case, text, origin)
        case "cognitive_boosting":
            return make_note(case, operator, _pin(case, "thought", text))
        case "attention_anchor":
            return make_note(case, operator, _pin(case, "key_info", text))
        case _:
            assert_never(operator)


def _told(
    operator: Operator, case: Case, blocks: Sequence[Block], text: str, origin: Origin
) -> Refactoring | RefactorRefusal:
    """A tile that says `text` in place of blocks, beside it the user's words, notes, and the values in force that it does not hold."""
    if not blocks:
        return RefactorRefusal("nothing stands before the latest step")
    needed = find_values_in_force(blocks, case.workspace.blocks, case.workspace.intent)
    lines = keep_beside(blocks, text, needed, case.workspace.intent.lifted)
    tile = make_tile(blocks, case.tile, text, lines, origin)
    return Refactoring(operator, (PutTile(tile),), f"told of {spans(tile.steps)}")


def _pruned(case: Case, text: str, origin: Origin) -> Refactoring | RefactorRefusal:
    """The loops pruned, the newest with a text of its own."""
    made = path_prune(case)
    if isinstance(made, RefactorRefusal):
        return made
    last = made.tiles[-1]
    blocks = find_stretch(case.workspace, last.first, last.last)
    tile = make_tile(blocks, last.number, text, last.lines, origin, status="failed")
    return replace(made, effects=(*made.effects[:-1], PutTile(tile)))


def _pin(case: Case, slot: Slot, text: str) -> Pin:
    workspace = case.workspace
    outside = workspace.older is not None or any(line.untrusted for block in workspace.blocks for line in block.lines)
    return Pin(slot, text, workspace.path_length, (), untrusted=outside)


@dataclass(frozen=True, slots=True)
class _Prose:
    """A text that can be corrected: a tile's summary, a note's line in a block, or a pin. `block`: None for a pin; `line`: -1 for a tile's summary."""

    text: str
    block: int | None = None
    line: int = -1
    pin: Pin | None = None


@dataclass(frozen=True, slots=True)
class _Correction:
    was: str
    now: str
    ref: str

    def within(self, text: str) -> str:
        """The text with the newer value and its ref where the older stood first."""
        before, _, behind = text.partition(self.was)
        cited = "" if f"({self.ref})" in behind[:12] else f" ({self.ref})"
        return f"{before}{self.now}{cited}{behind}"


def _rectified(case: Case, text: str, origin: Origin) -> Refactoring | RefactorRefusal:
    """Prose corrected as the text says, one correction a line, each cited record holding the newer value."""
    proses = _proses(case)
    corrections: list[_Correction] = []
    for line in filter(str.strip, text.splitlines()):
        parts = _CORRECTION.match(line)
        if parts is None:
            return RefactorRefusal("write each correction on a line of its own: OLD => NEW (s12.2)", (line.strip(),))
        each = _Correction(parts[1].strip("\"'"), parts[2].strip("\"'"), parts[3])
        if not each.was or not any(each.was in prose.text for prose in proses):
            return RefactorRefusal(
                "what is to be corrected stands in no summary and no note; copy OLD from one", (each.was,)
            )
        if each.now.lower() not in case.read(each.ref).lower():
            how = "the record that is cited does not say the new value; cite the one that does, and copy NEW from it"
            return RefactorRefusal(how, (each.now, each.ref))
        corrections.append(each)
    if not corrections:
        return RefactorRefusal("no correction is given; write OLD => NEW (s12.2)")
    changed = [(prose, [each for each in corrections if each.was in prose.text]) for prose in proses]
    return _applied(case, [(prose, wanted) for prose, wanted in changed if wanted], origin)


def _proses(case: Case) -> list[_Prose]:
    found: list[_Prose] = []
    for at, block in enumerate(case.workspace.blocks[: case.protected]):
        if isinstance(block, Tile) and block.summary and block.origin != "embedded":
            found.append(_Prose(block.summary, at))
        notes = [
            place for place, line in enumerate(block.lines) if line.kind == "note" and line.ref in case.model_notes
        ]
        found += [_Prose(block.lines[place].text, at, place) for place in notes]
    guidance = case.workspace.guidance
    return found + [_Prose(pin.text, pin=pin) for pin in (guidance.thought, guidance.key_info) if pin is not None]


def _applied(case: Case, changed: Sequence[tuple[_Prose, Sequence[_Correction]]], origin: Origin) -> Refactoring:
    blocks: dict[int, Block] = {}
    effects: list[Effect] = []
    for prose, corrections in changed:
        text = prose.text
        for each in corrections:
            text = each.within(text) if each.was in text else text
        if prose.pin is not None:
            effects.append(AddNote(replace(prose.pin, text=text)))
        elif prose.block is not None:
            stands = blocks.get(prose.block, case.workspace.blocks[prose.block])
            blocks[prose.block] = _reworded(stands, prose.line, text)
        effects += [Supersede(Superseded("", "", each.was, "", each.now, each.ref)) for each in corrections]
    tiles: list[Effect] = [
        PutTile(_as_tile(block, case.workspace.blocks[at], number, origin))
        for number, (at, block) in enumerate(blocks.items(), case.tile)
    ]
    touched = sum(len(each.was.split()) for _, corrections in changed for each in corrections)
    whole = sum(len(prose.text.split()) for prose, _ in changed)
    reason = "a newer event contradicts what prose says"
    return Refactoring("fact_rectify", (*tiles, *effects), reason, edits=(touched, whole))


def _reworded(block: Block, line: int, text: str) -> Block:
    """A block that says another text in one place."""
    if line < 0 and isinstance(block, Tile):
        return replace(block, summary=text)
    lines = list(block.lines)
    lines[line] = lines[line].reword(text)
    return replace(block, lines=tuple(lines))


def _as_tile(block: Block, before: Block, number: int, origin: Origin) -> Tile:
    """The corrected block as a tile of the same steps."""
    match block:
        case RawStep():
            return make_tile([before], number, "", block.lines, origin)
        case Tile():
            children = (before.number,) if isinstance(before, Tile) else ()
            made = replace(block, number=number, children=children)
            return replace(made, tokens=show(made).tokens)
