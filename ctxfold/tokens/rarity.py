"""How rare a word is in any language, estimated from the tokenizer's rank table.

Source: byte pair encoding (Sennrich, Haddow, Birch, 2016) joins what is frequent first, so that a token's rank tells how common it is in the text
the table was made from; a word that needs several tokens was too rare to be joined.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

from ctxfold.tokens.ranks import encoding

__all__ = ["rarity"]

_COMMON, _SPAN = 6.0, 5.0
"""The logarithm of a rank whose word tells nothing, and how much more of it tells all."""
_LEAST, _MOST, _PIECES = 0.1, 1.1, 1.2
_HAN, _HAN_SPAN, _PAIR = 8.0, 3.0, 0.45
"""The same for a script without spaces, where a pair of characters need not be a word."""


@lru_cache(maxsize=16_384)
def rarity(word: str) -> float:
    """How rare a word is: about 0.1 for one that stands everywhere, 1.2 for one the table has no token for.

    Args:
        word: one word, or a pair of characters of a script without spaces.

    Raises:
        BrokenInstall: the package's rank table is missing or altered.
    """
    if not word.isascii():
        last = encoding().encode_ordinary(word)[-1]
        whole = 1.0 if len(word) > 2 else _PAIR
        return whole * min(1.0, max(0.15, (log(last + 1) - _HAN) / _HAN_SPAN))
    tokens = encoding().encode_ordinary(f" {word}")
    if len(tokens) > 1:
        return _PIECES
    return min(_MOST, max(_LEAST, (log(tokens[0] + 1) - _COMMON) / _SPAN))
