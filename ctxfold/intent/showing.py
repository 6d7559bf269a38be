"""The intent as the volatile end of a view, in forms from full to nothing but refs. It decides no budget: a view takes the first form that fits.

What stands verbatim elsewhere in the view is named by its ref, never repeated: the register's words are the user's own, and those stand inline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ctxfold.headings import ALSO, BINDING, EXTRACTS, SO_FAR, SUPERSEDED, TO_DO
from ctxfold.intent.cues import facts_of
from ctxfold.intent.values import AMENDED, Constraint, Extract, Intent, Item, Said
from ctxfold.lines import fence, unposed
from ctxfold.tokens import count, head

__all__ = ["FORMS", "closing", "told"]

FORMS = 5
"""How many forms there are, the last but refs."""

_ITEM = (64, 48, 24, 12, 0)
_BOUND = (80, 64, 32, 12, 0)
_FIRST = 5
"""Tokens of an item that tell it from another of its message, where one of them is closed."""
_INLINE = 8
"""Messages whose open items are named by where they stand, the newest."""
_PAST = (6, 6, 4, 0, 0)
_SUMMARY = (600, 200, 60, 0, 0)
_NAMED = 40
"""Items and constraints that a form names at most; the rest are counted."""


def closing(intent: Intent, shown: Mapping[str, str], form: int) -> str:
    """What a view says of the intent at its end.

    Args:
        intent: as it stands.
        shown: what the view shows of each message of the user, by its record: words that stand there are named, not repeated.
        form: 0 for the full form, to `FORMS` - 1.
    """
    parts = [
        _summary(intent.course, _SUMMARY[form]),
        _todo(intent, shown, _ITEM[form]),
        _register(intent, shown, form),
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
    return _marked(f"{SO_FAR} {text}", any(said.untrusted for said in words))


def _todo(intent: Intent, shown: Mapping[str, str], most: int) -> str:
    """The to-do: open items whose words stand in the view by where they stand, the others by their words, closed ones by their names."""
    if not intent.items:
        return ""
    closed = [
        f"{state} {_names(found)}"
        for state in ("done", "dropped")
        if (found := [item for item in intent.items if item.state == state])
    ]
    if not most:
        return f"{TO_DO} {'; '.join([*([_names(intent.open)] if intent.open else []), *closed])}"
    inline = [item for item in intent.open if _stands(item, shown)]
    words = [_item(item, most) for item in intent.open if item not in inline]
    heading = "; ".join([*_by_message(intent, inline), *closed])
    return "\n".join([f"{TO_DO} {heading}" if heading else TO_DO, *words])


def _names(items: Sequence[Item]) -> str:
    """The newest of some items by name, runs of numbers as one."""
    runs: list[list[int]] = []
    for item in items[-_NAMED:]:
        number = int(item.id[1:])
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(f"t{run[0]}" if len(run) == 1 else f"t{run[0]}-t{run[-1]}" for run in runs)


def _by_message(intent: Intent, items: Sequence[Item]) -> Iterator[str]:
    """Open items by the message they stand in; by their first words too, where another of that message is closed."""
    by: dict[str, list[Item]] = {}
    for item in items:
        by.setdefault(item.ref, []).append(item)
    mixed = {item.ref for item in intent.items if item.state != "open"}
    newest = list(by)[-_INLINE:]
    if len(by) > len(newest):
        yield f"{sum(len(by[ref]) for ref in by if ref not in newest)} older"
    for ref in newest:
        names = [f"{item.id} {head(_flat(item.text), _FIRST)!r}" for item in by[ref]] if ref in mixed else []
        yield f"{ref.removesuffix('.1')} {', '.join(names) or _names(by[ref])}"


def _stands(item: Item, shown: Mapping[str, str]) -> bool:
    """Whether the words of an item, and those that changed it, stand in the view where the user said them."""
    first, *changed = item.text.split(AMENDED)
    said = [shown.get(ref, "") for ref in item.evidence]
    return first in shown.get(item.ref, "") and all(any(part in text for text in said) for part in changed)


def _item(item: Item, most: int) -> str:
    ref = f" ({item.ref})" if item.ref else ""
    return _marked(f"{item.id} {_clipped(_flat(item.text), most)}{ref}", item.untrusted)


def _register(intent: Intent, shown: Mapping[str, str], form: int) -> str:
    """The constraints that hold and whose words stand nowhere else in the view, and what took the place of which."""
    absent = [each for each in intent.binding if not _holds(shown.get(each.ref, ""), each.text)]
    elsewhere = list({each.text: each for each in absent}.values())
    gone = [each for each in intent.constraints if each.superseded_by is not None]
    by = {each.id: each for each in intent.constraints}
    past = [
        f"{_quoted(each, shown)} by {_at(by, each.superseded_by)}" for each in gone[max(len(gone) - _PAST[form], 0) :]
    ]
    if not _BOUND[form]:
        refs = list(dict.fromkeys(each.ref for each in elsewhere))
        return f"{BINDING}: {' '.join(refs[-_NAMED:])}" if refs else ""
    said = [f"{SUPERSEDED} {', '.join(past)}"] if past else []
    if elsewhere:
        said += [BINDING, *(f"{each.ref} {_clipped(each.text, _BOUND[form])}" for each in elsewhere)]
    return "\n".join(said)


def _holds(shown: str, text: str) -> bool:
    """Whether a message as the view shows it still says a constraint: its words, or all of its values."""
    return text in shown or (bool(values := _values(text)) and all(value in shown for value in values))


@lru_cache(maxsize=4_096)
def _values(text: str) -> tuple[str, ...]:
    return tuple(facts_of(text))


def _quoted(each: Constraint, shown: Mapping[str, str]) -> str:
    """A superseded constraint: its ref, and a few of its words where its message says more than it."""
    values = _values(each.text)
    return f"{each.ref} {values[0][:40]!r}" if values and each.text in shown.get(each.ref, "") else each.ref


def _at(by: dict[str, Constraint], name: str | None) -> str:
    return by[name].ref if name in by and name is not None else str(name)


def _extracts(intent: Intent, form: int) -> str:
    made = intent.extraction
    if made is None or not made.extracts:
        return ""
    if form >= 2:
        return f"{EXTRACTS} " + " ".join(dict.fromkeys(each.ref for each in made.extracts[:_NAMED])) if form < 4 else ""
    kept = made.extracts if form == 0 else made.extracts[: (len(made.extracts) + 1) // 2]
    lines = [EXTRACTS, *(_extract(each) for each in kept)]
    if len(kept) < len(made.extracts):
        lines.append(f"{ALSO} " + " ".join(each.ref for each in made.extracts[len(kept) :][:_NAMED]))
    return "\n".join([*lines, *([made.hint] if made.hint else [])])


def _extract(each: Extract) -> str:
    what = " ".join(part for part in (each.todo or "", _flat(each.why)) if part)
    lead = f"{each.ref}{' ' + each.path if each.path else ''}{': ' + what if what else ''}"
    if not each.untrusted and "\n" not in each.text:
        return unposed(f"{lead}\n{each.text}")
    return f"{lead}\n{fence(each.ref, each.text)}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most or count(text) <= most else f"{head(text, most)} …"


def _marked(text: str, untrusted: bool) -> str:
    return "\n".join(f"< {line}" for line in text.splitlines()) if untrusted else unposed(text)
