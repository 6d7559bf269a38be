"""Splits a text into lines and sentences, by layout and punctuation, as spans of the text.

Wrapped lines of prose are joined to one paragraph; headings, list items, table rows, code and log lines are units of
their own.
When in doubt it cuts: two halves of a sentence are still next to each other, but two joined sentences cannot be
separated later.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` to `end` of some text, `end` excluded."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves, byte for byte.

        `text`: the text the span was made from; another text gives other characters.
        """
        return text[self.start : self.end]


MAX_SENTENCE = 1000
"""No sentence is longer than this many characters: a minified file is one line of megabytes and still has to be chosen
from."""

_LINE = re.compile(r"[^\r\n]+")
_ITEM = re.compile(r"[-*+•‣◦·–—]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s|[#>|]|```|~~~|\[\d{1,3}\]\s")
_CODE = re.compile(
    r"(?:>>>|\.\.\.\s|[$%]\s|@\w|//|/\*|<\?|</?[A-Za-z]|#!|[{}\])])"
    r"|(?:async\s+)?(?:def|class|import|from|return|if|elif|else|for|while|try|except|finally|with|var|let|const"
    r"|function|public|private|static|func|fn|use|package|select|insert|update)\b[^.!?]*[:;{(=]\s*$",
)
_OPERATOR = re.compile(r"[=;{}<>|\\]|::|->|\(\)")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？；．｡]++[」』”’）】》〉]*+")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+\Z")
_CUT = re.compile(r"[;,}\])>]\s*|\s+")

_DATED = re.compile(r"[^\W\d_]{3,10} \d{1,4}\b")
"""What follows the day of a date that is written as an ordinal: "17. Juni 2025"."""
_VOWEL = re.compile(r"[aeiouy]|[^a-z]")


def lines(text: str) -> list[Span]:
    """The lines of a text that hold anything.

    Returns spans in order. Each keeps its line's indentation and leaves out white space at its end; blank lines give
    none.
    """
    spans = []
    for match in _LINE.finditer(text):
        start, line = match.start(), match.group().rstrip()
        if line:
            spans.append(Span(start, start + len(line)))
    return spans


def sentences(text: str) -> list[Span]:
    """The sentences of a text: of its paragraphs, and each heading, list item, table row and code line alone.

    Abbreviations, initials, decimals, versions and list numbers end no sentence.

    Returns:
        Spans in order, none overlapping, none longer than `MAX_SENTENCE` characters. Only white space is
        between them.
    """
    spans: list[Span] = []
    for unit, prose in _units(text):
        for span in _split(text, unit) if prose else [unit]:
            _append(spans, text, span)
    return spans


def _units(text: str) -> list[tuple[Span, bool]]:
    """Paragraphs of wrapped prose as one unit, every other line as one; whether each is prose."""
    units: list[tuple[Span, bool]] = []
    fenced = open_ended = False
    for span in lines(text):
        line = span.of(text)
        bare = line.lstrip()
        is_fence = bare.startswith(("```", "~~~"))
        fenced ^= is_fence
        prose = not (is_fence or fenced or _is_code(line, bare))
        if prose and open_ended and _continues(text, units[-1][0], span, bare):
            units[-1] = (Span(units[-1][0].start, span.end), True)
        else:
            units.append((span, prose))
        open_ended = prose and not bare.startswith(("#", "|"))
    return units


def _is_code(line: str, bare: str) -> bool:
    """Whether a line is code, a log line or another thing that sentence marks do not divide."""
    if _CODE.match(bare):
        return True
    if len(line) - len(bare) >= 4 and bare[0].isascii() and not bare[0].isupper() and not _ITEM.match(bare):
        return len(_OPERATOR.findall(bare)) > 0
    return len(_OPERATOR.findall(bare)) * 12 > len(bare)


def _continues(text: str, unit: Span, line: Span, bare: str) -> bool:
    """Whether a line goes on with the wrapped paragraph above it."""
    between = text[unit.end : line.start]
    if between.count("\n") > 1 or between.count("\r") > 1 or _ITEM.match(bare):
        return False
    above = text[max(unit.start, unit.end - 80) : unit.end]
    last = above.rpartition("\n")[2]
    if ord(bare[0]) >= 0x3000 and ord(last[-1]) >= 0x3040 and last[-1] not in "。！？；：」』":
        return len(last) >= 15
    if len(last) < 40 and last[-1] != ",":
        return False
    return bare[0].islower() or last[-1] == "," or (bare[0] in "(\"'“‘`" and last[-1] not in ".!?:;")


def _split(text: str, unit: Span) -> list[Span]:
    """One unit of prose, cut after each mark that ends a sentence."""
    spans = []
    start = unit.start
    for mark in _END.finditer(text, unit.start, unit.end):
        if mark.end() < unit.end and _ends(text, start, mark.start(), mark.end(), unit.end):
            spans.append(Span(start, mark.end()))
            start = mark.end()
            while start < unit.end and text[start].isspace():
                start += 1
    spans.append(Span(start, unit.end))
    return [span for span in spans if span.start < span.end]


def _ends(text: str, start: int, mark: int, after: int, limit: int) -> bool:
    """Whether the mark at `mark` ends a sentence, judged by the word before it and the letter after it."""
    if text[mark] != ".":
        return True
    following = text[after : min(after + 20, limit)].lstrip()
    if following[:1].islower():
        return False
    last = _LAST_WORD.search(text, max(start, mark - 24), mark)
    if last is None:
        return True
    word = last.group()
    if word.isdigit():
        return last.start() != start and not (len(word) < 3 and _DATED.match(following))
    return not _is_abbreviated(word, following)


def _is_abbreviated(word: str, following: str) -> bool:
    """Whether a word before a full stop looks cut short: initials, a title without a vowel; or short before a number,
    as in "Fig. 3".
    """
    initials = word.replace(".", "").isalpha() and all(len(part) < 3 for part in word.split("."))
    if (initials and (len(word) == 1 or "." in word)) or (word.istitle() and not _VOWEL.search(word.lower())):
        return True
    return following[:1].isdigit() and len(word) <= (4 if word[0].isupper() else 2)


def _append(spans: list[Span], text: str, span: Span) -> None:
    """Adds a span in pieces of at most `MAX_SENTENCE`, cut after white space or a closing mark where there is one."""
    start, end = span
    while end - start > MAX_SENTENCE:
        floor, ceiling = start + MAX_SENTENCE // 2, start + MAX_SENTENCE
        cut = max((match.end() for match in _CUT.finditer(text, floor, ceiling)), default=ceiling)
        piece = text[start:cut].rstrip()
        spans.append(Span(start, start + len(piece)))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append(Span(start, end))
