"""The intent as the volatile end of a view, in forms from full to nothing but refs. It decides no budget: a view takes the first form that fits.

What stands verbatim elsewhere in the view is named by its ref, never repeated: the register's words are the user's own, and those stand inline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ctxfold.intent.cues import clauses, facts_of
from ctxfold.intent.values import Constraint, Extract, Intent, Item, Said
from ctxfold.lines import Line, fence
from ctxfold.tokens import count, head

__all__ = ["FORMS", "closing", "gist", "told"]

FORMS = 5
"""How many forms there are, the last but refs."""

_ITEM = (64, 48, 24, 12, 0)
_BOUND = (80, 64, 32, 12, 0)
_INLINE = 24
"""Tokens of an item whose words stand whole in the view anyway."""
_REFS = 12
"""Messages that are named for what they bind, the newest."""
_PAST = (10, 10, 4, 0, 0)
_SUMMARY = (600, 200, 60, 0, 0)
_NAMED = 40
"""Items and constraints that a form names at most; the rest are counted."""


def closing(intent: Intent, standing: frozenset[str], form: int) -> str:
    """What a view says of the intent at its end.

    Args:
        intent: as it stands.
        standing: the records whose words stand whole elsewhere in the view.
        form: 0 for the full form, to `FORMS` - 1.
    """
    parts = [
        _summary(intent.course, _SUMMARY[form]),
        _todo(intent, standing, _ITEM[form]),
        _register(intent, standing, form),
        _extracts(intent, form),
    ]
    return "\n".join(part for part in parts if part)


def told(intent: Intent) -> tuple[Said, ...]:
    """What a host or a model wrote of the dialogue's course: the user's own words stand inline and need no summary."""
    return tuple(said for said in intent.course if said.cue == "told")


def _summary(course: tuple[Said, ...], most: int) -> str:
    words = [said for said in course if said.cue == "told"]
    if not words or not most:
        return ""
    text = _clipped("\n".join(said.text for said in words), most)
    return _marked(f"so far: {text}", any(said.untrusted for said in words))


def _todo(intent: Intent, standing: frozenset[str], most: int) -> str:
    if not intent.items:
        return ""
    closed = [
        f"{state} {' '.join(item.id for item in found[-_NAMED:])}"
        for state in ("done", "dropped")
        if (found := [item for item in intent.items if item.state == state])
    ]
    heading = "; ".join([f"to-do: {len(intent.open)} open", *closed])
    if not most:
        names = " ".join(item.id for item in intent.open[-_NAMED:])
        return f"{heading}{': ' if names else ''}{names}"
    return "\n".join(
        [heading, *(_item(item, min(most, _INLINE) if item.ref in standing else most) for item in intent.open)]
    )


def _item(item: Item, most: int) -> str:
    ref = f" ({item.ref})" if item.ref else ""
    return _marked(f"{item.id} {_clipped(_flat(item.text), most)}{ref}", item.untrusted)


def _register(intent: Intent, standing: frozenset[str], form: int) -> str:
    """The constraints that hold: by ref where their words stand in the view, else by their words."""
    if not intent.constraints:
        return ""
    elsewhere = [each for each in intent.binding if each.ref not in standing]
    inline = list(dict.fromkeys(each.ref for each in intent.binding if each.ref in standing))
    gone = [each for each in intent.constraints if each.superseded_by is not None]
    by = {each.id: each for each in intent.constraints}
    past = [
        f"{_quoted(each, standing)} by {_at(by, each.superseded_by)}"
        for each in gone[max(len(gone) - _PAST[form], 0) :]
    ]
    if not _BOUND[form]:
        refs = list(dict.fromkeys(each.ref for each in intent.binding))
        return f"constraints, newest wins: {' '.join(refs[-_NAMED:])}"
    heading = "constraints, newest wins"
    if inline:
        heading += f": {' '.join(inline[-_REFS:])}"
    if past:
        heading += f"; superseded: {', '.join(past)}"
    return "\n".join([heading, *(f"{each.ref} {_clipped(each.text, _BOUND[form])}" for each in elsewhere)])


def _quoted(each: Constraint, standing: frozenset[str]) -> str:
    """A superseded constraint: its ref, and a few of its words where its message says more than it."""
    values = facts_of(each.text)
    return f"{each.ref} {values[0][:40]!r}" if values and each.ref in standing else each.ref


def _at(by: dict[str, Constraint], name: str | None) -> str:
    return by[name].ref if name in by and name is not None else str(name)


def _extracts(intent: Intent, form: int) -> str:
    made = intent.extraction
    if made is None or not made.extracts:
        return ""
    if form >= 2:
        return "extracts: " + " ".join(dict.fromkeys(each.ref for each in made.extracts[:_NAMED])) if form < 4 else ""
    kept = made.extracts if form == 0 else made.extracts[: (len(made.extracts) + 1) // 2]
    lines = ["extracts:", *(_extract(each) for each in kept)]
    if len(kept) < len(made.extracts):
        lines.append("also: " + " ".join(each.ref for each in made.extracts[len(kept) :][:_NAMED]))
    return "\n".join([*lines, *([made.hint] if made.hint else [])])


def _extract(each: Extract) -> str:
    what = " ".join(part for part in (each.todo or "", _flat(each.why)) if part)
    lead = f"{each.ref}{' ' + each.path if each.path else ''}{': ' + what if what else ''}"
    if not each.untrusted and "\n" not in each.text:
        return f"{lead}\n{each.text}"
    return f"{lead}\n{fence(each.ref, each.text)}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most or count(text) <= most else f"{head(text, most)} …"


def _marked(text: str, untrusted: bool) -> str:
    return "\n".join(f"< {line}" for line in text.splitlines()) if untrusted else text


def gist(line: Line, form: int) -> Line:
    """A message of the user without its small talk, or but its values: never longer than it was.

    Args:
        line: the message as a view shows it.
        form: 0 keeps every clause that asks, binds or changes something; 1 keeps the values that must stay exact.
    """
    mark, _, text = line.text.partition(" ")
    tail = f" […{line.tokens} tok {line.ref}]"
    kept: Callable[[str], list[str]] = _acting if form == 0 else facts_of
    body = (" … " if form == 0 else "; ").join(kept(text[:_READ]))
    short = f"{mark} {body}{tail}"
    tokens = count(short) + 1
    return replace(line, text=short, tokens=tokens) if tokens < line.tokens else line


_READ = 20_000


def _acting(text: str) -> list[str]:
    return [
        clause.text
        for clause in clauses(text)
        if clause.asks or clause.binds or clause.corrects or clause.cancels or clause.returns or clause.settles
    ]
