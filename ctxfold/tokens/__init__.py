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
from importlib import resources
from math import ceil, log
from typing import TYPE_CHECKING, NamedTuple

from ctxfold.errors import BrokenInstall, BudgetError

if TYPE_CHECKING:
    from tiktoken import Encoding

MIN_BUDGET = 256
"""The least budget a view is promised to fit, in o200k tokens."""
DEFAULT_BUDGET = 8_000
"""o200k tokens of a view if no budget was ever set."""
_MOST = 10**9
"""Tokens beyond which no number is a budget: no model reads as many."""


def factor(model: str | None) -> float:
    """Tokens of a model for one o200k token: 1.0 without a model, the table's figure for a known one, or its guard."""
    if model is None:
        return 1.0
    guard, figures = _load_factors()
    name = re.sub(r"^.*(?=claude-)", "", model.lower())
    # `claude-opus-4-5` is the start of `claude-opus-4-5-20251101` and not of `claude-opus-4-50`
    known = (start for start in figures if name.startswith(start) and not name[len(start) :][:1].isalnum())
    return figures.get(max(known, key=len, default=""), guard)


@cache
def _load_factors() -> tuple[float, dict[str, float]]:
    """The factor of an unknown model, and those of known ones."""
    data = json.loads((resources.files(__package__) / "data" / "factors.json").read_text(encoding="utf-8"))
    return data["guard"], data["models"]


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in the reading model's own tokens, and in ours.

    Attributes:
        limit: the most a view may cost, in tokens of the model that reads it.
        factor: tokens of that model for one o200k token.

    Raises:
        BudgetError: not a whole number, one beyond a billion, or less than `MIN_BUDGET` o200k tokens.
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
        """The budget of `limit` tokens of `model`, of o200k tokens without one. Raises BudgetError."""
        return cls(limit, factor(model))

    @property
    def tokens(self) -> int:
        """The limit in o200k tokens, rounded down."""
        return int(self.limit / self.factor)


@cache
def encoding() -> Encoding:
    """The o200k_base encoding of this process: about 300 ms and 95 MB on the first call, free afterwards.

    Raises:
        BrokenInstall: a data file is missing or not as packed.
    """
    from tiktoken import Encoding  # here, so that importing this package stays cheap

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


_COMMON, _SPAN = 6.0, 5.0
"""The logarithm of a rank below which a word tells nothing, and how much more of it tells all."""
_LEAST, _RANKS_MOST, _PIECES = 0.1, 1.1, 1.2
"""The rarity of the commonest word, of the rarest with a token of its own, and of one without."""
_HAN, _HAN_SPAN, _HAN_LEAST, _PAIR = 8.0, 3.0, 0.15, 0.45
"""The same for a script without spaces, where a pair of characters need not be a word."""


@lru_cache(maxsize=16_384)
def rarity(word: str) -> float:
    """How rare a word, or a pair of characters of a script without spaces, is: about 0.1 to 1.2."""
    if not word.isascii():
        last = encoding().encode_ordinary(word)[-1]
        whole = 1.0 if len(word) > 2 else _PAIR
        return whole * min(1.0, max(_HAN_LEAST, (log(last + 1) - _HAN) / _HAN_SPAN))
    tokens = encoding().encode_ordinary(f" {word}")
    if len(tokens) > 1:
        return _PIECES
    return min(_RANKS_MOST, max(_LEAST, (log(tokens[0] + 1) - _COMMON) / _SPAN))


_LONG = 2_000
"""Characters from which a text is long: 16,384 short ones are kept with their counts, at most 32 MB, and 512 long ones,
at most 13 MB. A view counts the same long result several times, and tiktoken takes 2 ms for 24,576 characters."""

PIECE = 24_576
"""Most characters given to tiktoken at once: its pattern backtracks over runs of blanks, and panics below a million."""
_REACH = 4_096
"""How far back from a piece's end a good cut is sought."""
_UNSURE = 64
"""Tokens at a piece's end that the text after it may change."""
_LINE_END = re.compile(r"\n(?=[^\s/])")  # newlines take following blanks, and a slash, into one token
_WORD_END = re.compile(r"(?<=\S)(?= \S)")  # a word takes one blank before it


def count(text: str) -> int:
    """The cost of a text in o200k tokens. Special tokens in it, such as `<|endoftext|>`, count as plain text.

    Returns:
        Tokens, as many as tiktoken gives for all of the text at once. Only half characters (lone surrogates) and
        signs or newlines by the ten thousand without a blank may put it off by a few.

    Raises:
        BrokenInstall: the package's rank table is missing or altered. No text makes it raise.
    """
    return _count_piece(text) if len(text) <= PIECE else sum(piece.cost for piece in cut_into_pieces(text))


def _count_piece(piece: str) -> int:
    """The cost of at most `PIECE` characters."""
    return _count_short(piece) if len(piece) < _LONG else _count_long(piece)


