"""How sure the explorer may be of a passage. It ranks nothing: that a passage is the best does not make it an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from browser_agent.deciders.explorer.ranking import Found

__all__ = ["IN_FULL", "SURE", "confidence", "grounds", "trusted"]

SURE = 0.65
"""From here on nothing further is read."""

IN_FULL = 0.95
"""A passage stands under the very name asked about, not under one that only ends alike, when it does so this surely."""


@dataclass(frozen=True, slots=True)
class _Reckoning:
    """The base of the log odds, what each of the grounds tells, and the chance from which on a passage is given as the answer."""

    base: float
    weights: tuple[float, ...]
    trusted: float


_BY_WORDS = _Reckoning(-3.72, (0.73, 1.63, -1.15, -0.96, -1.5), 0.48)
"""Fitted by `tests/benchmarks/questions/fit.py` on 276 questions of our own, 225 of them answered on their site. Of 225 questions that a site answers 49
in 100 are then answered rightly and 14 wrongly, and of 75 that it does not answer 92 are declined. Where each file of questions is ranked and judged by
fits on the others, 15 in 100 answered wrongly allow for 48 answered rightly (at 0.49)."""

_BY_MEANING = _Reckoning(-6.86, (0.66, 1.12, -1.07, -0.49, -1.57, 0.86), 0.45)
"""Where an encoder compared them: fitted the same way with all-MiniLM-L6-v2 on 300 questions, 225 of them answered on their site, each asked with it. Of
those 57 in 100 are then answered rightly and 13 wrongly, and of the others 85 are declined. Where each part is ranked and judged by fits on the others, it is
57 and 14 by tenths, 54 and 12 by files, 50 and 14 by sites; words alone answer 50, 49 and 39 rightly for 15 wrongly."""

_WIDER = 5.0
"""How near passages come word by word differs by a fifth of what the other grounds do: it is told on their scale, so that a fit draws it as they are."""

_CLEAR = 1.0
"""A lead over the next best that is as large as this is as good as any."""


def confidence(best: Sequence[Found], missing: float) -> float:
    """The chance that the first of these passages answers the question, 0 to 1.

    Args:
        best: the passages that speak of the question most, best first, each with what speaks for it.
        missing: the share of the question's terms, by weight, that no page seen holds anywhere.

    Returns:
        The chance; 0 where there is no passage. It grows with the lead over the next one that says something else.
    """
    if not best:
        return 0.0
    reckoning = _reckoning(best[0])
    told = zip(reckoning.weights, grounds(best, missing), strict=True)
    evidence = reckoning.base + sum(weight * ground for weight, ground in told)
    return 1 / (1 + exp(-evidence))


def trusted(best: Sequence[Found], missing: float) -> bool:
    """Whether the first of these passages may be given as the answer: about 15 in 100 questions that a site answers are then answered wrongly.

    Args:
        best: as `confidence` takes them.
        missing: the same.
    """
    return bool(best) and confidence(best, missing) >= _reckoning(best[0]).trusted


def grounds(best: Sequence[Found], missing: float) -> tuple[float, ...]:
    """What the chance is told from: what speaks for the first passage, its lead, what it lacks, what is missing, and whether its part is.

    Where meaning was compared, also how near it comes to each word of the question: a passage may lie near the whole of a question and pass over
    the one part that it turns on.

    Args:
        best: as `confidence` takes them, one at least.
        missing: the same.
    """
    first = best[0]
    others = (found.score for found in best[1:] if found.passage.text != first.passage.text)
    margin = min(_CLEAR, first.score - next(others, first.score - _CLEAR))
    told = (first.score, margin, first.lacks, missing, float(first.partless))
    return told if first.meant is None else (*told, first.meant.words * _WIDER)


def _reckoning(first: Found) -> _Reckoning:
    return _BY_WORDS if first.meant is None else _BY_MEANING
