"""Shows the register and the extracts at the end of a view, in forms from full to ids alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxfold.log.lines import ALSO, BINDING, DECIDED, EXTRACTS, LIFTED, SO_FAR, TO_DO, fence, unposed
from ctxfold.tokens import count, head
from ctxfold.workspace.intent import Extract, Intent, Item, Statement, number_of

__all__ = ["FORMS", "closing"]

FORMS = 5
"""How many forms the register has, the last but ids."""

_WORDS = (80, 64, 32, 12, 0)
"""o200k tokens of a statement or an item, by form."""
_SUMMARY = (600, 200, 60, 0, 0)
_MARKS = {"open": "[ ]", "done": "[x]", "dropped": "[-]"}
_NAMED = 40
"""Items, statements and extracts that a form names at most, the newest."""


def closing(intent: Intent, form: int) -> str:
    """What a view says of the intent at its end, in a form from 0, the full one, to `FORMS` - 1."""
    most = _WORDS[form]
    parts = [
        _marked(f"{SO_FAR} {_clipped(intent.summary, _SUMMARY[form])}", intent.told.untrusted)
        if intent.summary and _SUMMARY[form]
        else "",
        _statements(BINDING, intent.constraints, most),
        _statements(DECIDED, intent.decisions, most),
        _lifted(intent.decisions, most),
        _todo(intent.items, most),
        _extracts(intent, form),
    ]
    return "\n".join(part for part in parts if part)


def _statements(title: str, every: Sequence[Statement], most: int) -> str:
    """What holds, each with where it was said and what it took the place of."""
    holding = [each for each in every if each.holds and number_of(each.id)][-_NAMED:]
    if not holding:
        return ""
    if not most:
        return f"{title} {_names(holding)}"
    was = {each.superseded_by: each for each in every if each.superseded_by is not None}
    return "\n".join([title, *(_statement(each, was.get(each.id), most) for each in holding)])


def _lifted(every: Sequence[Statement], most: int) -> str:
    """The findings that were lifted, by their addresses."""
    refs = [each.id for each in every if each.lifted and not number_of(each.id)]
    return f"{LIFTED} {' '.join(refs[-_NAMED:])}" if refs and most else ""


def _statement(each: Statement, old: Statement | None, most: int) -> str:
    before = (
        [] if old is None else [", ".join(part for part in (f"was {_differing(old.text, each.text)}", old.ref) if part)]
    )
    origin = "; ".join([*([each.ref] if each.ref else []), *before])
    said = f"{each.id} {_clipped(_flat(each.text), most)}{f' ({origin})' if origin else ''}"
    return _marked(said, each.untrusted or (old is not None and old.untrusted))


def _differing(old: str, new: str) -> str:
    """The words of an older text without those it begins and ends with like the newer one."""
    was, now = old.split(), new.split()
    while was[1:] and now and was[0] == now[0]:
        was, now = was[1:], now[1:]
    while was[1:] and now and was[-1] == now[-1]:
        was, now = was[:-1], now[:-1]
    return " ".join(was)


def _todo(items: Sequence[Item], most: int) -> str:
    """The to-do: open items in words, closed ones by their ids."""
    if not items:
        return ""
    opened = [item for item in items if item.state == "open"][-_NAMED:]
    closed = [
        f"{state} {_names(found)}"
        for state in ("done", "dropped")
        if (found := [item for item in items if item.state == state])
    ]
    heading = " ".join([TO_DO, "; ".join([*([_names(opened)] if opened and not most else []), *closed])]).strip()
    return "\n".join([heading, *(_item(item, most) for item in opened if most)])


def _item(item: Item, most: int) -> str:
    ref = f" ({item.ref})" if item.ref else ""
    return _marked(f"{item.id} {_MARKS[item.state]} {_clipped(_flat(item.text), most)}{ref}", item.untrusted)


def _names(every: Sequence[Item | Statement]) -> str:
    """The newest of some values by their ids, runs of numbers as one."""
    runs: list[list[str]] = []
    last = 0
    for each in every[-_NAMED:]:
        number = int(each.id[1:])
        if runs and number == last + 1:
            runs[-1][1:] = [each.id]
        else:
            runs.append([each.id])
        last = number
    return " ".join("-".join(run) for run in runs)


def _extracts(intent: Intent, form: int) -> str:
    made = intent.extraction
    if made is None or not made.extracts:
        return ""
    if form >= 2:
        return f"{EXTRACTS} {_refs(made.extracts)}" if form < 4 else ""
    kept = made.extracts if form == 0 else made.extracts[: (len(made.extracts) + 1) // 2]
    rest = made.extracts[len(kept) :]
    lines = [EXTRACTS, *map(_extract, kept), *([f"{ALSO} {_refs(rest)}"] if rest else [])]
    return "\n".join([*lines, *([made.hint] if made.hint else [])])


def _refs(extracts: Iterable[Extract]) -> str:
    return " ".join([*dict.fromkeys(each.ref for each in extracts)][:_NAMED])


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
