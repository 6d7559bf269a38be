"""Register, notes and other branches at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ctxfold.log.lines import (
    ALSO,
    BINDING,
    DECIDED,
    ELSEWHERE,
    EXTRACTS,
    HERE,
    LIFTED,
    SO_FAR,
    TO_DO,
    TOPIC,
    USER,
    fence,
    unposed,
)
from ctxfold.text.values import facts_of
from ctxfold.text.words import counted
from ctxfold.tokens import count, head
from ctxfold.workspace import (
    NOWHERE,
    BranchSummary,
    Elsewhere,
    Extract,
    Intent,
    Item,
    Statement,
    Turn,
    number_of,
    spans,
)

FORMS = 6
"""How many forms there are: five that show every turn, shorter and shorter, and the last, in which old turns are but addresses."""
VALUES = FORMS - 2
"""The form that keeps the values the user said in every turn, and no more."""
SHARE = 0.35
"""Of a view's budget, what it may take before it takes a shorter form."""

_SAID = (60, 60, 60, 24, 0)
"""o200k tokens of a message that stands whole; of a longer one stand its head and its values."""
_REPLY = (40, 16, 0, 0, 0)
_NEWEST = 0.6
"""Of the room of the last form, what the newest turns may fill with their words; those before them keep their values, as far as that goes."""
_NAMED = 24
"""Branches of which but the address stands that are named; the rest are counted."""
_SEAM = 14
"""Tokens a branch's heading and the address of its older turns cost at most, but for long names."""
_READ = 20_000

_Piece = tuple[str, int]
"""A turn as it stands, and what it costs with its line end."""


@dataclass(frozen=True, slots=True)
class ElsewhereText:
    """What stands elsewhere, in one of its forms; the text is empty for nothing, and `tokens` holds the seam before it."""

    held: Elsewhere = NOWHERE
    form: int = 0
    text: str = ""
    tokens: int = 0

    @classmethod
    def of(cls, held: Elsewhere) -> ElsewhereText:
        """The full form: every turn with what came of it."""
        return NOTHING if held.empty else cls(held)._in(0, 0)

    def within(self, room: float, last: int = FORMS - 1) -> ElsewhereText:
        """The first form from this one on that costs at most `room`; the form `last` where none does."""
        found = self
        while found.text and found.form < last and found.tokens > room:
            found = found._in(found.form + 1, room)
        if found.text and found.form == FORMS - 1 == last and found.tokens > room:
            found = found._in(last, room)
        return found

    def head(self, tokens: int) -> ElsewhereText:
        """Its first tokens, where not even addresses fit."""
        text = head(self.text, tokens)
        return replace(self, text=text, tokens=count(text) + 1 if text else 0)

    def _in(self, form: int, room: float) -> ElsewhereText:
        branches = [branch for branch in self.held.branches if branch.turns]
        if form < FORMS - 1:
            said, reply = _SAID[form], _REPLY[form]
            text, tokens = _listed(
                self.held, [(each, [_turn(turn, said, reply) for turn in each.turns]) for each in branches]
            )
        else:
            text, tokens = _newest(self.held, branches, room)
        return replace(self, form=form, text=text, tokens=tokens)


NOTHING = ElsewhereText()
"""Nothing stands elsewhere."""


def _listed(held: Elsewhere, branches: Sequence[tuple[BranchSummary, Sequence[_Piece]]]) -> _Piece:
    """Branches with their last turns, each in some form; the turns before those are an address."""
    lines = [_line(f"{HERE} topic {held.topic}, branch {held.branch}; {ELSEWHERE}")]
    for branch, pieces in branches:
        before = [step for turn in branch.turns[: len(branch.turns) - len(pieces)] for step in turn.steps]
        earlier = ", ".join(part for part in (branch.earlier, spans(before)) if part)
        after = f" from s{branch.forked_at}" if branch.forked_at else ""
        lines.append(_line(f"{TOPIC} {branch.topic}, branch {branch.branch}{after}]"))
        lines += [_line(f"[{earlier} | recall]")] if earlier else []
        lines += pieces
    return "\n".join(text for text, _ in lines), sum(tokens for _, tokens in lines)


def _newest(held: Elsewhere, branches: Sequence[BranchSummary], room: float) -> _Piece:
    """The newest turns of the branches left last in their words, older ones by their values, the oldest by address, as far as the room goes."""
    kept: dict[str, list[_Piece]] = {}
    spent = 24.0
    for branch in sorted(branches, key=lambda branch: -branch.visited):
        spent += _SEAM
        for turn in reversed(branch.turns):
            piece = _turn(turn, _SAID[0] if spent < _NEWEST * room else 0, 0)
            if spent + piece[1] > room:
                break
            spent += piece[1]
            kept.setdefault(branch.branch, []).insert(0, piece)
    text, tokens = _listed(held, [(each, kept[each.branch]) for each in branches if each.branch in kept])
    gone = [branch for branch in branches if branch.branch not in kept]
    if not gone:
        return text, tokens
    lead, price = (text, tokens) if kept else ("", 0)
    forms = [_line(_addresses(gone, named, held)) for named in (_NAMED, 8, 0)]
    rest = next((form for form in forms if price + form[1] <= room), forms[-1])
    return "\n".join(part for part in (lead, rest[0]) if part), price + rest[1]


