"""Writes the end of a view under its headings: other branches, register, extracts and notes, chosen within a room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ctxfold.log import spans
from ctxfold.log.lines import (
    BINDING,
    DECIDED,
    ELSEWHERE,
    EXTRACTS,
    GOAL_NOW,
    HERE,
    IMPLIED,
    KEY_INFO,
    LIFTED,
    SO_FAR,
    SUPERSEDED,
    THINKING,
    TO_DO,
    TOPIC,
    USER,
    Line,
    fence,
    line,
    unposed,
)
from ctxfold.prompts import opening, prompt
from ctxfold.select.choose import Choice, find_excerpts
from ctxfold.select.pieces import pieces_of_lines
from ctxfold.select.write import GAP, write_each
from ctxfold.text.words import counted
from ctxfold.tokens import count, head
from ctxfold.workspace import (
    Elsewhere,
    Extract,
    Guidance,
    Intent,
    Item,
    Statement,
    Workspace,
    number_of,
)

_WORDS = 80
"""o200k tokens of the longest statement or item; a longer one keeps its beginning."""
_SUMMARY = 600
"""o200k tokens of the longest summary."""
_NEWEST = 40
"""Items that are named at most, the next to do, and statements, the newest."""
_NAMED = (24, 8, 0)
"""Branches that are named where none of their lines are shown: as many as the room allows; the rest are counted."""
_NOTE, _SHORT_NOTE = 400, 64
"""o200k tokens of a note of a refactoring, and where room is short."""
_SUPERSEDED = 12
"""The most superseded values that are named, the newest."""
_STATES = {"open": "[ ]", "done": "[x]", "dropped": "[-]"}
_REF = re.compile(r"(?P<letter>[a-z])(?P<first>\d+)(?:-[a-z](?P<last>\d+))?")


@dataclass(frozen=True, slots=True)
class EndSection:
    """A heading and the lines under it.

    Attributes:
        heading: its first words.
        lines: its lines; the `ref` of each names it where it is left out.
        rest: more names at the end of the heading.
        branch: the name of the branch that it shows; empty for any other section.
    """

    heading: str
    lines: tuple[Line, ...] = ()
    rest: str = ""
    branch: str = ""


def write_guidance(guidance: Guidance, texts: Sequence[str], most: int = _NOTE) -> str:
    """Superseded values that `texts` still hold, the thought, then the key facts; notes of `most` o200k tokens."""
    stale = [each for each in guidance.superseded if any(each.was in text for text in texts)]
    named = (f"< {each.now} ({each.by}), not {each.was}" for each in stale[-_SUPERSEDED:])
    parts = ["\n".join([SUPERSEDED, *named])] if stale else []
    for pin, title in ((guidance.thought, THINKING), (guidance.key_info, KEY_INFO)):
        if pin is None:
            continue
        text = pin.text if len(pin.text) <= most or count(pin.text) <= most else f"{head(pin.text, most)} …"
        rows = "\n".join([f"{title}:", *(f"< {row}" for row in text.splitlines())])
        parts.append(rows if pin.untrusted else unposed(f"{title}: {text}"))
    return "\n".join(parts)


def write_ends(workspace: Workspace, texts: Sequence[str], room: int | None = None, query: str = "") -> str:
    """The end of a view.

    Args:
        workspace: the working context.
        texts: the texts of the blocks before it; only superseded values that are in one are named.
        room: the most o200k tokens; None for all of it.
        query: texts about the present task.

    Returns:
        Its text, constraints before the rest. Lines that do not fit are named by their refs in the headings, which
        alone can be more than the room.
    """
    sections = [
        *_list_branches(workspace.elsewhere),
        *(EndSection(unposed(f"{GOAL_NOW} {text}")) for text in workspace.goals[1:]),
        *_list_register(workspace.intent, _SUMMARY if room is None else room // 4, query),
    ]
    guidance = workspace.guidance.at(workspace.path_length)
    sections.append(EndSection(write_guidance(guidance, texts, _NOTE if room is None else _SHORT_NOTE)))
    sections.append(EndSection(_write_hint(workspace.intent)))
    sections = [section for section in sections if section.heading]
    if room is None:
        return _write_sections(sections, [section.lines for section in sections], workspace.elsewhere)
    lines = [each for section in sections for each in section.lines]
    owners = [number for number, section in enumerate(sections) for _ in section.lines]
    pieces = pieces_of_lines(lines, owners)
    named = next((many for many in _NAMED if count(_write_bare(sections, workspace.elsewhere, many)) <= room), 0)

    def write_chosen(places: Sequence[int]) -> str:
        chosen = write_each(lines, pieces, places, owners, len(sections))
        return _write_sections(sections, chosen, workspace.elsewhere, named)

    choice = Choice(pieces, query)
    stubs = [place for place, piece in enumerate(pieces) if piece.kind == "stub"]
    choice.fill(room, [place for place in stubs if sections[owners[pieces[place].line]].heading == BINDING])
    choice.fill(room, stubs)
    return write_chosen(choice.fit(room, lambda places: count(write_chosen(places))))


def find_branch_refs(held: Elsewhere) -> Iterable[str]:
    """The refs of the steps on other branches, in order."""
    return (ref for branch in held.branches for turn in branch.turns for ref in spans(turn.steps).split(", "))


def _write_bare(sections: Sequence[EndSection], held: Elsewhere, named: int) -> str:
    return _write_sections(sections, [()] * len(sections), held, named)


def _write_sections(
    sections: Sequence[EndSection], chosen: Sequence[Sequence[Line]], held: Elsewhere, named: int = _NAMED[0]
) -> str:
    """Sections with the lines chosen of each; branches of which none is are named together."""
    rows: list[str] = []
    bare: list[str] = []
    for section, lines in zip(sections, chosen, strict=True):
        shown = {each.ref for each in lines}
        gone = _join_refs(each.ref for each in section.lines if each.ref not in shown)
        if section.branch and not lines:
            bare.append(f"{section.branch} {gone}")
            continue
        names = "; ".join(part for part in (gone, section.rest) if part)
        rows.append(f"{section.heading} {names}".rstrip())
        rows += [f"{each.ref} {each.text}" if each.kind == "user" else each.text for each in lines]
    branches = any(section.branch for section in sections)
    more = bare[:named]
    if len(bare) > len(more):
        topics = counted(len({each.topic for each in held.branches}), "topic")
        more.append(f"{counted(len(bare) - len(more), 'more branch', 'more branches')} of {topics}")
    here = f"{HERE} topic {held.topic}, branch {held.branch}; {ELSEWHERE} {'; '.join(more)}".rstrip()
    return "\n".join([here, *rows] if branches else rows)


def _list_branches(held: Elsewhere) -> Iterator[EndSection]:
    """A section for each other branch: the user's words of its turns and what came of them."""
    for branch in held.branches:
        lines: list[Line] = []
        for turn in branch.turns:
            ref = spans(turn.steps)
            lines.append(line("user", ref, f"{USER} {turn.said}") if turn.said else line("stub", ref, ref))
            lines += [line("stub", ref, turn.gist)] if turn.gist else []
        if lines:
            after = f" from s{branch.forked_at}" if branch.forked_at else ""
            heading = f"{TOPIC} {branch.topic}, branch {branch.branch}{after}]"
            yield EndSection(heading, tuple(lines), branch.earlier, branch.branch)


