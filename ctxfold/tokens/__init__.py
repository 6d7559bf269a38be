"""Counting tokens: of texts, of models by a factor, and of budgets."""

from __future__ import annotations

import binascii
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import resources
from math import ceil, log
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ctxfold.errors import BrokenInstall, BudgetError, InputError

if TYPE_CHECKING:
    from tiktoken import Encoding


MIN_BUDGET = 256
"""The least budget a view is promised to fit, in o200k tokens."""
_MOST = 10**9
"""Tokens beyond which no number is a budget: no model reads as many."""


def factor(model: str | None) -> float:
    """Tokens of a model for one o200k token; 1.0 where no model reads the view, the table's figure for one it names, its guard for any other."""
    if model is None:
        return 1.0
    table = _table()
    name = re.sub(r"^.*(?=claude-)", "", model.lower())
    return next((figure for start, figure in table.models if _begins(name, start)), table.guard)


def _begins(name: str, start: str) -> bool:
    """Whether `name` is `start` or goes on after it with a new part: `claude-opus-4-5-20251101`, not `claude-opus-4-50`."""
    return name.startswith(start) and not name[len(start) :][:1].isalnum()


class _Table(NamedTuple):
    guard: float
    models: tuple[tuple[str, float], ...]  # longest name first


@cache
def _table() -> _Table:
    data = json.loads((resources.files(__package__) / "data" / "factors.json").read_text(encoding="utf-8"))
    return _Table(data["guard"], tuple(sorted(data["models"].items(), key=lambda entry: -len(entry[0]))))


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in the reading model's own tokens, and what it leaves in ours.

    Attributes:
        limit: the most a view may cost, in tokens of the model that reads it.
        factor: tokens of that model for one o200k token.

    Raises:
        BudgetError: no whole number, one beyond a billion, or one that leaves less than `MIN_BUDGET` o200k tokens.
    """

    limit: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        if type(self.limit) is not int or self.limit > _MOST:  # a bool is no number of tokens
            raise BudgetError(f"a budget is a whole number of tokens, {_MOST} at most; give one such as 8000")
        if self.tokens < MIN_BUDGET:
            least = ceil(MIN_BUDGET * self.factor)
            raise BudgetError(f"a budget of {self.limit} tokens is too small for a view: give at least {least}")

    @classmethod
    def of(cls, limit: int, model: str | None = None) -> Budget:
        """The budget of `limit` tokens of `model`; of o200k tokens where no model is named. Raises BudgetError: as of the class; InputError: a model that is no text."""
        if model is not None and not isinstance(model, str):
            raise InputError(
                f"a model is named by text, not {type(model).__name__}; leave it out to count o200k tokens"
            )
        return cls(limit, factor(model))

    @property
    def tokens(self) -> int:
        """The limit in o200k tokens, rounded down."""
        return int(self.limit / self.factor)


_lock = Lock()
_built: list[Encoding] = []
_COMMON, _SPAN = 6.0, 5.0
"""The logarithm of a rank whose word tells nothing, and how much more of it tells all."""
_LEAST, _RANKS_MOST, _PIECES = 0.1, 1.1, 1.2
_HAN, _HAN_SPAN, _PAIR = 8.0, 3.0, 0.45
"""The same for a script without spaces, where a pair of characters need not be a word."""


def encoding() -> Encoding:
    """The o200k_base encoding of this process: about 300 ms and 95 MB on the first call, free afterwards. Raises BrokenInstall: a data file is not as packed."""
    if not _built:
        with _lock:
            if not _built:
                _built.append(_build())
    return _built[0]


def _build() -> Encoding:
    """Read, verify and parse the table. tiktoken is imported here, so that importing this package stays cheap."""
    from tiktoken import Encoding

    folder = resources.files(__package__) / "data"
    try:
        facts = json.loads((folder / "o200k_base.json").read_text(encoding="utf-8"))
        table = gzip.decompress((folder / facts["ranks"]).read_bytes())
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BrokenInstall(f"the o200k rank table does not read ({error}): reinstall ctxfold") from error
    if hashlib.sha256(table).hexdigest() != facts["sha256"]:
        raise BrokenInstall("the o200k rank table has been altered: reinstall ctxfold")
    words = table.split()  # base64 of a token's bytes, then its rank, line by line
    return Encoding(
        name=facts["name"],
        pat_str="|".join(facts["pattern"]),
        mergeable_ranks=dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True)),
        special_tokens=facts["special_tokens"],
    )


@lru_cache(maxsize=16_384)
def rarity(word: str) -> float:
    """How rare a word, or a pair of characters of a script without spaces, is: about 0.1 for one that stands everywhere, 1.2 for one without a token."""
    if not word.isascii():
        last = encoding().encode_ordinary(word)[-1]
        whole = 1.0 if len(word) > 2 else _PAIR
        return whole * min(1.0, max(0.15, (log(last + 1) - _HAN) / _HAN_SPAN))
    tokens = encoding().encode_ordinary(f" {word}")
    if len(tokens) > 1:
        return _PIECES
    return min(_RANKS_MOST, max(_LEAST, (log(tokens[0] + 1) - _COMMON) / _SPAN))


_SHORT = 128
"""Characters up to which a text is its own key in memory; a longer one is known by a digest."""

_WIDE = 8
"""Characters for a token, generously: a look at this much of a text often shows that it is too long."""


class _Memory(dict[str | bytes, int]):
    """Counts in two halves: when the newer is full, what was not asked for since the older was is forgotten.

    Safe among threads without a lock: a lost count is counted again.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._half = most // 2
        self._older: dict[str | bytes, int] = {}

    def find(self, key: str | bytes) -> int | None:
        tokens = self.get(key)
        if tokens is None and (tokens := self._older.get(key)) is not None:
            self.keep(key, tokens)
        return tokens

    def keep(self, key: str | bytes, tokens: int) -> None:
        if len(self) >= self._half:
            self._older = self.copy()
            self.clear()
        self[key] = tokens


