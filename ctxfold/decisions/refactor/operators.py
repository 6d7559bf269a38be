"""The six operators of ACR and their router: by rules of repetition and size, or with a written text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b

from ctxfold.decisions.fold import find_memory, find_stretch, make_tile, price_blocks, write_tile
from ctxfold.decisions.marks import MARK
from ctxfold.decisions.memory import Batch, choose_batch, make_past
from ctxfold.decisions.refactor import Case, Operator, Refactoring, check_refactoring
from ctxfold.errors import InputError, RefactorRefusal
from ctxfold.log import spans
from ctxfold.log.json import canonical, parse
from ctxfold.log.lines import COMMANDS, KEY_INFO, NOTE, THINKING, Line
from ctxfold.prompts import prompt
from ctxfold.view.fit import show
from ctxfold.workspace import Block, Origin, Pin, RawStep, Slot, Superseded, Tile, Workspace

_TIMES, _NAMED_TIMES = 3, 2
"""How often one step repeats in a loop; twice suffices if somebody named the operator."""
_LONGEST_CALL = 20_000
"""Characters of a call that are compared."""
_MARKS = re.compile(r"\s\[[a-z-]+(?:=[^\]\n]*)?\]")
"""The marks of elements in a page snapshot, as in `[ref=e12]`, which change from look to look."""


def read_past_call(text: str, result: str | None, page: bool = False) -> tuple[str, str]:
    """Return a recorded call as it is compared: the tool with its arguments, and a digest of the result, empty if none
    came, or an empty one.
    """
    tree = parse(text[:_LONGEST_CALL])
    name, args = (tree.get("name"), tree.get("args")) if isinstance(tree, dict) else ("", None)
    key = f"{name} {canonical(args)}" if name else _digest(text)
    plain = (_MARKS.sub("", result or "") if page else result or "").strip()
    return key, _digest(plain) if plain else ""


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def find_loops(case: Case) -> list[list[int]]:
    """Return the runs of raw steps with the same calls and results, oldest first. A message of the user ends a run, and
    so does a call without an answer.
    """
    runs: list[list[int]] = []
    before: list[tuple[str, str]] = []
    for block in case.workspace.blocks:
        calls = sorted(case.calls.get(block.n, ())) if isinstance(block, RawStep) else []
        if not all(answer for _, answer in calls):
            calls = []
        if calls and calls == before and block.steps[0] not in case.spoken:
            runs[-1].append(block.steps[0])
        else:
            runs.append([block.steps[0]])
        before = calls
    return [run for run in runs if len(run) >= (_NAMED_TIMES if case.named else _TIMES)]


def prune_paths(case: Case) -> Refactoring:
    """Fold every loop before the latest step into a tile of status failed, with all that it showed."""
    tiles: list[Tile] = []
    free = {block.steps[-1] for block in case.earlier}
    for loop in find_loops(case):
        steps = [step for step in loop if step in free]
        blocks = find_stretch(case.workspace, steps[0], steps[-1]) if len(steps) > 1 else ()
        said = [line for block in blocks[1:] for line in block.lines if line.kind in ("user", "note")]
        for summary in (prompt("refactor_pruned"), "") if blocks else ():
            lines = (*blocks[0].lines, *said)
            tile = make_tile(blocks, case.tile + len(tiles), summary, lines, "embedded", status="failed")
            if price_blocks(tile) < price_blocks(*blocks):
                tiles.append(tile)
                break
    if not tiles:
        raise InputError("no stretch before the latest step went in circles")
    where = "; ".join(spans(tile.steps) for tile in tiles[-3:])
    return Refactoring("path_prune", tuple(tiles), f"the same calls with the same results in {where}")


def route(case: Case) -> Refactoring:
    """Return the refactoring that a history calls for: a loop is pruned, and at the high-water mark the older steps are
    folded. Raises InputError: none.
    """
    is_full = choose_batch(case.workspace, case.budget, case.settings) is not None
    for make in (prune_paths, abstract_state) if is_full else (prune_paths,):
        with suppress(InputError):
            return check_refactoring(case, make(case))
    raise InputError("nothing repeats, and the view is below its high-water mark")


_TEXTS: Mapping[Operator, str] = {
    "noise_filter": "the history without its noise",
    "fact_rectify": "corrections, one a line: OLD => NEW (s12.2)",
    "cognitive_boosting": "the thought",
    "attention_anchor": "the facts",
}
"""What a host or a model writes for an operator that no rule can carry out."""


def apply_rules(operator: Operator, case: Case) -> Refactoring:
    """Return the refactoring of an operator without a text. Raises InputError: it needs one, or finds nothing."""
    if operator in _TEXTS:
        raise InputError(f"{operator} needs a text: give {_TEXTS[operator]}, or name a model")
    return prune_paths(case) if operator == "path_prune" else abstract_state(case)


def abstract_state(case: Case) -> Refactoring:
    """Fold the steps before the latest into one tile: those of a due consolidation, else all of them to half."""
    batch = choose_batch(case.workspace, case.budget, case.settings)
    if batch is None:
        room = sum(block.tokens for block in case.earlier) // 2
        batch = Batch(case.earlier, case.workspace.blocks[case.protected :], room)
    if not batch.blocks:
        raise InputError("there is nothing before the latest step")
    tile = make_past(batch, batch.blocks, case.tile, case.budget, case.workspace, find_memory(batch.blocks))
    if tile.whole or price_blocks(tile) >= price_blocks(*batch.blocks):
        raise InputError("these steps hold facts alone; nothing could be shortened")
    return Refactoring("state_abstract", (tile,), f"state of {spans(tile.steps)}")


_LONGEST = 100_000
"""Characters of a written text at most."""
_SUMMARY = re.compile(r"\A\s*<summary>(.*)</summary>\s*\Z", re.I | re.S)
_TAG = re.compile(
    r"</?\s*(?:context|compress|tool_call|think|thinking|answer|output|result|response|summary|system|function_calls"
    r"|invoke)\b[^>\n]{0,80}>?",
    re.I,
)
_LABEL = re.compile(rf"\A\s*(?:{re.escape(THINKING)}|{re.escape(KEY_INFO)})\s*:?", re.I)
"""ACR's labels of a thought and of key facts, which a text may begin with: the view writes its own."""
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.M)
_EDITED = 0.5
"""The share of the words that a correction may change."""
_CORRECTION = re.compile(r"^\W*(.{1,200}?)\s*=>\s*(.{1,200}?)\s*\((s\d+\.\d+)\)\s*$")


