"""A task in words becomes a `Question`: its terms, weighed, and the kinds of answer it asks for. It reads no page.

The rules know English questions as people put them to documentation. A task in another language still yields its terms; it then asks
for no kind of answer in particular.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from browser_agent.deciders.explorer.thesaurus import root, slight
from ctxfold.text import STOP_WORDS, words

__all__ = ["Kind", "Question", "Term", "Wanted", "parse", "wanted"]


Kind = Literal[
    "exception", "version", "default", "number", "name", "howto", "meaning", "person", "test", "reason", "outcome"
]
"""What an answer must hold: an error's name, a version, a default, a figure, the name of a thing, the way to do it, a person, a test of
something, a reason, what comes of something."""

_TOKEN = re.compile(
    r"'[^'\s]{1,40}'|\"[^\"]{1,60}\"|`[^`]{1,60}`"  # said literally
    r"|(?<![\w-])--?[A-Za-z][\w-]*"  # a flag
    r"|[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\(\))?"  # a word or a dotted name
    r"|\d+(?:\.\d+)*"
)
_LITERAL_TEXT = re.compile(r"`[^`]*\s[^`]*`|\"[^\"]*\s[^\"]*\"")
"""Something said literally that is more than one word: its words count, each for itself."""

_CONTRACTED = re.compile(r"(?<=\w)'(s|m|re|ve|ll|d)\b|\b[A-Za-z]+n't\b", re.I)
"""What is drawn together in speech, and tells nothing: 's, I'm, don't."""

_NAME = re.compile(r"[\w)][._]\w|^_|_$|\(\)$|[a-z][A-Z]|^--?\w|^[A-Z]{3,}\d*$|^(?=.*\d)(?=.*[A-Za-z])")
_QUOTES = "'\"`"

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "exception",
        re.compile(
            r"\b(what|which)( \w+)? (exception|error)s?\b|\braises?\b|\b(exception|error)s?\b.*\b(raised|thrown|signal)",
            re.I,
        ),
    ),
    (
        "version",
        re.compile(
            r"\b(which|what|whose) (\w+ ){0,3}?(version|release)\b|\b(since|from) (when|which|what)\b"
            r"|\bwhen (was|were|did|has|have)\b.*\b(add|introduc|new|available|becom|remov|deprecat|part of|appear|support)",
            re.I,
        ),
    ),
    (
        "default",
        re.compile(
            r"\bdefaults?\b|\bby default\b|\bout of the box\b|\b(unless|if|when) (I|you|one|we|nothing)( don't| do not)? (\w+ )?(say|said|choose|configure|"
            r"override|change|specify|set|tell|give)\b( \w+)?|\b(if|when) (\w+ ){0,4}(omitted|not (given|specified|set|provided))",
            re.I,
        ),
    ),
    (
        "number",
        re.compile(
            r"\bhow (many|much|long|large|big|often|far|deep|wide|high|small|short|soon|fast|old)\b|\b(what|which|after|for) (\w+ ){0,4}?(maximum|minimum|largest|biggest|longest|smallest|shortest|limit|port|number|size|range|length|"
            r"precision|width|depth|count|amount|year|date|percentage)\b",
            re.I,
        ),
    ),
    (
        "name",
        re.compile(
            r"\b(which|what|name of the) ((?!is\b|are\b|was\b|does\b|do\b|happens\b)[\w-]+ ){0,3}?(function|method|module|class|option|flag|attribute|"
            r"decorator|command|variable|context manager|statement|operator|keyword|parameter|signal|package|tool|setting|directive|clause|"
            r"property|constant|macro|type|library|utility|view|table|field|syntax|character|escape|code|format|handler|header)s?\b",
            re.I,
        ),
    ),
    ("howto", re.compile(r"^\W*how (do|can|could|should|to|would|may|does one)\b|\b(a|the) way to\b", re.I)),
    (
        "meaning",
        re.compile(
            r"\bwhat (does|do|is|are|did)\b.*\b(do|mean|for|represent|stand for)\W*$"
            r"|\b(meaning|purpose|effect|role|function) of\b|\bwhat (is|are) (an? |the )?[\w.-]+\W*$",
            re.I,
        ),
    ),
    ("reason", re.compile(r"\bwhy\b|\bwhat (is|are|was) the reasons?\b|\bhow come\b", re.I)),
    (
        "outcome",
        re.compile(
            r"\bwhat (happens|happened|becomes|will happen|would happen|comes back|is the (result|outcome|effect))\b|\bwhat do(es)? .* (do|return|give) (if|when)\b",
            re.I,
        ),
    ),
    ("person", re.compile(r"^\W*who(se|m)?\b|\bby whom\b", re.I)),
    (
        "test",
        re.compile(
            r"\b(tells?|checks?|tests?|determines?|finds? out|sees?|knows?) (me |us )?(if|whether|that)\b|\bhow (do|can) (I|you|one|we) (check|test)\b",
            re.I,
        ),
    ),
)

_TITLED = re.compile(
    r"\b([A-Za-z_]\w{1,})(?:\(\))? (?:function|method|module|class|statement|keyword|option|command|decorator|attribute|operator|flag|"
    r"exception|macro|type|package|parameter|argument|variable|directive|clause)s?\b"
)

_PART = re.compile(r"\b([A-Za-z_]\w{1,}) (?:parameter|argument|option|keyword|flag|field)s?\b")

_UNSAID = (
    r"\b(out of the box|(unless|if|when) (I|you|one|we|nothing)( don't| do not| otherwise| else)? "
    r"(say|says|said|is said|choose|configure|override|change|specify|set|tell|give)( it| any| nothing| anything| otherwise)*)\b"
)
"""How a question asks for a default without the word."""