class _Units(_Memory):
    """Counts of ASCII units, made when they are first asked for."""

    def __missing__(self, unit: str) -> int:
        tokens = self._older.get(unit)
        if tokens is None:
            tokens = len(_encode(unit))
            if len(unit) >= _LONG:
                return tokens
        self.keep(unit, tokens)
        return tokens


_LONG = 24
"""Characters from which a unit is not kept: it hardly comes again."""
_SIGN = r"[^\sA-Za-z0-9]"
_ENDING = r"(?:'(?i:s|t|re|ve|m|ll|d))?+"
_SIGNS = rf"(?: {_SIGN}++[\r\n/]*+|{_SIGN}(?:{_SIGN}++[\r\n/]*+|(?![A-Za-z])[\r\n/]*+))*+"
"""Runs of signs behind a unit. A single sign before a letter belongs to the word that begins there."""
_UNIT = re.compile(
    "|".join(
        (
            rf"[a-z]++{_ENDING}{_SIGNS}",
            rf" ?[0-9]{{1,3}}+{_SIGNS}",
            rf" [a-z]++{_ENDING}{_SIGNS}",
            rf"[A-Z]++[a-z]*+{_ENDING}{_SIGNS}",
            rf"[^\r\nA-Za-z0-9](?:[A-Z]++[a-z]*+|[a-z]++){_ENDING}{_SIGNS}",
            rf" ?{_SIGN}++[\r\n/]*+{_SIGNS}",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    re.ASCII,
)
"""The tokenizer's pattern for ASCII, said so that no step back is ever taken; a word and the signs behind it are one unit."""


def _encode(text: str) -> list[int]:
    return encoding().encode_ordinary(text)


_units = _Units(32_768)
_pieces = _Memory(16_384)

PIECE = 24_576
"""Most characters given to the tokenizer at once: its pattern backtracks over runs of blanks, and gives up somewhere below a million of them."""
_REACH = 4_096
"""How far back from a piece's end a good cut is sought."""
_UNSURE = 64
"""Tokens at a piece's end that what follows it may change."""
_LINE_END = re.compile(r"\n(?=[^\s/])")  # newlines take following blanks, and a slash, into one token
_WORD_END = re.compile(r"(?<=\S)(?= \S)")  # a word takes one blank before it


def count(text: str) -> int:
    """What `text` costs, in o200k tokens. Special tokens in it, such as `<|endoftext|>`, count as the text they are.

    Returns:
        Tokens, 0 for the empty string: as many as the tokenizer gives where it takes the text at once. Only half characters (lone surrogates) and
        signs or newlines by the ten thousand without a blank may put it off by a few.

    Raises:
        BrokenInstall: the package's rank table is missing or altered. No text makes it raise.
    """
    return _count_piece(text) if len(text) <= PIECE else sum(map(_cost, cut_into_pieces(text)))


def _count_piece(piece: str) -> int:
    key = piece if len(piece) <= _SHORT else blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    tokens = _pieces.find(key)
    if tokens is None:
        tokens = sum(map(_units.__getitem__, _UNIT.findall(piece))) if piece.isascii() else len(_encode(piece))
        _pieces.keep(key, tokens)
    return tokens


class Piece(NamedTuple):
    """A stretch of a text, and what it costs where finding its end told so."""

    text: str
    tokens: int | None = None


def _cost(piece: Piece) -> int:
    return _count_piece(piece.text) if piece.tokens is None else piece.tokens


def cut_into_pieces(text: str) -> Iterator[Piece]:
    """The text in pieces of 1 to `PIECE` characters, cut where the tokenizer would part it anyway, so that the sum of their costs is the text's."""
    start = 0
    while len(text) - start > PIECE:
        piece = _next_piece(text, start, start + PIECE)
        yield piece
        start += len(piece.text)
    if start < len(text):
        yield Piece(text[start:])


def _next_piece(text: str, start: int, limit: int) -> Piece:
    """From `start` to the last line's end in the `_REACH` characters up to `limit`, else a word's, else a token's."""
    for ending in (_LINE_END, _WORD_END):
        places = [found.end() for found in ending.finditer(text, limit - _REACH, limit + 2)]
        within = [place for place in places if place <= limit]
        if within:
            return Piece(text[start : within[-1]])
    return _cut_at_token(text[start:limit])


@lru_cache(maxsize=8)
def _cut_at_token(stretch: str) -> Piece:
    """A stretch up to the last token that stays one whatever follows, and ends with a character; all of it when there is none."""
    ids = _encode(stretch)
    for kept in range(len(ids) - _UNSURE, 0, -1):
        try:
            return Piece(stretch[: len(encoding().decode_bytes(ids[:kept]).decode("utf-8"))], kept)
        except UnicodeDecodeError:
            continue  # the token ends within a character
    return Piece(stretch)


def head(text: str, tokens: int) -> str:
    """The longest start of `text` that costs at most `tokens`, ended at a word, or at a sentence where one ends nearby.

    A text without blanks is cut between characters. Only as much of the text is read as is needed, so the start of a text of
    many megabytes comes as fast as that of a page.

    Args:
        text: any string.
        tokens: the most it may cost, in o200k tokens; nothing is returned for less than 1.

    Returns:
        A prefix of `text`, the whole of it if it costs no more than `tokens`.
    """
    room, end = max(tokens, 0), 0
    for piece in cut_into_pieces(text):
        start = piece.text[: room * _WIDE + _SHORT]
        if _count_piece(start) > room:
            return _fit(text, tokens, end, _encode(start)[:room])
        cost = _cost(piece)
        if cost > room:
            return _fit(text, tokens, end, _encode(piece.text)[:room])
        room -= cost
        end += len(piece.text)
    return text


def _fit(text: str, tokens: int, start: int, ids: Sequence[int]) -> str:
    """The head of `text` that ends within `ids`, the tokens that may still follow from `start` on.

    A cut inside a token can make what is left of it cost more than it did, so the result is counted, and cut shorter if need be.
    """
    for left in range(len(ids), 0, -1):
        whole = encoding().decode_bytes(ids[:left]).decode("utf-8", "ignore")
        kept = text[: _settle(text, start + len(whole))]
        if count(kept) <= tokens:
            return kept
    return text[:start]


_BLANK = re.compile(r"\s")
_SENTENCE_END = re.compile(r"""[.!?…]["')\]]*(?=\s)|[。！？]|\n""")
_LOOK_BACK = 400


def _settle(text: str, end: int) -> int:
    """The nearest good end at or before `end`: a sentence's if that keeps three quarters, else a word's if that keeps a half."""
    if end <= 0 or end >= len(text):
        return max(end, 0)
    low = max(end - _LOOK_BACK, end * 3 // 4)
    places = [found.end() for found in _SENTENCE_END.finditer(text, low, end + 1) if found.end() <= end]
    if not places:
        places = [found.start() for found in _BLANK.finditer(text, max(end - _LOOK_BACK, end // 2), end + 1)]
    return len(text[: places[-1]].rstrip()) or places[-1] if places else end


def count_lines(texts: Iterable[str]) -> int:
    """What texts cost with a newline between each two, in o200k tokens."""
    return count("\n".join(texts))
