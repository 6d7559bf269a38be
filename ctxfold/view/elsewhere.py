"""What stands beside the path, as the volatile end of a view shows it: in forms from full to nothing but refs. It decides no budget.

Source: Context-Agent lists each turn of an inactive branch as the user's words and a summary of the reply, in order, none twice; a question for
everything brings all of the user's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ctxfold.log.lines import ELSEWHERE, HERE, TOPIC, USER
from ctxfold.text.values import facts_of
from ctxfold.tokens import count, head
from ctxfold.workspace.forest import NOWHERE, Elsewhere, Limb, Turn
from ctxfold.workspace.workspace import spans

__all__ = ["FORMS", "NOTHING", "VALUES", "Aside", "refs_of"]

FORMS = 6
"""How many forms there are: five that show every turn, shorter and shorter, and the last, in which old turns are but addresses."""
VALUES = FORMS - 2
"""The form that keeps the values the user said in every turn, and no more."""

_SAID = (60, 60, 60, 24, 0)
"""o200k tokens of a message that stands whole; of a longer one stand its head and its values."""
_REPLY = (40, 16, 0, 0, 0)
_WHOLE = 400
"""The same where everything was asked for."""
_NEWEST = 0.6
"""Of the room of the last form, what the newest turns may fill with their words; those before them keep their values, as far as that goes."""
_NAMED = 24
"""Branches of which but the address stands that are named; the rest are counted."""
_SEAM = 14
"""Tokens a branch's heading and the address of its older turns cost at most, but for long names."""
_READ = 20_000


@dataclass(frozen=True, slots=True)
class Aside:
    """What stands elsewhere, in one of its forms.

    Attributes:
        around: what there is.
        everything: whether the user asked for all that was said.
        form: the form.
        text: what stands in the view; empty for nothing.
        tokens: o200k tokens of the text, with the seam before it.
    """

    around: Elsewhere = NOWHERE
    everything: bool = False
    form: int = 0
    text: str = ""
    tokens: int = 0

    @classmethod
    def of(cls, around: Elsewhere, everything: bool = False) -> Aside:
        """The full form: every turn with what came of it."""
        return cls(around, everything)._in(0, 0) if any(limb.turns for limb in around.limbs) else NOTHING

    @property
    def share(self) -> float:
        """Of a view's budget, what it may take before it takes a shorter form."""
        return 0.6 if self.everything else 0.35

    def within(self, room: float, last: int = FORMS - 1) -> Aside:
        """The first form from this one on that costs at most `room`; the form `last` where none does.

        Args:
            room: o200k tokens.
            last: the shortest form it may take.
        """
        found = self
        while found.text and found.form < last and found.tokens > room:
            found = found._in(found.form + 1, room)
        if found.text and found.form == FORMS - 1 == last and found.tokens > room:
            found = found._in(last, room)
        return found

    def head(self, tokens: int) -> Aside:
        """Its first tokens, where not even addresses fit."""
        text = head(self.text, tokens)
        return replace(self, text=text, tokens=count(text) + 1 if text else 0)

    def _in(self, form: int, room: float) -> Aside:
        limbs = [limb for limb in self.around.limbs if limb.turns]
        said = _WHOLE if self.everything else 60
        if form < FORMS - 1:
            level = (said if self.everything and form < 3 else _SAID[form], _REPLY[form])
            text, tokens = _shown(self.around, [(limb, [_turn(turn, *level) for turn in limb.turns]) for limb in limbs])
        else:
            text, tokens = _newest(self.around, limbs, room, said)
        return replace(self, form=form, text=text, tokens=tokens)


Piece = tuple[str, int]
"""A turn as it stands, and what it costs with its line end."""


def _shown(around: Elsewhere, limbs: Sequence[tuple[Limb, Sequence[Piece]]]) -> Piece:
    """Limbs with their last turns, each in some form; the turns before those are an address."""
    lines = [_line(f"{HERE} topic {around.topic}, branch {around.branch}; {ELSEWHERE}")]
    for limb, pieces in limbs:
        before = [step for turn in limb.turns[: len(limb.turns) - len(pieces)] for step in turn.steps]
        earlier = ", ".join(part for part in (limb.earlier, spans(before)) if part)
        lines.append(_line(_heading(limb)))
        lines += [_line(f"[{earlier} | recall]")] if earlier else []
        lines += pieces
    return "\n".join(text for text, _ in lines), sum(tokens for _, tokens in lines)


def _newest(around: Elsewhere, limbs: Sequence[Limb], room: float, said: int) -> Piece:
    """The newest turns of the branches left last in their words, older ones by their values, the oldest by address, as far as the room goes."""
    kept: dict[str, list[Piece]] = {}
    spent = 24.0
    for limb in sorted(limbs, key=lambda limb: -limb.visited):
        spent += _SEAM
        for turn in reversed(limb.turns):
            piece = _turn(turn, said if spent < _NEWEST * room else 0, 0)
            if spent + piece[1] > room:
                break
            spent += piece[1]
            kept.setdefault(limb.branch, []).insert(0, piece)
    text, tokens = _shown(around, [(limb, kept[limb.branch]) for limb in limbs if limb.branch in kept])
    gone = [limb for limb in limbs if limb.branch not in kept]
    if not gone:
        return text, tokens
    lead, price = (text, tokens) if kept else ("", 0)
    forms = [_line(_addresses(gone, named, around)) for named in (_NAMED, 8, 0)]
    rest = next((form for form in forms if price + form[1] <= room), forms[-1])
    return "\n".join(part for part in (lead, rest[0]) if part), price + rest[1]


NOTHING = Aside()
"""Nothing stands elsewhere."""


def refs_of(around: Elsewhere) -> Iterable[str]:
    """The addresses of the steps that stand beside the path, in order."""
    return (ref for limb in around.limbs for turn in limb.turns for ref in spans(turn.steps).split(", "))


def _heading(limb: Limb) -> str:
    after = f" from s{limb.forked_at}" if limb.forked_at else ""
    return f"{TOPIC} {limb.topic}, branch {limb.branch}{after}]"


@lru_cache(maxsize=2_048)
def _line(text: str) -> Piece:
    return text, count(text) + 1


def _turn(turn: Turn, said: int, reply: int) -> Piece:
    return _piece(turn.steps, turn.said, turn.gist if reply else "", said, reply)


@lru_cache(maxsize=16_384)
def _piece(steps: tuple[int, ...], words: str, gist: str, said: int, reply: int) -> Piece:
    """A turn: its steps, the user's words, what came of it."""
    where = spans(steps)
    parts = [f"{where} {_words(words, said)}" if words else where]
    if gist:
        parts.append(gist if reply >= 40 else "\n".join(_clipped(line, reply) for line in gist.splitlines()[:1]))
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


def _addresses(limbs: Sequence[Limb], named: int, around: Elsewhere) -> str:
    """Branches by name and steps, the first few."""
    steps = [f"{limb.branch} {spans([step for turn in limb.turns for step in turn.steps])}" for limb in limbs[:named]]
    more = (
        [f"{len(limbs) - named} more branches of {len({limb.topic for limb in around.limbs})} topics"]
        if len(limbs) > named
        else []
    )
    return f"{ELSEWHERE} {'; '.join([*steps, *more])}"
