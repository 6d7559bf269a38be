"""What speaks for a passage of a page, sign by sign, before any of it is weighed. It ranks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from browser_agent.deciders.explorer.answers import holds, sets
from browser_agent.deciders.explorer.matching import WELL, Matcher, Strengths, strongest
from browser_agent.deciders.explorer.passages import Passage, Place
from browser_agent.deciders.explorer.question import Question, wanted

__all__ = ["Signs", "section_signs"]

_CHRONICLE = re.compile(r"what.?s.?new|change.?log|release.?notes?|/news", re.I)
_DOTTED = re.compile(r"[^\W\d]\w*(\.\w+)+")
_CHANGED = re.compile(r"(changed|new|added|deprecated|removed) (in|since)( \w+)? version\b", re.I)
_YES_OR_NO = re.compile(
    r"^\W*(is|are|was|does|do|did|can|could|will|would|must|may|should|has|have)\b"
    r"|[.,;?] (is|are|does|do|can|will|must|may) ",
    re.I,
)
_DECIDES = re.compile(
    r"\b(not|never|cannot|only|no longer|without|always|safe|unless|(is|does|do|are|was|can)n[’']t)\b", re.I
)
_EXAMPLE = re.compile(r"\b(example|e\.g\.)", re.I)
_SHORT = 6
_BY_NAME = 0.9


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of one passage.

    Attributes:
        passage: the passage.
        own: how it matches each term itself.
        says: the same, with what the name defined there says counted as said.
        named: how the name or title it stands under does.
        signed: how the rest of the line that defines that name does.
        near: how its neighbours do, two on each side.
        held: how its section does anywhere.
        path: how the titles above do.
        page: how the page's title does.
        hard: how far it holds the kind of answer asked for, where an answer cannot do without it.
        soft: the same where it can.
        hard_near: `hard` of the best of it and its neighbours, one on each side.
        seen: the share of the terms that it or its neighbours hold well, each counting alike.
        decides: whether the question wants a yes or a no, and it rules something in or out.
        units: how many passages its section has.
        sets: whether the line that defines its name gives a default to something the question names.
        subject: how surely it stands under a name the question names.
        titled: whether it does under a word of which the question says what kind of thing it is.
        defines: whether it stands under a defined name.
        first: whether it is then the first sentence of the definition, which says what the thing does.
        opens: how well the title names what the question asks the meaning of, where it is among the first sentences under it.
        hanging: whether it announces something that stands elsewhere.
        partless: whether its section nowhere holds the parameter or option that the question is about.
        beside: how each term and the next of the question stand beside each other in it.
        code: whether it looks like code.
        short: whether it is a fragment.
        words: how many words it has.
        chronicle: whether it tells what changed, or is on a page about changes, to a question that does not ask for that.
        focus: the share of its own words that match any term; none where it looks like code.
        around: the share of the terms that it, its neighbours or the line that defines its name hold well, each counting alike.
        measured: whether it holds a figure of the measure asked for.
        raises: whether it names an error to a question about what is raised.
        about: whether it stands under the name that is the question's subject.
        example: whether it speaks of an example.
    """

    passage: Passage
    own: Strengths
    says: Strengths
    named: Strengths
    signed: Strengths
    near: Strengths
    held: Strengths
    path: Strengths
    page: Strengths
    hard: float
    soft: float
    hard_near: float
    seen: float
    decides: bool
    units: int
    sets: bool
    subject: float
    titled: float
    defines: bool
    first: bool
    opens: float
    hanging: bool
    partless: bool
    beside: Strengths
    code: bool
    short: bool
    words: int
    chronicle: bool
    focus: float
    around: float
    measured: bool
    raises: bool
    about: bool
    example: bool


def section_signs(question: Question, matcher: Matcher, place: Place, page: Strengths) -> tuple[Strengths, list[Signs]]:
    """The signs of a section's passages.

    Args:
        question: what is asked.
        matcher: its terms.
        place: the section.
        page: how the page's title matches.

    Returns:
        How the section as a whole matches each term, and the passages that match any, in order.
    """
    match, none = matcher.strengths, matcher.none
    passages = list(place.passages())
    owns = [match(passage.text) for passage in passages]
    head, rest = _parts(place)
    path = strongest((match(title) for title in place.path), none)
    named = _within(question, match(head), f"{place.page} {' '.join(place.path)}")
    signed = match(rest) if rest else none
    held = strongest((*owns, named, signed), none)
    if not any(held):
        return held, []
    signs = _Section(question, matcher, place, (named, signed, held, path, page))
    return held, list(signs.of(passages, owns))


