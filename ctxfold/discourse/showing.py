"""What stands beside the path, as the volatile end of a view shows it: in forms from full to nothing but refs. It decides no budget.

Source: Context-Agent lists each turn of an inactive branch as the user's words and a summary of the reply, in order, none twice; a question for
everything brings all of the user's words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ctxfold.discourse.values import NOWHERE, Elsewhere, Limb, Turn
from ctxfold.intent.cues import facts_of
from ctxfold.tokens import count, head
from ctxfold.workspace import spans

__all__ = ["FORMS", "NOTHING", "VALUES", "Aside", "beside", "refs_of"]

FORMS = 6
"""How many forms there are, the last but refs."""
VALUES = FORMS - 2
"""The form that keeps the values the user said, and no more."""

_SAID = (60, 60, 60, 24, 0, 0)
"""o200k tokens of a message that stands whole; of a longer one stand its head and its values."""
_REPLY = (40, 16, 0, 0, 0, 0)
_WHOLE = 400
"""The same where everything was asked for."""
_STRETCHES = 24
"""Branches the last form names; the rest are counted."""
_READ = 20_000


def beside(around: Elsewhere, form: int, everything: bool = False) -> str:
    """The other branches and topics, in order.

    Args:
        around: what stands beside the path.
        form: 0 for the full form, to `FORMS` - 1.
        everything: whether the user asked for all that was said: then the user's words stand whole for as long as they may.
    """
    limbs = [limb for limb in around.limbs if limb.turns]
    if not limbs:
        return ""
    if form >= FORMS - 1:
        return _addresses(limbs)
    said = _WHOLE if everything and form < 3 else _SAID[form]
    made = [f"here: topic {around.topic}, branch {around.branch}; elsewhere:"]
    for limb in limbs:
        made.append(_heading(limb))
        made += [f"[{limb.earlier} | recall]"] if limb.earlier else []
        made += [_turn(turn, said, _REPLY[form]) for turn in limb.turns]
    return "\n".join(made)


@dataclass(frozen=True, slots=True)
class Aside:
    """What stands elsewhere, in one of its forms.

    Attributes:
        around: what there is.
        everything: whether the user asked for all that was said.
        form: the form.
        text: what stands in the view; empty for nothing.
    """

    around: Elsewhere = NOWHERE
    everything: bool = False
    form: int = 0
    text: str = ""

    @classmethod
    def of(cls, around: Elsewhere, everything: bool = False) -> Aside:
        """The full form."""
        return cls(around, everything, 0, beside(around, 0, everything))

    @property
    def tokens(self) -> int:
        """o200k tokens, with the seam before it."""
        return count(self.text) + 1 if self.text else 0

    @property
    def share(self) -> float:
        """Of a view's budget, what it may take before it takes a shorter form."""
        return 0.6 if self.everything else 0.35

    def within(self, room: float, last: int = FORMS - 1) -> Aside:
        """The first form from this one on that costs at most `room`; the form `last` where none does."""
        found = self
        while found.text and found.form < last and found.tokens > room:
            form = found.form + 1
            found = replace(found, form=form, text=beside(found.around, form, found.everything))
        return found

    def head(self, tokens: int) -> Aside:
        """Its first tokens, where not even addresses fit."""
        return replace(self, text=head(self.text, tokens))


NOTHING = Aside()
"""Nothing stands elsewhere."""


def refs_of(around: Elsewhere) -> Iterable[str]:
    """The addresses of the steps that stand beside the path, in order."""
    return (ref for limb in around.limbs for turn in limb.turns for ref in spans(turn.steps).split(", "))


def _heading(limb: Limb) -> str:
    after = f" from s{limb.forked_at}" if limb.forked_at else ""
    return f"[topic {limb.topic}, branch {limb.branch}{after}]"


def _turn(turn: Turn, said: int, reply: int) -> str:
    where = spans(turn.steps)
    parts = [f"{where} {_words(turn.said, said)}" if turn.said else where]
    if reply and turn.gist:
        parts.append(
            turn.gist if reply >= 40 else "\n".join(_clipped(line, reply) for line in turn.gist.splitlines()[:1])
        )
    return "\n".join(parts)


def _words(said: str, most: int) -> str:
    """A message: whole when it is short, else its head and the values further on, which must stay exact."""
    if len(said) <= most or (most and count(said) <= most):
        return f"user: {said}"
    lead = head(said, most * 2 // 3) if most else ""
    values = [value for value in facts_of(said[:_READ]) if value not in lead]
    return f"user: {lead}{' … ' if lead else ''}{'; '.join(values)}"


def _clipped(text: str, most: int) -> str:
    if text.startswith("<<"):
        return ""
    return text if count(text) <= most else f"{head(text, most)} …"


def _addresses(limbs: list[Limb]) -> str:
    named = [
        f"{limb.branch} {spans([step for turn in limb.turns for step in turn.steps])}" for limb in limbs[:_STRETCHES]
    ]
    more = f"; {len(limbs) - _STRETCHES} more" if len(limbs) > _STRETCHES else ""
    return f"elsewhere: {'; '.join(named)}{more}"
