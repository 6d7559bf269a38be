"""Builds the o200k encoding, once, from the rank table in `data/`, and says how rare a word is by its ranks."""

from __future__ import annotations

import binascii
import gzip
import hashlib
import json
import zlib
from functools import lru_cache
from importlib import resources
from math import log
from threading import Lock
from typing import TYPE_CHECKING

from ctxfold.errors import BrokenInstall

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["encoding", "rarity"]

_lock = Lock()
_built: list[Encoding] = []
_COMMON, _SPAN = 6.0, 5.0
"""The logarithm of a rank whose word tells nothing, and how much more of it tells all."""
_LEAST, _MOST, _PIECES = 0.1, 1.1, 1.2
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
    return min(_MOST, max(_LEAST, (log(tokens[0] + 1) - _COMMON) / _SPAN))
