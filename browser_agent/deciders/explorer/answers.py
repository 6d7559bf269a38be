"""Whether a passage holds the kind of answer a question asks for: an error's name, a version, a default. It compares no terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from browser_agent.deciders.explorer.question import Kind, Question

if TYPE_CHECKING:
    from browser_agent.deciders.explorer.passages import Passage

__all__ = ["holds", "sets"]

_ERROR = re.compile(
    r"\b(?!This|The|That|An?\b|Any|Each|Which|If|No|Other)[A-Z]\w+ (exception|error)\b|"
    r"\b[A-Z]\w*(Error|Exception|Warning|Expired|Interrupt|Exit)\b|\b[A-Z]\w+\b(?= (is|are|will be|gets) raised)|(?<=[Rr]aises )(an? )?\w*\.?[A-Z]\w+"
)
_RAISED = re.compile(r"\brais|\bthrow|\berror\b|\bexception\b|\bfail", re.I)
_SINCE = re.compile(
    r"\b(new|added|changed|introduced|available|removed|deprecated|since|as of|starting|appeared|first)\b\D{0,40}\d+\.\d+",
    re.I,
)
_VERSION = re.compile(r"\b\d+\.\d+\b")
_DEFAULT = re.compile(
    r"\bdefaults?\b|\bby default\b|\b(if|when) (\w+ ){0,5}(omitted|not (given|specified|set|provided)|None|unspecified|absent)",
    re.I,
)
_FIGURE = re.compile(
    r"\d|\b(zero|ten|twelve|hundred|thousand|million|billion|unlimited|infinit\w+|None|no limit|once|twice)\b",
    re.I,
)
_NAMED = re.compile(r"\w\(\)|\w_\w|(?<!\w)--?[a-zA-Z]\w+|\b[a-z]+[A-Z]\w+|\b\w+\.\w+\b")
_WAY = re.compile(r"\b(use|call|set|pass|specify|run|type|can be|you can|by|with)\b|\w\(", re.I)
_TEST = re.compile(
    r"\b(returns?|gives?) (True|true|whether|1|nonzero|non-zero)\b|\bwhether\b|\bTrue if\b|\b(test|check)s?\b|^is_?\w",
    re.I,
)
_REASON = re.compile(
    r"\b(because|since|therefore|thus|hence|due to|so that|in order|the reason|this is (why|needed)|otherwise|to avoid|this means)\b",
    re.I,
)
_OUTCOME = re.compile(
    r"\b(if|when|unless|otherwise|in (this|that) case)\b.*\b(is|are|will|raises?|returns?|does|has|be|gets?|becomes?|removed?|ignored|discards?)\b",
    re.I,
)
_PERSON = re.compile(r"\b[A-Z][a-z]+ (van |von |de )?[A-Z][a-z]+\b")


HARD: frozenset[Kind] = frozenset({"exception", "version", "number", "person"})
"""Kinds an answer cannot do without: an answer to *which exception* names one."""


def holds(question: Question, passage: Passage) -> tuple[float, float]:
    """How far a passage holds what is asked for: 1 for surely, 0 for not at all, 0.5 where nothing in particular is asked.

    Args:
        question: what is asked.
        passage: where the answer may stand.

    Returns:
        Of the kinds an answer cannot do without, and of the others.
    """
    hard = [_holds(kind, passage) for kind in question.kinds if kind in HARD]
    soft = [_holds(kind, passage) for kind in question.kinds if kind not in HARD]
    return _mean(hard), _mean(soft)


def _mean(found: list[float]) -> float:
    return sum(found) / len(found) if found else 0.5


def _holds(kind: Kind, passage: Passage) -> float:
    text = passage.text
    match kind:
        case "exception":
            if passage.place.section.title.startswith("exception ") and not passage.code:
                return 1.0
            return 1.0 if _ERROR.search(text) and _RAISED.search(text) else 0.5 if _ERROR.search(text) else 0.1
        case "version":
            if _SINCE.search(text):
                return 1.0
            return (
                0.7
                if _VERSION.search(f"{passage.place.page} {' '.join(passage.place.path)}") and _news(passage)
                else 0.3
                if _VERSION.search(text)
                else 0.0
            )
        case "default":
            return _default(text)
        case "number":
            return 1.0 if _FIGURE.search(text) else 0.3
        case "name":
            return 1.0 if passage.place.section.level == 7 else 0.8 if _NAMED.search(text) else 0.3
        case "howto":
            return 1.0 if passage.place.section.level == 7 or _WAY.search(text) else 0.7
        case "meaning":
            return 0.3 if passage.code else 0.7
        case "test":
            return 1.0 if _TEST.search(text) else 0.3
        case "reason":
            return 1.0 if _REASON.search(text) else 0.4
        case "outcome":
            return 1.0 if _OUTCOME.search(text) else 0.4
        case "person":
            return 1.0 if _PERSON.search(text) else 0.0
        case _:
            assert_never(kind)


def sets(question: Question, signature: str) -> bool:
    """Whether the line that defines a name gives a default to something the question names."""
    return any(re.search(rf"\b{re.escape(term.text)}\s?=", signature) for term in question.terms)


def _default(text: str) -> float:
    return 1.0 if _DEFAULT.search(text) else 0.3 if re.search(r"\w=\w", text) else 0.0


def _news(passage: Passage) -> bool:
    return bool(re.search(r"new|release|change|version", f"{passage.place.page} {passage.place.url}", re.I))