def _list_register(intent: Intent, room: int, query: str) -> Iterator[EndSection]:
    """The sections of the register. `room`: o200k tokens of the summary."""
    if intent.summary:
        said = intent.summary
        if count(said) > room:
            said = " ".join(f"{span.of(said)} {GAP}" for span in find_excerpts(said, query, room))
        yield EndSection(_mark(f"{SO_FAR} {said}", intent.told.untrusted) if said else "")
    for title, every in ((BINDING, intent.constraints), (DECIDED, intent.decisions)):
        was = {each.superseded_by: each for each in every if each.superseded_by is not None}
        holding = [each for each in every if each.holds and number_of(each.id)][-_NEWEST:]
        if holding:
            yield EndSection(title, tuple(_write_statement(each, was.get(each.id)) for each in holding))
    lifted = [each.id for each in intent.decisions if each.lifted and not number_of(each.id)]
    if lifted:
        yield EndSection(f"{LIFTED} {' '.join(lifted[-_NEWEST:])}")
    if intent.items:
        closed = {state: _join_refs(each.id for each in intent.items if each.state == state) for state in _STATES}
        rest = "; ".join(f"{state} {closed[state]}" for state in ("done", "dropped") if closed[state])
        yield EndSection(TO_DO, tuple(_write_item(each) for each in intent.open[:_NEWEST]), rest)
    if intent.extracts:
        yield EndSection(EXTRACTS, tuple(map(_write_extract, intent.extracts)))