def clean_text(reply: object) -> str:
    """Return the text of a reply, without a `<summary>` around all of it.

    Raises InputError: empty, too long, control characters, tags of a reply, code or JSON.
    """
    if not isinstance(reply, str) or len(reply) > _LONGEST:
        raise InputError("the reply is not text, or too long")
    if any((ord(sign) < 32 and sign not in "\n\r\t") or "\ud800" <= sign <= "\udfff" for sign in reply):
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


def _looks_like_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return text[:1] in ("{", "[") and text[1:2] in ('"', "{", "[", "}", "]")


def apply_text(operator: Operator, case: Case, text: str, origin: Origin) -> Refactoring:
    """Return the refactoring of an operator with a text.

    The text is the state for state_abstract, the history without its noise for noise_filter, what the newest loop
    showed for path_prune, the note for cognitive_boosting and attention_anchor, corrections for fact_rectify.
    """
    match operator:
        case "state_abstract" | "noise_filter":
            due = choose_batch(case.workspace, case.budget, case.settings) if operator == "state_abstract" else None
            blocks = due.blocks if due else case.earlier
            if not blocks:
                raise InputError("there is nothing before the latest step")
            tile = write_tile(case.workspace, blocks, case.tile, text, origin)
            return Refactoring(operator, (tile,), f"text for {spans(tile.steps)}")
        case "path_prune":
            made = prune_paths(case)
            last = made.tiles[-1]
            blocks = find_stretch(case.workspace, last.first, last.last)
            tile = make_tile(blocks, last.number, text, last.lines, origin, status="failed")
            return replace(made, effects=(*made.effects[:-1], tile))
        case "fact_rectify":
            return _rectify(case, text, origin)
        case _:
            return _set_note(operator, case.workspace, text)


def _set_note(operator: Operator, workspace: Workspace, text: str) -> Refactoring:
    """A note in its slot, unless it is there already."""
    slot: Slot = "thought" if operator == "cognitive_boosting" else "key_info"
    before = getattr(workspace.guidance.at(workspace.path_length), slot)
    if before is not None and before.text == text:
        raise InputError("this note is there already")
    untrusted = workspace.older is not None or any(line.untrusted for block in workspace.blocks for line in block.lines)
    pin = Pin(slot, text, workspace.path_length, untrusted)
    return Refactoring(operator, (pin,), "a thought" if slot == "thought" else "key facts")


