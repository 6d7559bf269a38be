"""Copies, encodings and known keys."""

from __future__ import annotations

import quopri
import re
import sys
from base64 import a85encode, b32encode, b64encode, b85encode
from bisect import bisect_right
from codecs import encode as codec
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import unescape as from_markup
from typing import Any, NamedTuple
from unicodedata import normalize

_ESCAPES = re.compile(
    r"""[%\\&](?:
    (?P<percent>(?<=%)[0-9a-f]{2}(?:%[0-9a-f]{2})*)
    |(?P<units>(?<=[%\\])u[0-9a-f]{4}(?:[%\\]u[0-9a-f]{4})*)
    |(?P<point>(?<=\\)u\{0*[0-9a-f]{1,6}\})
    |(?P<bytes>(?<=\\)x[0-9a-f]{2}(?:\\x[0-9a-f]{2})*)
    |(?P<octal>(?<=\\)[0-3][0-7]{2}(?:\\[0-3][0-7]{2})*)
    |(?P<sign>(?<=\\)["'\\/bfnrt])
    |(?P<markup>(?<=&)(?:\#[0-9]{1,40};?|\#x[0-9a-f]{1,40};?|[a-z][a-z0-9]{1,31};?)))""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MARKS = re.compile(r"[%\\][ux]?", re.IGNORECASE)
_MEANINGS: dict[str, Callable[[str], str]] = {
    "percent": lambda code: _decode_bytes(bytes.fromhex(_MARKS.sub("", code))),
    "units": lambda code: bytes.fromhex(_MARKS.sub("", code)).decode("utf-16-be", "replace"),
    "point": lambda code: chr(point) if (point := int(code[3:-1], 16)) <= sys.maxunicode else code,
    "bytes": lambda code: _decode_bytes(bytes.fromhex(_MARKS.sub("", code))),
    "octal": lambda code: _decode_bytes(bytes(int(part, 8) for part in code.split("\\")[1:])),
    "sign": lambda code: _SIGNS.get(code[1].lower(), code[1]),
    "markup": from_markup,
}
"""The meaning of an escape by the group of `_ESCAPES` that matches it."""
_UTF16 = ("utf-16-le", "utf-16-be")
_LEAST_CODE = 6
"""Characters of a code below which ordinary text holds it by chance."""
_LEAST_LETTERS = 4
SEPARATORS = re.compile(r"0x(?=[0-9a-f]{2})|[\W_]+", re.IGNORECASE)
"""What `bare` leaves out."""


def spell(value: str) -> tuple[list[str], list[str]]:
    """The spellings of a value in lower case: plain ones, its own first, and codes, which a text may hold with blanks
    and punctuation between their signs.

    Plain: itself, with its accents apart or joined (Unicode NFD, NFC), backwards, rot13, quoted-printable, base85 and
    ascii85. As codes: base64 of UTF-8, UTF-16 and Latin-1 at any place of a longer text, base32 likewise, hexadecimal,
    and the numbers of its bytes in base 10, 8 and 2.
    """
    plain = [value, normalize("NFC", value), normalize("NFD", value)]
    raw = value.encode("utf-8", "surrogatepass")
    plain += [value[::-1], quopri.encodestring(raw).decode().replace("=\n", "")]
    if sum(sign.isascii() and sign.isalpha() for sign in value) >= _LEAST_LETTERS:
        plain.append(codec(value, "rot13"))
    if len(raw) >= _LEAST_CODE:
        plain += [a85encode(raw).decode(), b85encode(raw).decode()]
    codes = [bare(code) for spelling in dict.fromkeys(plain[:3]) for code in _codes(spelling)]
    return _lower_each(plain, 1), _lower_each(codes, _LEAST_CODE)


def bare(text: str) -> str:
    """A text without blanks and punctuation, and without the `0x` before hexadecimal numbers."""
    return SEPARATORS.sub("", text)


def lower(text: str) -> str:
    """A text in lower case, as long as it was."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


def _read_escape(match: re.Match[str]) -> str:
    """The meaning of an escape, as in addresses, markup and scripts, which may be escaped again."""
    return _MEANINGS[match.lastgroup or "markup"](match[0])


def _codes(value: str) -> Iterator[str]:
    """The codes of a value, without what depends on the text around it."""
    raw = value.encode("utf-8", "surrogatepass")
    texts = [raw, *(value.encode(name, "surrogatepass") for name in _UTF16)]
    if not value.isascii():
        texts.append(value.encode("latin-1", "ignore"))
    for text in texts:
        for offset in range(3):
            yield _within(b64encode(b"\0" * offset + text).decode(), 6, offset, len(text))
    for offset in range(5):
        yield _within(b32encode(b"\0" * offset + raw).decode(), 5, offset, len(raw))
    yield from (text.hex() for text in texts[:3])
    for form in ("d", "03o", "o", "08b"):
        yield "".join(format(byte, form) for byte in raw)
    if not value.isascii():
        yield "".join(str(ord(sign)) for sign in value)


def _within(code: str, bits: int, offset: int, size: int) -> str:
    """Of the code of `offset` bytes and `size` more, the characters that depend on the latter alone."""
    return code[(offset * 8 + bits - 1) // bits : (offset + size) * 8 // bits]


def _decode_bytes(raw: bytes) -> str:
    """Decode UTF-8; bytes that are not, as Latin-1."""
    text = raw.decode("utf-8", "surrogateescape")
    return "".join(chr(ord(sign) - 0xDC00) if "\udc80" <= sign <= "\udcff" else sign for sign in text)


def _lower_each(texts: Iterable[str], least: int) -> list[str]:
    """The texts of at least so many characters in lower case, each once."""
    return list(dict.fromkeys(lower(text) for text in texts if len(text) >= least))


def encodable(text: str) -> str:
    """The text with each lone surrogate replaced: pages hold them, and servers refuse them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# A page can hide a value by a cipher of its own. Here are found the forms that browsers, libraries and plain tricks
# make.


_DEEP = 6
"""How often a text that is escaped again is unescaped."""
_LEAST_PART = 6
"""Characters of a part of a value below which it does not count: ordinary text holds it by chance."""
_LEAST_CODE_PART = 10
_TELLING = 20
"""Characters of a part that tells enough of however long a value."""
_LONG = 200
"""Characters of a value above which its codes are looked for whole."""
_LEAST_SPACED, _LEAST_FOLDED = 6, 4
_DISTINCT = 4
"""Different letters and digits that a part must have: less is filling, as in a rule or a table."""
_HEX = "0x"
"""What is left out between codes in numbers and may be two signs of a code in letters."""
_WORD = re.compile(r"[^\W_]+")
_BLANKS = re.compile(
    r"[\s+\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
"""What a page folds, adds or puts for a blank."""


Replaced = Iterable[tuple[int, int, str]]
"""The places of a text that were replaced: start, end, and the new text. They are looked for once, if at all."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A place of a value: its stretches of the text in order, one unless it is spread out, and whether all of it is."""

    stretches: tuple[tuple[int, int], ...]
    whole: bool


class Copies:
    """Finds one value in texts. With `parts`, also those of at least half of it (or 20 characters), and at least 6."""

    def __init__(self, value: str, parts: bool = False) -> None:
        plain, codes = spell(value)
        self._plain = [_Needle(text, _find_part(text, _LEAST_PART) if parts else len(text)) for text in plain]
        parts = parts and len(value) <= _LONG
        self._codes = [_Needle(text, _find_part(text, _LEAST_CODE_PART) if parts else len(text)) for text in codes]
        both = (value, value[::-1])
        least = _LEAST_FOLDED if any(map(str.isspace, value)) else _LEAST_SPACED
        self._close = _make_needles((_BLANKS.sub("", spelling) for spelling in both), least)
        self._bare = _make_needles(map(bare, both), _LEAST_SPACED)

    def find(self, text: Readings) -> list[Copy]:
        """Every place of the value, in no order; they may overlap."""
        copies: list[Copy] = []
        for reading, close, without in text.each:
            copies += reading.copies(self._plain)
            copies += close.copies([*self._close, *(self._codes if close.holds(_HEX) else ())])
            copies += without.copies([*self._bare, *self._codes])
        return [*copies, *(text.apart(copy) for copy in text.spread.copies(self._bare))]


class _Needle(NamedTuple):
    """A spelling in lower case, and how many of its characters are a part that counts."""

    text: str
    part: int

    def hits(self, text: str) -> Iterator[tuple[int, int]]:
        """The stretches of `text`, in lower case, that hold it or a part of it."""
        size, least = len(self.text), min(self.part, len(self.text))
        seed = size if least == size else (least + 1) // 2
        # each part that counts holds one of these seeds from its first character to its last
        for offset in range(0, size - seed + 1, least - seed + 1):
            yield from self._grow(text, offset, seed, least)

    def _grow(self, text: str, offset: int, seed: int, least: int) -> Iterator[tuple[int, int]]:
        """The parts around each place of the seed at `offset`."""
        mine = self.text
        at = text.find(mine[offset : offset + seed])
        while at >= 0:
            low, high = 0, seed
            while low < offset and low < at and mine[offset - low - 1] == text[at - low - 1]:
                low += 1
            while offset + high < len(mine) and at + high < len(text) and mine[offset + high] == text[at + high]:
                high += 1
            start, end = at - low, at + high
            if end - start == len(mine) or (end - start >= least and _is_telling(text[start:end])):
                yield start, end
            at = text.find(mine[offset : offset + seed], end if end - start >= least else at + 1)


class _Reading:
    """A text as it reads when some places of it are replaced; `back` leads to where something stood in the first."""

    def __init__(self, text: str, before: _Reading | None = None, replaced: Replaced = ()) -> None:
        self.text = text
        self._low = lower(text)
        self._before = before
        self._replaced = iter(replaced)
        self._at: list[int] = []
        self._places: list[tuple[int, int, int]] = []

    def unescape(self) -> _Reading | None:
        """This with its escapes taken out once; None without escapes."""
        text = _ESCAPES.sub(_read_escape, self.text)
        escapes = ((match.span(), _read_escape(match), match[0]) for match in _ESCAPES.finditer(self.text))
        places = ((*span, meaning) for span, meaning, escape in escapes if meaning != escape)
        return None if text == self.text else _Reading(text, self, places)

    def without(self, dropped: re.Pattern[str]) -> _Reading:
        """This with what matches left out."""
        places = ((match.start(), match.end(), "") for match in dropped.finditer(self.text))
        return _Reading(dropped.sub("", self.text), self, places)

    def holds(self, text: str) -> bool:
        """Whether it holds a text in lower case."""
        return text in self._low

    def copies(self, needles: Iterable[_Needle]) -> Iterator[Copy]:
        """Find the places of the first text that hold one of these."""
        for needle in needles:
            for start, end in needle.hits(self._low):
                yield Copy((self._back(start, end),), end - start == len(needle.text))

    def _back(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the first text that a stretch of this one was made from."""
        if self._before is None:
            return start, end
        return self._before._back(self._origin(start)[0], self._origin(end - 1)[1])

    def _origin(self, at: int) -> tuple[int, int]:
        """The place of a character in the text before: all of a replaced stretch for any of its characters."""
        last = size = 0
        for start, end, meaning in self._replaced:  # an iterator, at its end after the first time
            size += start - last + len(meaning)
            self._at.append(size - len(meaning))
            self._places.append((start, end, size))
            last = end
        number = bisect_right(self._at, at) - 1
        if number < 0:
            return at, at + 1
        start, end, until = self._places[number]
        return (start, end) if at < until else (end + at - until, end + at - until + 1)


class Readings:
    """A text in all its readings, for any number of values.

    `between`: the text, besides blanks and punctuation, that may part a value that is spread out.
    """

    def __init__(self, text: str, between: re.Pattern[str] | None = None) -> None:
        self._text = text
        self._between = between
        self.each: list[tuple[_Reading, _Reading, _Reading]] = []
        reading: _Reading | None = _Reading(text)
        while reading is not None and len(self.each) <= _DEEP:
            self.each.append((reading, reading.without(_BLANKS), reading.without(SEPARATORS)))
            reading = reading.unescape()
        self.spread: _Reading = _Reading("")
        if between is not None:
            self.spread = _Reading(text).without(re.compile(f"(?:{between.pattern})|[\\W_]", between.flags))

    def apart(self, copy: Copy) -> Copy:
        """A copy that is spread out, without the text between its parts."""
        if self._between is None:
            return copy
        (start, end), *_ = copy.stretches
        gaps = [*((gap.start(), gap.end()) for gap in self._between.finditer(self._text, start, end)), (end, end)]
        parts: list[tuple[int, int]] = []
        for low, high in gaps:
            words = list(_WORD.finditer(self._text, start, low))
            parts += [(words[0].start(), words[-1].end())] if words else []
            start = high
        return Copy(tuple(parts), copy.whole)


def _make_needles(texts: Iterable[str], least: int) -> list[_Needle]:
    """Texts of at least so many characters, to be found whole."""
    return [_Needle(low, len(low)) for low in _lower_each(texts, least)]


def _find_part(text: str, least: int) -> int:
    """How many characters of a spelling are a part that counts."""
    return min(max(least, -(-len(text) // 2)), _TELLING)


def _is_telling(part: str) -> bool:
    """Whether a part has enough different signs to tell something."""
    return len({sign for sign in part if sign.isalnum()}) >= _DISTINCT


_KEY_FORMS = {
    "anthropic key": r"sk-ant-[\w-]{20,}",
    "openai key": r"sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}",
    "github token": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{60,}",
    "gitlab token": r"glpat-[\w-]{20,}",
    "aws key": r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "google key": r"AIza[\w-]{35}",
    "slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "stripe key": r"[sr]k_live_[A-Za-z0-9]{20,}",
    "npm token": r"npm_[A-Za-z0-9]{36}",
    "jwt": r"eyJ[\w-]{8,200}\.eyJ[\w-]{8,}\.[\w-]{8,}",
    "private key": r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----).)*-----END [A-Z ]{0,40}PRIVATE KEY-----",
}
"""Each stops soon where no key follows, so that a hostile text of many megabytes is searched in a second or two."""
_KEY_NAMES = tuple(_KEY_FORMS)
_KEY_GROUPS = "|".join(f"(?P<f{at}>{form})" for at, form in enumerate(_KEY_FORMS.values()))
_KEY = re.compile(f"(?<![A-Za-z0-9])(?:{_KEY_GROUPS})", re.DOTALL)
_KEY_STARTS = (
    *("sk-", "sk_live_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *("AKIA", "ASIA", "AIza", "xox", "npm_", "eyJ", "-----BEGIN"),
)
"""How every key begins. Most texts hold none of these, and to look for them is 20 times as fast as the pattern."""


def hide_keys(text: str) -> str:
    """The text with each key or token of a known form replaced by `[removed: KIND]`."""
    if not any(start in text for start in _KEY_STARTS):
        return text
    return _KEY.sub(lambda key: f"[removed: {_KEY_NAMES[int((key.lastgroup or 'f0')[1:])]}]", text)


def without_keys(value: Any) -> Any:
    """A JSON value with `hide_keys` done to every string in it. Raises RecursionError: nested too deeply."""
    if isinstance(value, str):
        return hide_keys(value)
    if isinstance(value, dict):
        return {name: without_keys(item) for name, item in value.items()}
    return [without_keys(item) for item in value] if isinstance(value, list) else value
