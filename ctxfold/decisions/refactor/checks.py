"""What every refactoring must pass, whoever wrote it. A fault keeps the history as it was. It changes nothing.

Source: ACR: shrinks where it must, no invented id, number or name, facts in force kept, the latest message and observation verbatim, boost and anchor
are pure insertions, a prune removes only what was flagged, a correction is small and cites a newer event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import assert_never

from ctxfold.decisions.fold.consolidate import pinned_in, price
from ctxfold.decisions.fold.embedded import newest
from ctxfold.decisions.fold.verify import invented
from ctxfold.decisions.refactor.abstract import body, step_of
from ctxfold.decisions.refactor.apply import depth_of, refactor
from ctxfold.decisions.refactor.rectify import Ledger, contradictions
from ctxfold.decisions.refactor.values import Added, Case, Outdated, Put, Refactoring
from ctxfold.errors import FoldError
from ctxfold.log.compact.ditto import spelled
from ctxfold.log.compact.prose import values
from ctxfold.log.lines import Line, text_of
from ctxfold.text import STOP_WORDS, sentences, stem
from ctxfold.tokens import count
from ctxfold.workspace.workspace import Block, Tile, Workspace

__all__ = ["DEPTH", "fault", "most", "ungrounded"]


_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NAME = re.compile(
    r"(?<![\w@/.-])[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*(?: (?:(?:de|la|of|van|von|del|da|di) )?[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*)*"
)
_LONGEST = 4_000_000
_MONTHS = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday".split()
)


def ungrounded(text: str, case: Case) -> tuple[str, ...]:
    """The values and names of a text that the history does not have.

    Args:
        text: what a host or a model wrote.
        case: the history.

    Returns:
        Each once; empty when it invents none.
    """
    steps = frozenset(step for block in case.workspace.blocks for step in block.steps)
    shown = _shown(case.workspace)
    strange = [*invented(text, shown, steps), *_names(text, shown)]
    if not strange:
        return ()
    whole = f"{shown}\n{case.history()[:_LONGEST]}"
    return tuple(dict.fromkeys([*invented(text, whole, steps), *_names(text, whole)]))


def _shown(workspace: Workspace) -> str:
    """All that the workspace says."""
    intent, guidance = workspace.intent, workspace.guidance
    parts = [workspace.goal, *workspace.revisions, text_of(workspace.words)]
    for block in workspace.blocks:
        parts += [block.summary] if isinstance(block, Tile) else []
        parts.append(text_of(spelled(block.lines)))
    parts += [item.text for item in intent.items] + [each.text for each in intent.constraints]
    parts += [each.text for each in intent.extracts] + [intent.summary]
    parts += [pin.text for pin in (guidance.thought, guidance.key_info) if pin is not None]
    return "\n".join(parts)


def _names(text: str, source: str) -> Iterator[str]:
    """Names in plain letters that the source does not have."""
    known = {word.lower() for word in _WORD.findall(source)}
    stems = {stem(word) for word in known if word.isascii()}
    for found in _NAME.finditer(text):
        words = _WORD.findall(found[0])
        if _opens(text, found.start()):
            words = words[1:]
        for word in words:
            low = word.lower().removesuffix("'s").removesuffix("’s")
            if not word[0].isupper() or low in STOP_WORDS or low in known or len(low) < 2:
                continue
            if low in _MONTHS or (low.isascii() and stem(low) in stems):
                continue
            yield word


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins there: a capital then says nothing."""
    before = text[:at].rstrip(" \"'“‘(*-•")
    return not before or before[-1] in ".!?:;\n。！？"


RECALL = 0.98
"""The share of values in force that must stand afterwards."""
EDITED = 0.5
"""The share of prose that a correction may change at most."""
DEPTH = 3
"""How many refactorings may stand inside each other."""
_THOUGHT, _KEY_INFO = 80, 400
_SENTENCES = 2


def most(path_length: int) -> int:
    """How many refactorings may stand on a path of so many steps."""
    return 8 + path_length // 4


def fault(case: Case, made: Refactoring) -> str:
    """Why a refactoring may not stand, in words of ours alone; empty when it may.

    Args:
        case: what it was decided on.
        made: the refactoring.
    """
    workspace = case.workspace
    if workspace.guidance.made >= most(workspace.path_length):
        return f"{workspace.guidance.made} refactorings stand on this path already; undo some, or go on without"
    if any(depth_of(workspace, tile) >= DEPTH for tile in made.tiles):
        return f"what stands there was refactored {DEPTH} times already"
    try:
        after = refactor(workspace, made)
    except FoldError as error:
        return str(error)
    return (
        _latest(case, after)
        or _by_operator(case, made, after)
        or _words(case, made)
        or _kept(case, made, after)
        or _true(case, made)
    )


def _by_operator(case: Case, made: Refactoring, after: Workspace) -> str:
    """What an operator must do, and must not."""
    match made.operator:
        case "state_abstract" | "noise_filter":
            return _shrinks(case.workspace, made)
        case "path_prune":
            return _shrinks(case.workspace, made) or _only_flagged(case.workspace, made)
        case "cognitive_boosting" | "attention_anchor":
            if after.blocks != case.workspace.blocks or any(not isinstance(each, Added) for each in made.effects):
                return "it must only add, and would change what stands"
            return _short_enough(made)
        case "fact_rectify":
            return _small(case, made)
        case _:
            assert_never(made.operator)


