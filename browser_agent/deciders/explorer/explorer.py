"""Decides which page of a site to open next, and ends with the three passages that fit each question best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anyio import to_thread

from browser_agent.actions import Answer, GiveUp, Navigate, Terminal
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.explorer.quest import Quest
from browser_agent.deciders.explorer.question import Question, split_task
from browser_agent.deciders.protocol import Decided, Situation
from browser_agent.deciders.sources import Source
from browser_agent.observation import Observation
from ctxfold.decisions.fold.directive import FoldDirective

__all__ = ["Explorer"]

NAME = "explorer"


class Explorer:
    """Decides the steps of one task; the questions of one that asks several are answered one by one, each with its source.

    `pages`: what earlier runs have seen for it.
    """

    name = NAME

    def __init__(self, task: str, pages: Sequence[Observation] = ()) -> None:
        first, *self._later = split_task(task)
        self._pages = list(pages)
        self._quests = [Quest(Question.read(first), pages)]

    async def decide(self, situation: Situation) -> Decided:
        """Read the page that stands there, then open another, answer, or give up."""
        summary = ""
        if situation.observation is not None:
            summary = await to_thread.run_sync(self._read, situation.observation, situation.tip)
        fold = self._fold(situation.tip, summary)
        while situation.steps_left > 1:
            following = self._quests[-1].next()
            if following is not None:
                why, url = following
                return _decide(Decision(thought=why, fold=fold, actions=(Navigate(kind="navigate", url=url),)))
            if not self._later:
                break
            await to_thread.run_sync(self._begin_next)
        return await to_thread.run_sync(self._end, fold)

    def candidates(self) -> tuple[Source, ...]:
        """The passages that fit best so far, at most three a question, best first."""
        several = len(self._quests) + len(self._later) > 1
        return tuple(
            replace(source, question=quest.question.text if several else "")
            for quest in self._quests
            for source in quest.candidates()
        )

    def _read(self, page: Observation, step: int) -> str:
        self._pages.append(page)
        return self._quests[-1].read(page, step)

    def _begin_next(self) -> None:
        """Turn to the next question, with what was read for those before."""
        self._quests.append(Quest(Question.read(self._later.pop(0)), self._pages))

    def _end(self, fold: FoldDirective | None) -> Decided:
        while self._later:  # no steps are left for it: what was read must do
            self._begin_next()
        candidates = self.candidates()
        unsure = [quest for quest in self._quests if not quest.is_sure()]
        if unsure:
            told = f"no passage on {unsure[0].told} fits the question clearly best"
            if len(self._quests) > 1:
                told += f": {'; '.join(quest.question.text for quest in unsure)}"
            end: Terminal = GiveUp(kind="give_up", reason=told)
            thought = "No passage is sure enough to be the answer."
            return _decide(Decision(thought=thought, fold=fold, actions=(end,)), candidates)
        firsts = _firsts(candidates)
        text = "\n\n".join("\n".join(filter(None, (source.question, source.quote))) for source in firsts)
        end = Answer(kind="answer", text=text, quote=firsts[0].quote, url=firsts[0].url)
        thought = "The first passage fits the question clearly best."
        return _decide(Decision(thought=thought, fold=fold, actions=(end,)), candidates, firsts)

    def _fold(self, step: int, summary: str) -> FoldDirective | None:
        """What to keep of the last step; of a stretch that brought nothing, one summary for all its steps."""
        if not summary or step < 1:
            return None
        dry = self._quests[-1].take_dry()
        return FoldDirective(summary=summary) if dry is None else FoldDirective(summary=dry[1], first_step=dry[0])


def _firsts(candidates: tuple[Source, ...]) -> tuple[Source, ...]:
    """The best candidate of each question."""
    found: dict[str, Source] = {}
    for source in candidates:
        found.setdefault(source.question, source)
    return tuple(found.values())


def _decide(decision: Decision, candidates: tuple[Source, ...] = (), sources: tuple[Source, ...] = ()) -> Decided:
    return Decided(decision, NAME, "embedded", candidates=candidates, sources=sources)