class _Section:
    """What the signs of one section have in common."""

    def __init__(self, question: Question, matcher: Matcher, place: Place, fields: tuple[Strengths, ...]) -> None:
        self._question = question
        self._matcher = matcher
        self._fields = fields
        defines = place.section.level == 7
        named = fields[0]
        self._defines = defines
        self._by_name = tuple(_BY_NAME * strength for strength in named) if defines else matcher.none
        self._wanted = defines and bool(question.kinds & {"howto", "name"})
        self._partless = any(term.part and s < 0.6 for s, term in zip(fields[2], question.terms, strict=True))
        self._opens = max((s for s, term in zip(named, question.terms, strict=True) if term.weight >= 1), default=0.0)
        self._opens *= "meaning" in question.kinds
        self._subject = _surest(named, question) if defines and "://" not in place.section.title else 0.0
        last = (place.section.defined_name or "").lower().rpartition(".")[2]
        self._titled = float(
            any(term.titled and not term.name and term.text.lower() == last for term in question.terms)
        )
        self._sets = defines and "default" in question.kinds and sets(question, place.section.title)
        self._wish = wanted(question.text)
        self._about = defines and self._wish.defined(place.section.defined_name or "")
        self._timeless = "version" not in question.kinds
        self._yes_or_no = bool(_YES_OR_NO.search(question.text))
        self._chronicle = self._timeless and bool(_CHRONICLE.search(f"{place.url} {place.page}"))

    def of(self, passages: Sequence[Passage], owns: Sequence[Strengths]) -> Iterator[Signs]:
        """The signs of each passage that could be an answer."""
        named, signed, held, path, page = self._fields
        prose = [passage for passage in passages if passage.part == "text" and not passage.code]
        first = prose[0] if prose else None
        kinds = [holds(self._question, passage) for passage in passages]
        for at, passage in enumerate(passages):
            if passage.part == "title" and len(passages) > 1:
                continue
            hard, soft = kinds[at]
            if not any(owns[at]) and not (any(named) and (hard >= 0.9 or soft >= 0.9 or self._subject or self._titled)):
                continue
            words = passage.text.count(" ") + 1
            near = strongest((*owns[max(0, at - 2) : at], *owns[at + 1 : at + 2]), self._matcher.none)
            yield Signs(
                passage=passage,
                own=owns[at],
                says=strongest((owns[at], self._by_name), self._matcher.none),
                named=named,
                signed=signed,
                near=near,
                held=held,
                path=path,
                page=page,
                hard=hard,
                soft=soft,
                hard_near=max(hard for hard, _ in kinds[max(0, at - 1) : at + 2]),
                seen=_share_seen(owns[at], near),
                decides=self._yes_or_no and _DECIDES.search(passage.text) is not None,
                units=len(passages),
                sets=self._sets,
                subject=self._subject,
                titled=self._titled,
                defines=self._defines,
                first=self._wanted and passage is first,
                opens=self._opens if any(passage is one for one in prose[:2]) else 0.0,
                partless=self._partless,
                hanging=passage is passages[-1] and passage.text.rstrip().endswith(":"),
                beside=self._matcher.beside(passage.text),
                code=passage.code,
                short=passage.part == "text" and "\t" not in passage.text and words < _SHORT,
                words=words,
                chronicle=self._chronicle or (self._timeless and _CHANGED.match(passage.text) is not None),
                focus=0.0 if passage.code else self._matcher.focus(passage.text),
                around=_share_seen(owns[at], strongest((near, named, signed), self._matcher.none)),
                measured=self._wish.measured(passage.text),
                raises=self._wish.raises(passage.text),
                about=self._about,
                example=_EXAMPLE.search(passage.text) is not None,
            )


def _parts(place: Place) -> tuple[str, str]:
    """A section's name, and the rest of the line that defines it."""
    title = place.section.title
    if place.section.level < 7:
        return title, ""
    head, _, rest = title.partition("(")
    defined = place.section.defined_name or ""
    return (defined if _DOTTED.fullmatch(defined) else head), rest


def _share_seen(own: Strengths, near: Strengths) -> float:
    return sum(max(pair) >= WELL for pair in zip(own, near, strict=True)) / (len(own) or 1)


def _within(question: Question, named: Strengths, titles: str) -> Strengths:
    """A dotted name counts as matched in full where its last part is defined within its first ones."""
    found = list(named)
    low = f" {titles.lower()} "
    for index, term in enumerate(question.terms):
        if term.name and "." in term.key and 0.7 <= named[index] < 0.9:
            owner = term.key.split(".")[-2]
            if re.search(rf"(?<![\w]){re.escape(owner)}(?![\w])", low):
                found[index] = 0.95
    return tuple(found)


def _surest(named: Strengths, question: Question) -> float:
    """How surely a name of the question is the one defined."""
    best = max((named[index] for index, term in enumerate(question.terms) if term.name), default=0.0)
    return best if best >= 0.8 else 0.0