def _addresses(branches: Sequence[BranchSummary], named: int, held: Elsewhere) -> str:
    """Branches by name and steps, the first few."""
    steps = [
        f"{each.branch} {spans([step for turn in each.turns for step in turn.steps])}" for each in branches[:named]
    ]
    if len(branches) > named:
        steps.append(
            f"{counted(len(branches) - named, 'more branch', 'more branches')} of {counted(len({each.topic for each in held.branches}), 'topic')}"
        )
    return f"{ELSEWHERE} {'; '.join(steps)}"


def refs_of(held: Elsewhere) -> Iterable[str]:
    """The addresses of the steps that stand beside the path, in order."""
    return (ref for branch in held.branches for turn in branch.turns for ref in spans(turn.steps).split(", "))


@lru_cache(maxsize=2_048)
def _line(text: str) -> _Piece:
    return text, count(text) + 1


@lru_cache(maxsize=16_384)
def _turn(turn: Turn, said: int, reply: int) -> _Piece:
    """A turn: its steps, the user's words, what came of it."""
    where = spans(turn.steps)
    parts = [f"{where} {_words(turn.said, said)}" if turn.said else where]
    if reply and turn.gist:
        parts.append(turn.gist if reply >= _REPLY[0] else _clipped(turn.gist.splitlines()[0], reply))
    return _line("\n".join(part for part in parts if part))


def _words(said: str, most: int) -> str:
    """A message: whole when it is short, else its head and the values further on, which must stay exact."""
    if len(said) <= most or (most and count(said) <= most):
        return f"{USER} {said}"
    lead = head(said, most * 2 // 3) if most else ""
    values = [value for value in facts_of(said[:_READ]) if value not in lead]
    return f"{USER} {lead}{' … ' if lead else ''}{'; '.join(values)}"


def _clipped(text: str, most: int) -> str:
    if text.startswith("<<"):
        return ""
    return text if count(text) <= most else f"{head(text, most)} …"


INTENT_FORMS = 5
"""How many forms the register has, the last but ids."""

_WORDS = (80, 64, 32, 12, 0)
"""o200k tokens of a statement or an item, by form."""
_SUMMARY = (600, 200, 60, 0, 0)
_MARKS = {"open": "[ ]", "done": "[x]", "dropped": "[-]"}
_INTENT_NAMED = 40
"""Items, statements and extracts that a form names at most, the newest."""


def closing(intent: Intent, form: int) -> str:
    """What a view says of the intent at its end, in a form from 0, the full one, to `FORMS` - 1."""
    most = _WORDS[form]
    parts = [
        _marked(f"{SO_FAR} {_clipped_intent(intent.summary, _SUMMARY[form])}", intent.told.untrusted)
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
    holding = [each for each in every if each.holds and number_of(each.id)][-_INTENT_NAMED:]
    if not holding:
        return ""
    if not most:
        return f"{title} {_names(holding)}"
    was = {each.superseded_by: each for each in every if each.superseded_by is not None}
    return "\n".join([title, *(_statement(each, was.get(each.id), most) for each in holding)])


def _lifted(every: Sequence[Statement], most: int) -> str:
    """The findings that were lifted, by their addresses."""
    refs = [each.id for each in every if each.lifted and not number_of(each.id)]
    return f"{LIFTED} {' '.join(refs[-_INTENT_NAMED:])}" if refs and most else ""


def _statement(each: Statement, old: Statement | None, most: int) -> str:
    before = (
        [] if old is None else [", ".join(part for part in (f"was {_differing(old.text, each.text)}", old.ref) if part)]
    )
    origin = "; ".join([*([each.ref] if each.ref else []), *before])
    said = f"{each.id} {_clipped_intent(_flat(each.text), most)}{f' ({origin})' if origin else ''}"
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
    opened = [item for item in items if item.state == "open"][-_INTENT_NAMED:]
    closed = [
        f"{state} {_names(found)}"
        for state in ("done", "dropped")
        if (found := [item for item in items if item.state == state])
    ]
    heading = " ".join([TO_DO, "; ".join([*([_names(opened)] if opened and not most else []), *closed])]).strip()
    return "\n".join([heading, *(_item(item, most) for item in opened if most)])


def _item(item: Item, most: int) -> str:
    ref = f" ({item.ref})" if item.ref else ""
    return _marked(f"{item.id} {_MARKS[item.state]} {_clipped_intent(_flat(item.text), most)}{ref}", item.untrusted)


def _names(every: Sequence[Item | Statement]) -> str:
    """The newest of some values by their ids, runs of numbers as one."""
    runs: list[list[str]] = []
    last = 0
    for each in every[-_INTENT_NAMED:]:
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
    return " ".join([*dict.fromkeys(each.ref for each in extracts)][:_INTENT_NAMED])


def _extract(each: Extract) -> str:
    what = " ".join(part for part in (each.todo or "", _flat(each.why)) if part)
    lead = f"{each.ref}{': ' + what if what else ''}"
    if not each.untrusted and "\n" not in each.text:
        return unposed(f"{lead}\n{each.text}")
    return f"{lead}\n{fence(each.ref, each.text)}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _clipped_intent(text: str, most: int) -> str:
    return text if len(text) <= most or count(text) <= most else f"{head(text, most)} …"


def _marked(text: str, untrusted: bool) -> str:
    return "\n".join(f"< {line}" for line in text.splitlines()) if untrusted else unposed(text)
