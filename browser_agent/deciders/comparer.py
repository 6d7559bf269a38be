"""The embedded decider for a task that compares: each alternative is explored on a branch of its own, then it comes back and answers from all of them.

It opens no page itself: an explorer for each alternative says what to do; this one says where it belongs.
Source: Context-Agent's forest: options that are compared stand beside each other, each in brief on the other's view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from browser_agent.actions import Answer, GiveUp, Navigate
from browser_agent.deciders.alternatives import Alternative, Comparison
from browser_agent.deciders.amounts import amount, row
from browser_agent.deciders.comparing import BranchWritten
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.earlier import Earlier, Told, note_of
from browser_agent.deciders.protocol import Decided, Decider, Situation
from browser_agent.deciders.sources import Source
from ctxfold.tokens import head

__all__ = ["Comparer"]

_TOLD = 140
"""o200k tokens of what came of one alternative, as it stands on its branch."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of an alternative: the answer and its passage, or why there is none."""

    of: Alternative
    text: str = ""
    source: Source | None = None
    reason: str = ""


class Comparer:
    """Decides the steps of a run that compares, with no model.

    Args:
        comparison: what is compared.
        explorer: makes the explorer of a task.
        before: where the comparison stands, in a run that goes on with one; None for a new one.
    """

    def __init__(
        self, comparison: Comparison, explorer: Callable[[str], Decider], before: Earlier | None = None
    ) -> None:
        self._comparison = comparison
        self._explorers = [explorer(each.task) for each in comparison.alternatives]
        self.name = self._explorers[0].name
        self._resumes = before is not None
        before = before or Earlier("", 0, "", ())
        self._found = [_recalled(of, told) for of, told in zip(comparison.alternatives, before.told, strict=False)]
        self._home = before.home
        self._trunk = before.trunk
        self._begin = before.begin
        self._held: Decided | None = None

    async def decide(self, situation: Situation) -> Decided:
        """Go on with the alternative at hand; where it is settled, turn to the next; after the last, come back and answer."""
        if self._held is not None:
            held, self._held = self._held, None
            return self._settle(held, situation)
        if self._resumes:
            self._resumes = False
            return self._open(situation)
        first = not self._home
        if first:
            self._home, self._trunk = situation.workspace.elsewhere.branch or "main", situation.tip
            self._begin = situation.observation.url if situation.observation is not None else ""
            if situation.observation is None:
                return self._open(situation)
        at = len(self._found)
        left = len(self._explorers) - at
        decided = self._listed(situation)
        if decided is None:
            share = max(1, (situation.steps_left - left) // left)
            decided = await self._explorers[at].decide(replace(situation, steps_left=share))
        if first and decided.decision.end is not None:
            self._held = decided
            return self._open(situation)
        if decided.decision.end is not None:
            return self._settle(decided, situation)
        return self._placed(decided, situation, first)

    def _settle(self, decided: Decided, situation: Situation) -> Decided:
        """An alternative is told, or cannot be: on to the next, or back."""
        self._found.append(_finding(self._comparison.alternatives[len(self._found)], decided))
        return self._next(decided, situation) if len(self._found) < len(self._explorers) else self._answer(decided)

    def _open(self, situation: Situation) -> Decided:
        """Open the first alternative that is not told, on its branch."""
        next_ = self._comparison.alternatives[len(self._found)]
        names = " and ".join(each.name for each in self._comparison.alternatives)
        told = ", ".join(each.of.name for each in self._found)
        decision = Decision(
            thought=f"Compare {names}: {f'{told} told, now' if told else 'first,'} {next_.name}.",
            actions=(Navigate(kind="navigate", url=next_.url or self._begin),),
            branch=self._to(next_, situation, ""),
        )
        return Decided(decision, self.name, "embedded")

    def _listed(self, situation: Situation) -> Decided | None:
        """The answer, where the page lists the thing in exactly one row."""
        page, thing = situation.observation, self._comparison.alternatives[len(self._found)].thing
        if page is None or not thing:
            return None
        found = row(page, thing, self._comparison.measure)
        if found is None:
            return None
        line, value, url = found
        answer = Answer(kind="answer", text=f"{thing}: {value}", quote=line, url=url)
        decision = Decision(thought=f"The page lists {thing}.", actions=(answer,))
        return Decided(decision, self.name, "embedded")

    def nearest(self) -> tuple[Source, ...]:
        """What was found of each alternative so far."""
        told = tuple(each.source for each in self._found if each.source is not None)
        open_ = self._explorers[len(self._found) :][:1]
        return (*told, *(source for explorer in open_ for source in explorer.nearest()))[:4]

    def _placed(self, decided: Decided, situation: Situation, first: bool) -> Decided:
        """A step of an alternative; the first one of all opens its branch."""
        if not first:
            return decided
        branch = self._to(self._comparison.alternatives[0], situation, "")
        return replace(decided, decision=decided.decision.model_copy(update={"branch": branch}))

    def _to(self, next_: Alternative, situation: Situation, found: str) -> BranchWritten | None:
        """The way to an alternative's branch: it is made, or in a run that goes on is there; None where one stands on it."""
        if situation.workspace.elsewhere.branch == next_.name:
            return None
        there = {each.branch for each in situation.workspace.elsewhere.branches}
        if next_.name in there:
            return BranchWritten(action="switch", to=next_.name, found=found)
        return BranchWritten(action="create", to=next_.name, at=self._trunk or None, found=found)

    def _next(self, decided: Decided, situation: Situation) -> Decided:
        """Leave an alternative with what came of it, and open the next."""
        next_ = self._comparison.alternatives[len(self._found)]
        decision = Decision(
            thought=f"{_said(self._found[-1])} Next, {next_.name}.",
            fold=decided.decision.fold,
            actions=(Navigate(kind="navigate", url=next_.url or self._begin),),
            branch=self._to(next_, situation, _kept(self._found[-1])),
        )
        return Decided(decision, self.name, "embedded")

    def _answer(self, decided: Decided) -> Decided:
        """Come back with what was found of all of them."""
        back = BranchWritten(action="switch", to=self._home, found=_kept(self._found[-1]))
        missing = [each for each in self._found if each.source is None]
        told = " ".join(_said(each) for each in self._found)
        sources = tuple(each.source for each in self._found if each.source is not None)
        if missing:
            names = " and ".join(each.of.name for each in missing)
            end = GiveUp(kind="give_up", reason=f"nothing sure was found for {names}. {told}")
            decision = Decision(thought="Not all of them could be told.", actions=(end,), branch=back)
            return Decided(decision, self.name, "embedded", nearest=(*sources, *decided.nearest)[:4])
        first, *rest = sources
        text = " ".join(filter(None, (self._verdict(), told)))
        answer = Answer(kind="answer", text=text, quote=first.quote, url=first.url)
        decision = Decision(thought="All of them are told; compare them.", actions=(answer,), branch=back)
        return Decided(decision, self.name, "embedded", beside=tuple(rest))

    def _verdict(self) -> str:
        """Which is asked for, where each was told by one number in the same unit; empty elsewhere: nothing is guessed."""
        if not self._comparison.best:
            return ""
        values = [amount(each.text, self._comparison.measure, each.of.thing) for each in self._found]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or len({unit for _, unit in known}) > 1:
            return ""
        wanted = (min if self._comparison.least else max)(number for number, _ in known)
        winners = [each.of.name for each, (number, _) in zip(self._found, known, strict=True) if number == wanted]
        return f"{self._comparison.best.capitalize()}: {winners[0]}." if len(winners) == 1 else "They are the same."


def _finding(of: Alternative, decided: Decided) -> Finding:
    match decided.decision.end:
        case Answer(text=text, quote=quote, url=url):
            return Finding(of, text, Source(quote or text, url or ""))
        case GiveUp(reason=reason):
            return Finding(of, reason=reason)
        case None:
            return Finding(of)


def _recalled(of: Alternative, told: Told) -> Finding:
    """What an earlier run has told."""
    return Finding(of, told.text, Source(told.quote, told.url)) if told.url else Finding(of, reason="not found")


def _said(found: Finding) -> str:
    if found.source is None:
        return note_of(Told(found.of.name))
    return f"{found.of.name}: {head(found.text, _TOLD).rstrip('.')} ({found.source.url})."


def _kept(found: Finding) -> str:
    """What is kept of an alternative on its branch: what is said of it, and its passage."""
    if found.source is None:
        return note_of(Told(found.of.name))
    return note_of(Told(found.of.name, head(found.text, _TOLD), found.source.url, found.source.quote))
