"""What a question wants to be told, more closely than by its kinds: the thing it is about, the measure of a figure, an error by name.

It reads no page and compares no terms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Wanted", "wanted"]

_ABOUT = re.compile(
    r"\b(?:what|when|how|why|where)\s+(?:does|do|did|is|can|will|must|should)\s+(?:the\s+|an?\s+)?([A-Za-z_][\w.]*)",
    re.I,
)
"""What stands where a question has its subject: `round` in *What does round do with a half?*"""

_MEASURES = tuple(
    (re.compile(asks, re.I), re.compile(tells, re.I))
    for asks, tells in (
        (
            r"\bhow (long|old|often|soon|fast)\b",
            r"\b((milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|ms|characters?|bytes?|timeout|unlimited|forever)\b",
        ),
        (
            r"\bhow (big|large|much|wide|far|deep)\b|\b(size|maximum|longest|largest)\b",
            r"\b(bytes?|[KMGT]i?B|size|characters?|elements?|items?)\b",
        ),
        (r"\bport\b", r"\bport\b.*\d|\d.*\bport\b"),
    )
)
"""How a question asks for a figure, and what stands beside such a figure."""

_RAISED = re.compile(r"\brais|\bthrow|\berror|\bexception", re.I)
_ERROR = re.compile(r"[A-Z]\w*(Error|Exception|Warning|Expired)\b")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one question wants.

    Attributes:
        about: the last part of the name that is its subject, in lower case; empty where it has none.
        measures: what stands beside a figure such as it asks for.
        error: whether it asks for what is raised.
    """

    about: str
    measures: tuple[re.Pattern[str], ...]
    error: bool

    def measured(self, text: str) -> bool:
        """Whether a text holds a figure of a measure that is asked for."""
        return any(measure.search(text) for measure in self.measures)

    def raises(self, text: str) -> bool:
        """Whether an error is asked for and a text names one."""
        return self.error and _ERROR.search(text) is not None

    def defined(self, name: str) -> bool:
        """Whether a defined name is the subject."""
        return bool(self.about) and name.lower().rpartition(".")[2] == self.about


def wanted(question: str) -> Wanted:
    """What a question wants.

    Args:
        question: in the user's words.
    """
    subject = _ABOUT.search(question)
    return Wanted(
        subject.group(1).lower().rpartition(".")[2] if subject else "",
        tuple(tells for asks, tells in _MEASURES if asks.search(question)),
        _RAISED.search(question) is not None,
    )
