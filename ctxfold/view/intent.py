"""The register and the user's messages as a view shows them, in forms from full to nothing but addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ctxfold.log.lines import ALSO, BINDING, DECIDED, EXTRACTS, SO_FAR, TO_DO, Line, fence, unposed
from ctxfold.text import Span, sentences, windows
from ctxfold.text.values import facts_of
from ctxfold.tokens import count, head
from ctxfold.view.excerpt import excerpt, read
from ctxfold.workspace.intent import Extract, Intent, Item, Statement

__all__ = ["FORMS", "GISTS", "closing", "gist", "within"]

# The user's messages in less room than they need

GISTS = 4
"""How many forms a message has, the last but values."""

_READ = 3_000
"""Tokens for which a message is read at least, whatever its room."""
_ENDS = 20_000
"""Letters of a message's beginning, and as many of its end, whose sentences are looked at."""
_AROUND = (200, 100, 50, 24)
"""Letters that stay on both sides of a value when the rest of its sentence goes: as many as there is room for."""
_ASKS = ("?", "？")


def gist(line: Line, form: int, room: int = 0) -> Line:
    """A message in one of its shorter forms: never longer than it was.

    Args:
        line: the message as a view shows it.
        form: 0 keeps its first and last sentence, its questions and those that hold a value; 1 those that hold a value, or the first where none
            does; 2 the values with the words around them; 3 the values alone.
        room: o200k tokens the message may cost: as far as a form leaves some of it, the first two keep more sentences and the third more words.
    """
    mark, text, tail = _parted(line, room)
    left = room - count(mark) - count(tail) - 2
    match form:
        case 0 | 1:
            kept = _kept(text, form)
            short = excerpt(text, max(left, sum(count(words) + 2 for words in {span.of(text) for span in kept})), kept)
        case 2:
            forms = (_near_values(text, around) for around in _AROUND)
            short = next((words for words in forms if count(words) <= left), "") or _near_values(text, _AROUND[-1])
        case _:
            short = "; ".join(dict.fromkeys(facts_of(text)))
    return _reworded(line, f"{mark} {short}{tail}")


def within(line: Line, room: int) -> Line:
    """A message in a room: first the sentences that hold a value, from its beginning and its end; then more of both.

    Args:
        line: the message as a view shows it.
        room: o200k tokens it may cost.

    Returns:
        The message, where it fits as it is; else slices of it with marks between.
    """
    if line.tokens <= room:
        return line
    mark, text, tail = _parted(line, room)
    return _reworded(line, f"{mark} {excerpt(text, room - count(mark) - count(tail) - 2, _kept(text, 1))}{tail}")


def _parted(line: Line, room: int) -> tuple[str, str, str]:
    """The marker of a message, what is read of its words for a room, and the ref that stands behind what is left of them."""
    mark, _, text = line.text.partition(" ")
    return mark, read(text, max(room, _READ)), f" […{line.ref}]"


def _reworded(line: Line, text: str) -> Line:
    tokens = count(text) + 1
    return line.reworded(text, tokens, line.keys) if tokens < line.tokens else line


@lru_cache(maxsize=64)
def _kept(text: str, form: int) -> tuple[Span, ...]:
    """The sentences of a text that a form keeps; of a long text those of its beginning and its end."""
    every = [span for span in sentences(text) if span.start < _ENDS or span.start > len(text) - _ENDS]
    telling = [span for span in every if facts_of(span.of(text))]
    if form:
        return tuple(telling or every[:1])
    asking = [span for span in every if span.of(text).endswith(_ASKS)]
    return tuple(sorted({*every[:1], *every[-1:], *asking, *telling}))


def _near_values(text: str, around: int) -> str:
    """The values of a text, each with some letters of the words around it."""
    return " … ".join(dict.fromkeys(span.of(text) for span in windows(text, _values(text), around, around)))


@lru_cache(maxsize=64)
def _values(text: str) -> tuple[Span, ...]:
    """Wherever the values of a text stand in it."""
    found: set[Span] = set()
    for value in facts_of(text):
        at = text.find(value)
        while at >= 0:
            found.add(Span(at, at + len(value)))
            at = text.find(value, at + len(value))
    return tuple(sorted(found, key=lambda span: (span.start, -span.end)))


# The register

FORMS = 5
"""How many forms the register has, the last but ids."""

_WORDS = (80, 64, 32, 12, 0)
"""o200k tokens of a statement or an item, by form."""
_SUMMARY = (600, 200, 60, 0, 0)
_MARKS = {"open": "[ ]", "done": "[x]", "dropped": "[-]"}
_NAMED = 40
"""Items, statements and extracts that a form names at most, the newest."""


def closing(intent: Intent, form: int) -> str:
    """What a view says of the intent at its end.

    Args:
        intent: as it stands.
        form: 0 for the full form, to `FORMS` - 1.
    """
    most = _WORDS[form]
    parts = [
        _marked(f"{SO_FAR} {_clipped(intent.summary, _SUMMARY[form])}", intent.told.untrusted)
        if intent.summary and _SUMMARY[form]
        else "",
        _statements(BINDING, intent.constraints, most),
        _statements(DECIDED, intent.decisions, most),
        _todo(intent.items, most),
        _extracts(intent, form),
    ]
    return "\n".join(part for part in parts if part)


def _statements(title: str, every: Sequence[Statement], most: int) -> str:
    """What holds, each with where it was said and what it took the place of."""
    holding = [each for each in every if each.holds][-_NAMED:]
    if not holding:
        return ""
    if not most:
        return f"{title} {_names(holding)}"
    was = {each.superseded_by: each for each in every if each.superseded_by is not None}
    return "\n".join([title, *(_statement(each, was.get(each.id), most) for each in holding)])


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