@lru_cache(maxsize=16_384)
def _count_short(piece: str) -> int:
    return len(_encode(piece))


@lru_cache(maxsize=512)
def _count_long(piece: str) -> int:
    return len(_encode(piece))


def _encode(text: str) -> list[int]:
    """The tokens of a text; special ones count as plain text."""
    return encoding().encode_ordinary(text)


class TextPiece(NamedTuple):
    """A stretch of a text, and its cost where finding its end gave that."""

    text: str
    tokens: int | None = None

    @property
    def cost(self) -> int:
        """Its cost in o200k tokens."""
        return _count_piece(self.text) if self.tokens is None else self.tokens


def cut_into_pieces(text: str) -> Iterator[TextPiece]:
    """The text in pieces of 1 to `PIECE` characters, cut where the tokenizer itself parts it: the costs add up."""
    start = 0
    while len(text) - start > PIECE:
        piece = _next_piece(text, start, start + PIECE)
        yield piece
        start += len(piece.text)
    if start < len(text):
        yield TextPiece(text[start:])


def _next_piece(text: str, start: int, limit: int) -> TextPiece:
    """From `start` to the last line's end in the `_REACH` characters up to `limit`, else a word's, else a token's."""
    for ending in (_LINE_END, _WORD_END):
        places = [found.end() for found in ending.finditer(text, limit - _REACH, limit + 2)]
        within = [place for place in places if place <= limit]
        if within:
            return TextPiece(text[start : within[-1]])
    return _cut_at_token(text[start:limit])


@lru_cache(maxsize=8)
def _cut_at_token(stretch: str) -> TextPiece:
    """A stretch up to the last token that no following text changes and that ends with a character, else all of it."""
    ids = _encode(stretch)
    for kept in range(len(ids) - _UNSURE, 0, -1):
        try:
            return TextPiece(stretch[: len(encoding().decode_bytes(ids[:kept]).decode("utf-8"))], kept)
        except UnicodeDecodeError:
            continue  # the token ends within a character
    return TextPiece(stretch)


_WIDE, _SHORT = 8, 128
"""Characters for a token, generously, and some more: a look at this much of a text often shows that it is too long."""
_BLANK = re.compile(r"\s")
_SENTENCE_END = re.compile(r"""[.!?…]["')\]]*(?=\s)|[。！？]|\n""")
_LOOK_BACK = 400
"""Characters before a cut in which a sentence's or a word's end is sought."""


def head(text: str, tokens: int) -> str:
    """The longest start of `text` that costs at most `tokens`, ended at a word, or at a sentence that ends nearby.

    A text without blanks is cut between characters. Only as much of the text is read as is needed.

    Args:
        text: any string.
        tokens: the most it may cost, in o200k tokens; nothing is returned for less than 1.

    Returns:
        A prefix of `text`, the whole of it if it costs no more than `tokens`.
    """
    room, end = max(tokens, 0), 0
    for piece in cut_into_pieces(text):
        start = piece.text[: room * _WIDE + _SHORT]
        too_long = start if _count_piece(start) > room else piece.text if piece.cost > room else None
        if too_long is not None:
            return _fit(text, tokens, end, _encode(too_long)[:room])
        room -= piece.cost
        end += len(piece.text)
    return text


def _fit(text: str, tokens: int, start: int, ids: Sequence[int]) -> str:
    """The head of `text` that ends within `ids`, the tokens that may still follow from `start` on.

    A cut inside a token can make the rest of it cost more than it did, so the result is counted, and cut again.
    """
    for left in range(len(ids), 0, -1):
        whole = encoding().decode_bytes(ids[:left]).decode("utf-8", "ignore")
        kept = text[: _find_end(text, start + len(whole))]
        if count(kept) <= tokens:
            return kept
    return text[:start]


def _find_end(text: str, end: int) -> int:
    """The nearest good end up to `end`: a sentence's that keeps three quarters, else a word's that keeps a half."""
    if not 0 < end < len(text):
        return max(end, 0)
    low = max(end - _LOOK_BACK, end * 3 // 4)
    places = [found.end() for found in _SENTENCE_END.finditer(text, low, end + 1) if found.end() <= end]
    if not places:
        places = [found.start() for found in _BLANK.finditer(text, max(end - _LOOK_BACK, end // 2), end + 1)]
    return len(text[: places[-1]].rstrip()) or places[-1] if places else end


def count_lines(texts: Iterable[str]) -> int:
    """The cost of texts with a newline between each two, in o200k tokens."""
    return count("\n".join(texts))


def find_portion(costs: Sequence[int], room: int) -> int:
    """Return the most that one of several texts may cost if all are to fit a room: those that cost less leave theirs
    to the others.
    """
    for number, cost in enumerate(sorted(costs)):
        portion = max(room, 0) // (len(costs) - number)
        if cost > portion:
            return portion
        room -= cost
    return max(costs, default=0)
