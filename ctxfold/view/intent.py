"""The intent as the volatile end of a view, in forms from full to nothing but refs. It decides no budget: a view takes the first form that fits.

What stands verbatim elsewhere in the view is named by its ref, never repeated: the register's words are the user's own, and those stand inline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ctxfold.decisions.intent.cues import Clause, clauses
from ctxfold.log.lines import ALSO, BINDING, EXTRACTS, SO_FAR, SUPERSEDED, TO_DO, Line, fence, unposed
from ctxfold.text import Span, sentences, windows
from ctxfold.text.values import facts_of
from ctxfold.tokens import count, head
from ctxfold.view.excerpt import excerpt, read
from ctxfold.workspace.intent import AMENDED, Constraint, Extract, Intent, Item, Said

__all__ = ["FORMS", "GISTS", "closing", "gist", "told", "within"]


GISTS = 4
"""How many forms there are, the last but values."""

_IN_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand|noon|midnight|half past|quarter (?:to|past)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|named|called)\b"
    r"|[一二两三四五六七八九十百千万]+(?:[个位人张点号月日年天晚周度桌条棵块元折次份箱件台套间]|分钟)|周[一二三四五六日末]|星期[一二三四五六日天]|明天|后天"
    r"|[\u3400-\u9fff](?:先生|女士|医生|老师|经理|律师|太太|小姐|教授)|名叫|名字",
    re.I,
)
"""Values in plain words: they are told from others by sense alone, so they only decide what of a message goes first."""
_READ = 3_000
"""Tokens for which a message is read at least, whatever its room."""
_TOLD = 20_000
"""Letters of a message's beginning, and as many of its end, whose sentences are told apart by what they do."""
_AROUND = (200, 100, 50, 24)
"""Letters that stay on both sides of a value when the rest of its clause goes: as many as there is room for."""


def gist(line: Line, form: int, room: int = 0) -> Line:
    """A message in one of its shorter forms: never longer than it was.

    Args:
        line: the message as a view shows it.
        form: 0 keeps every sentence that asks, binds or changes something, once; 1 those that ask, change or hold a value; 2 the values with the
            words around them; 3 the values alone.
        room: o200k tokens the message may cost: as far as a form leaves some of it, the first two keep more sentences and the third more words.
    """
    mark, text, tail = _parted(line, room)
    left = room - count(mark) - count(tail) - 2
    match form:
        case 0 | 1:
            kept = _kept(text, form)
            short = excerpt(text, max(left, _price(text, kept)), kept)
        case 2:
            forms = (_near_values(text, around) for around in _AROUND)
            short = next((words for words in forms if count(words) <= left), "") or _near_values(text, _AROUND[-1])
        case _:
            short = "; ".join(dict.fromkeys(facts_of(text)))
    return _reworded(line, f"{mark} {short}{tail}")


def within(line: Line, room: int) -> Line:
    """A message in a room: first what asks, changes something or holds a value, from its beginning and its end; then more of both.

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
    """The sentences of a text that a form keeps: those of which some clause does. Of a long text its beginning and its end are told apart so."""
    return tuple(
        span
        for span in sentences(text)
        if (span.start < _TOLD or span.start > len(text) - _TOLD)
        and any(_keeps(clause, form) for clause in clauses(span.of(text)))
    )


def _keeps(clause: Clause, form: int) -> bool:
    return _acts(clause) or _tells(clause.text) or (form == 0 and clause.binds)


def _price(text: str, kept: Sequence[Span]) -> int:
    """Tokens in which an excerpt of a text has room for what is kept."""
    return sum(count(words) + 2 for words in {span.of(text) for span in kept})


def _acts(clause: Clause) -> bool:
    return clause.asks or clause.corrects or clause.cancels or clause.returns or clause.settles


def _tells(text: str) -> bool:
    """Whether a clause holds a value, be it one in plain words."""
    return bool(facts_of(text)) or _IN_WORDS.search(text) is not None


def _near_values(text: str, around: int) -> str:
    """The values of a text, each with some letters of the words around it."""
    return " … ".join(dict.fromkeys(span.of(text) for span in windows(text, _values(text), around, around)))


@lru_cache(maxsize=64)
def _values(text: str) -> tuple[Span, ...]:
    """Wherever the values of a text stand in it, those in plain words among them."""
    found: set[Span] = set()
    for value in dict.fromkeys((*facts_of(text), *(match[0] for match in _IN_WORDS.finditer(text)))):
        at = text.find(value)
        while at >= 0:
            found.add(Span(at, at + len(value)))
            at = text.find(value, at + len(value))
    return tuple(sorted(found, key=lambda span: (span.start, -span.end)))


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
    return text in shown or (bool(values := _values_showing(text)) and all(value in shown for value in values))


@lru_cache(maxsize=4_096)
def _values_showing(text: str) -> tuple[str, ...]:
    return tuple(facts_of(text))


def _quoted(each: Constraint, shown: Mapping[str, str]) -> str:
    """A superseded constraint: its ref, and a few of its words where its message says more than it."""
    values = _values_showing(each.text)
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
