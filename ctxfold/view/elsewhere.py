"""Shows the other branches and topics at the end of a view, in forms from full to refs alone.

Source: Context-Agent lists each turn of an inactive branch as the user's words and a summary of the reply, in order, none twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ctxfold.log.lines import ELSEWHERE, HERE, TOPIC, USER
from ctxfold.text.entities import facts_of
from ctxfold.text.words import counted
from ctxfold.tokens import count, head
from ctxfold.workspace.forest import NOWHERE, BranchSummary, Elsewhere, Turn
from ctxfold.workspace.workspace import spans

__all__ = ["FORMS", "NOTHING", "SHARE", "VALUES", "ElsewhereText", "refs_of"]

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