_PHRASES = tuple(
    (re.compile(phrase, re.I), word)
    for phrase, word in (
        (r"\b(turn|switch)(ed|ing|s)? off\b|\bget(ting)? rid of\b", "disable"),
        (r"\b(turn|switch)(ed|ing|s)? on\b", "enable"),
        (r"\bset(ting)? up\b", "configure"),
        (r"\b(throw|throws|thrown|threw|throwing) (away|out)\b", "discard"),
        (r"\b(leave|leaves|leaving|left) (out|off)\b", "omit"),
        (r"\b(put|puts|putting) (in|into) order\b", "sort"),
        (r"\b(make|makes|making|made) sure\b", "ensure"),
        (r"\b(work|works|working|worked|figure) out\b", "determine"),
        (r"\bat the same time\b|\bside by side\b", "simultaneously"),
        (r"\bwhole numbers?\b", "integer"),
        (r"\b(hang|hangs|hung) up\b", "close"),
        (r"\b(take|takes|taking|took|taken) off\b", "remove"),
        (r"\b(pick|picks|picked) up\b", "resume"),
        (r"\b(run|runs|ran) out of\b", "exhaust"),
        (r"\b(end|ends|ended) up\b|\b(come|comes|came) (back|out)\b|\b(turn|turns|turned) into\b", " "),
        (_UNSAID, "default"),
        (r"\blook(s|ed|ing)? up\b", "find"),
        (r"\bat least\b|\bat most\b|\bas well as\b|\binstead of\b|\bin order to\b", " "),
    )
)

_HEADS: dict[Kind, frozenset[str]] = {
    "exception": frozenset({"exception", "error", "raise", "thrown", "throw", "happen"}),
    "version": frozenset({"version", "release", "add", "introduce", "become", "new", "available", "first"}),
    "default": frozenset({"default", "value"}),
    "number": frozenset({"number", "many", "value", "often", "large", "big", "long", "far", "time"}),
    "name": frozenset(
        "function method module class option flag attribute decorator command variable context manager statement operator keyword parameter "
        "signal package tool setting directive clause property constant macro type library utility name standard let provide".split()
    ),
    "meaning": frozenset({"meaning", "purpose", "effect", "role", "mean", "function"}),
    "howto": frozenset({"way", "possible"}),
    "reason": frozenset({"reason"}),
    "outcome": frozenset({"happen", "become", "result", "outcome", "effect"}),
    "person": frozenset({"person"}),
    "test": frozenset({"check", "test", "determine", "find", "know", "see"}),
}
_SLIGHT = frozenset(
    "default value parameter argument function method module class option flag command exception error version return raise set name type "
    "attribute work behave difference purpose meaning mean provide library standard happen call give make exactly use pass specify kind case "
    "documentation document page site explain describe find answer tell list show "
    "possible way thing new variable statement keyword program code line between since regarding according concerning actually currently "
    "given certain several different various".split()
)


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a question is about.

    Attributes:
        text: as the question spells it, without quotes and brackets.
        key: what it is compared by: a stem, or the whole name in lower case.
        name: whether it is a name, a flag or said literally, rather than a word.
        titled: whether the question says what kind of thing it names: `the zip function`.
        weight: how much it tells before any page is seen, 0 to 1.5.
        part: whether the question says that it is a parameter, an option or another part of something.
    """

    text: str
    key: str
    name: bool
    weight: float
    titled: bool = False
    part: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A task as the explorer looks at it: its terms in order, each once, and the kinds of answer it asks for."""

    text: str
    terms: tuple[Term, ...]
    kinds: frozenset[Kind]

    @property
    def names(self) -> tuple[Term, ...]:
        """The terms that are names."""
        return tuple(term for term in self.terms if term.name)

    @property
    def telling(self) -> tuple[Term, ...]:
        """The terms worth searching for."""
        return tuple(term for term in self.terms if term.weight >= 0.9) or self.terms


def parse(task: str) -> Question:
    """A task in words as a question.

    Args:
        task: what the user asked, in any language.

    Returns:
        The question; without terms where the task has no word that tells anything.
    """
    kinds = frozenset(kind for kind, pattern in _KINDS if pattern.search(task))
    heads = frozenset(root(head) for kind in kinds for head in _HEADS[kind])
    few = slight() | frozenset(root(word) for word in _SLIGHT)
    titled = frozenset(name.lower() for name in _TITLED.findall(task))
    parts = frozenset(name.lower() for name in _PART.findall(task))
    terms: dict[str, Term] = {}
    plain = _LITERAL_TEXT.sub(lambda literal: literal.group()[1:-1], _CONTRACTED.sub(" ", task.replace("’", "'")))
    for phrase, word in _PHRASES:
        plain = phrase.sub(word, plain)
    for token in _TOKEN.findall(plain):
        term = _term(token, heads, few, titled)
        if term is not None:
            part = term.weight >= 1 and term.text.lower() in parts
            terms.setdefault(term.key, replace(term, part=part))
    return Question(task, tuple(terms.values()), kinds)


def _term(token: str, heads: frozenset[str], few: frozenset[str], titled: frozenset[str]) -> Term | None:
    literal = token[0] in _QUOTES and token[-1] == token[0]
    bare = token.strip(_QUOTES) if literal else token
    name = bare.removesuffix("()")
    if not name:
        return None
    if literal or _NAME.search(bare):
        return Term(name, name.lower(), True, 1.5, True)
    if name.lower() in STOP_WORDS:
        return None
    key = root(name.lower()) if name.isascii() else (words(name) or [name.lower()])[0]
    weight = 0.15 if key in heads else 0.35 if key in few else 1.0
    return Term(name, key, False, weight, name.lower() in titled)


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