def _write_hint(intent: Intent) -> str:
    """The hint of the extraction, if its items are open; else the next item, if lines are shown."""
    made = intent.extraction
    if made is not None and made.hint and (intent.extracts or not made.extracts):
        return unposed(f"{opening('extract_hint')}{made.hint}")
    return prompt("extract_hint", item=intent.open[0].id) if intent.extracts and intent.open else ""


def _write_statement(each: Statement, old: Statement | None) -> Line:
    """A constraint or a decision, with its source and the one that it replaced."""
    origin = [each.ref] if each.ref else []
    if old is not None:
        origin.append(", ".join(part for part in (f"was {_drop_shared_ends(old.text, each.text)}", old.ref) if part))
    where = f" ({'; '.join(origin)})" if origin else ""
    text = f"{each.id} {_clip(each.text)}{where}"
    return line("stub", each.id, _mark(text, each.untrusted or (old is not None and old.untrusted)))


def _drop_shared_ends(old: str, new: str) -> str:
    """The words of an older text without those that it begins and ends with like the newer one."""
    was, now = old.split(), new.split()
    while was[1:] and now and was[0] == now[0]:
        was, now = was[1:], now[1:]
    while was[1:] and now and was[-1] == now[-1]:
        was, now = was[:-1], now[:-1]
    return " ".join(was)


def _write_item(item: Item) -> Line:
    ref = f" ({item.ref})" if item.ref else ""
    return line("stub", item.id, _mark(f"{item.id} {_STATES[item.state]} {_clip(item.text)}{ref}", item.untrusted))


def _write_extract(each: Extract) -> Line:
    use = " ".join(part for part in (each.todo or "", " ".join(each.why.split())) if part)
    lead = f"{each.ref}{': ' + use if use else ''}"
    held = _mark(f"{IMPLIED} {'; '.join(each.constraints)}", each.untrusted) if each.constraints else ""
    if not each.untrusted and "\n" not in each.text:
        return line("stub", each.ref, "\n".join(filter(None, (unposed(f"{lead}\n{each.text}"), held))))
    return line("stub", each.ref, "\n".join(filter(None, (lead, fence(each.ref, each.text), held))))


def _join_refs(refs: Iterable[str]) -> str:
    """Refs in order, each one or several with commas, runs of numbers as one: `c1-c4 c7`."""
    runs: list[str] = []
    for ref in dict.fromkeys(part for some in refs for part in some.split(", ") if part):
        now, before = _REF.fullmatch(ref), _REF.fullmatch(runs[-1]) if runs else None
        if now and before and (now["letter"], int(now["first"])) == (before["letter"], _last_of(before) + 1):
            runs[-1] = f"{before['letter']}{before['first']}-{now['letter']}{_last_of(now)}"
        else:
            runs.append(ref)
    return " ".join(runs)


def _last_of(ref: re.Match[str]) -> int:
    """The last number of a ref that may be a range."""
    return int(ref["last"] or ref["first"])


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if count(text) <= _WORDS else f"{head(text, _WORDS)} …"


def _mark(text: str, untrusted: bool) -> str:
    return "\n".join(f"< {row}" for row in text.splitlines()) if untrusted else unposed(text)