@dataclass(frozen=True, slots=True)
class _Correction:
    was: str
    now: str
    ref: str

    def correct(self, text: str) -> str:
        """Return a text with the newer value and its ref in place of the first older one."""
        before, found, after = text.partition(self.was)
        if not found:
            return text
        cited = "" if f"({self.ref})" in after[:12] else f" ({self.ref})"
        return f"{before}{self.now}{cited}{after.removeprefix(MARK)}"


def _unquote(text: str) -> str:
    """A text without the one pair of quotation marks around it."""
    is_quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2
    return text[1:-1] if is_quoted else text


def _rectify(case: Case, text: str, origin: Origin) -> Refactoring:
    """Prose corrected as the text says, one correction a line, each citing a record that holds the newer value."""
    proses = [prose for _, prose in list_prose(case)]
    corrections: list[_Correction] = []
    for line in filter(str.strip, text.splitlines()):
        parts = _CORRECTION.match(line)
        if parts is None:
            fault = "write each correction on a line of its own: OLD => NEW (s12.2)"
            raise RefactorRefusal(fault, line.strip())
        each = _Correction(_unquote(parts[1]), _unquote(parts[2]), parts[3])
        if not each.was.strip() or not any(each.was in prose for prose in proses):
            fault = (
                "OLD is in no summary and no note; copy it from one (a new memory changes what is wanted or laid down)"
            )
            raise RefactorRefusal(fault, each.was)
        if not each.now.strip():
            raise RefactorRefusal("NEW is empty; write what holds now", each.was)
        if each.now.lower() not in case.read(each.ref).lower():
            fault = "the record that is cited lacks the new value; cite the one that has it, and copy NEW from it"
            raise RefactorRefusal(fault, each.now, each.ref)
        corrections.append(each)
    if not corrections:
        raise InputError("no correction is given; write OLD => NEW (s12.2)")
    tiles, superseded = list[Tile](), list[Superseded]()
    touched = whole = 0

    def correct(_name: str, prose: str) -> str:
        nonlocal touched, whole
        due = [each for each in corrections if each.was in prose]
        touched += sum(len(each.was.split()) for each in due)
        whole += len(prose.split()) if due else 0
        for each in due:
            superseded.append(Superseded(each.was, each.now, each.ref))
            prose = each.correct(prose)
        return prose

    for block in case.earlier:
        reworded = _reword(block, case, correct)
        if reworded != block:
            tiles.append(_make_tile(reworded, case.tile + len(tiles), origin))
    pins = [replace(pin, text=text) for pin in _list_pins(case) if (text := correct("", pin.text)) != pin.text]
    if touched > _EDITED * whole:
        raise InputError("a correction may change half of what it corrects at most; use another operator")
    return Refactoring("fact_rectify", (*tiles, *pins, *superseded), "a newer event contradicts what prose says")


def list_prose(case: Case) -> list[tuple[str, str]]:
    """Return the texts that a correction may change, each after its name: summaries, the parts of the memory that
    report, a model's notes, and the guidance.
    """
    proses: list[tuple[str, str]] = []

    def collect(name: str, text: str) -> str:
        proses.append((name, text))
        return text

    for block in case.earlier:
        _reword(block, case, collect)
    return proses + [(pin.slot, pin.text) for pin in _list_pins(case)]


def _list_pins(case: Case) -> list[Pin]:
    guidance = case.workspace.guidance
    return [pin for pin in (guidance.thought, guidance.key_info) if pin is not None]


def _reword(block: Block, case: Case, reword: Callable[[str, str], str]) -> Block:
    """A block with its prose as a function returns it, which takes the name of a text and the text."""

    def reword_line(line: Line) -> Line:
        if line.kind != "note" or line.ref not in case.model_notes:
            return line
        text = line.text.removeprefix(f"{NOTE} ")
        changed = reword(line.ref, text)
        return line if changed == text else line.reword(f"{NOTE} {changed}")

    if isinstance(block, Tile) and block.origin != "embedded":
        name, memory = f"{block.id}, of {spans(block.steps)}", block.memory
        summary = reword(name, block.summary) if block.summary else ""
        parts = {part: reword(f"{name}, {part}", text) for part, text in memory or () if text and part not in COMMANDS}
        block = replace(block, summary=summary, memory=memory and memory.model_copy(update=parts))
    return replace(block, lines=tuple(map(reword_line, block.lines)))


def _make_tile(block: Block, number: int, origin: Origin) -> Tile:
    """A corrected block as a tile of the same steps."""
    if isinstance(block, RawStep):
        return make_tile([block], number, "", block.lines, origin)
    made = replace(block, number=number, children=(block.number,))
    return replace(made, tokens=show(made).tokens)