def _shrinks(workspace: Workspace, made: Refactoring) -> str:
    for tile in made.tiles:
        took, gives = price(*_under(workspace, tile)), price(tile)
        if gives >= took:
            return f"it would cost {gives} tokens for the {took} that stand there; shorten it"
    return ""


def _under(workspace: Workspace, tile: Tile) -> list[Block]:
    """The blocks a tile would replace."""
    inside = set(tile.steps)
    return [block for block in workspace.blocks if not inside.isdisjoint(block.steps)]


def _latest(case: Case, after: Workspace) -> str:
    """The latest block and the latest observation as they were; every message of the user verbatim."""
    before = case.workspace
    kept = before.blocks[case.protected :]
    if after.blocks[len(after.blocks) - len(kept) :] != kept:
        return "the latest step and the latest observation must stay as they are"
    if [line.text for line in _said(before)] != [line.text for line in _said(after)]:
        return "the user's words must stay as they are"
    return ""


def _said(workspace: Workspace) -> Iterable[Line]:
    return (line for block in workspace.blocks for line in block.lines if line.kind == "user")


def _only_flagged(workspace: Workspace, made: Refactoring) -> str:
    """Of steps that neither failed nor repeat anything, every line stands."""
    for tile in made.tiles:
        stand = {(line.ref, body(line)) for line in tile.lines}
        for line in spelled([line for block in _under(workspace, tile) for line in block.lines]):
            if step_of(line) not in made.flagged and (line.ref, body(line)) not in stand:
                return "it would drop what neither failed nor repeats anything"
    return ""


def _short_enough(made: Refactoring) -> str:
    for effect in made.effects:
        if isinstance(effect, Added):
            thought = effect.pin.slot == "thought"
            if count(effect.pin.text) > (_THOUGHT if thought else _KEY_INFO):
                return "the note is too long; say the one thing that matters"
            if thought and made.decider != "embedded" and len(sentences(effect.pin.text)) > _SENTENCES:
                return "a thought is one or two sentences"
    return ""


def _small(case: Case, made: Refactoring) -> str:
    """A correction changes little, and each value it puts stands in the event it cites."""
    touched, whole = made.edits
    if whole and touched > EDITED * whole:
        return "a correction may change half of what it corrects at most; rewrite it with another operator"
    for effect in made.effects:
        if isinstance(effect, Outdated) and effect.fact.now.lower() not in case.read(effect.fact.by).lower():
            return "the event that is cited does not say the new value"
    return ""


def _words(case: Case, made: Refactoring) -> str:
    """Nothing empty, and no id, number or name that the history does not have."""
    told = [
        effect.tile.summary for effect in made.effects if isinstance(effect, Put) and effect.tile.origin != "embedded"
    ]
    told += [effect.pin.text for effect in made.effects if isinstance(effect, Added)]
    if any(not text.strip() for text in told) and made.operator != "fact_rectify":
        return "the text is empty"
    if made.decider == "embedded" and made.operator != "fact_rectify":
        return ""
    strange = ungrounded("\n".join(told), case)
    if strange:
        return f"it holds {len(strange)} value{'s' * (len(strange) > 1)} that the history does not have"
    return ""


def _kept(case: Case, made: Refactoring, then: Workspace) -> str:
    """Of the values in force in what is replaced, at least .98 stand afterwards: in its place, or elsewhere in the view."""
    for tile in made.tiles:
        blocks = _under(case.workspace, tile)
        pinned = pinned_in(case.workspace, blocks)
        every = made.operator == "path_prune"
        before = _in_force(blocks, pinned, every, made.operator)
        after = _values([tile.summary], tile.lines)
        if made.operator == "fact_rectify":
            after |= {
                value for effect in made.effects if isinstance(effect, Outdated) for value in values(effect.fact.was)
            }
        if len(before & after) < RECALL * len(before):
            after |= _values([], (line for block in then.blocks for line in block.lines))
        if len(before & after) < RECALL * len(before):
            return f"{len(before - after)} of {len(before)} values in force would go; keep them"
    return ""


def _in_force(blocks: Sequence[Block], pinned: frozenset[int], every: bool, operator: str) -> set[str]:
    """The values of a stretch's facts; for a prune those of every text of a tool or a page."""
    kinds = {"user", "note", "data"} | ({"text"} if every else set())
    lines = spelled([line for block in blocks for line in block.lines])
    standing = [line for line in newest(lines, pinned) if line.kind in kinds]
    return _values([], [line for line in standing if operator == "state_abstract" or not _points_only(line)])


def _points_only(line: Line) -> bool:
    return bool(line.points) and not line.keys and line.text.lstrip("<> ").startswith("same as ")


def _values(texts: Iterable[str], lines: Iterable[Line]) -> set[str]:
    return set(
        chain.from_iterable(values(text) for text in [*texts, *(line.text for line in lines if not _points_only(line))])
    )


def _true(case: Case, made: Refactoring) -> str:
    """A rewritten summary must not contradict what newer events say."""
    told = [
        effect.tile.summary for effect in made.effects if isinstance(effect, Put) and effect.tile.origin != "embedded"
    ]
    if made.operator == "fact_rectify" or not any(told):
        return ""
    ledger = Ledger(case.facts)
    if any(contradictions(text, ledger, case) for text in told):
        return "it says of something what a newer event contradicts"
    return ""
