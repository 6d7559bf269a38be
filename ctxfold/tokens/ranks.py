"""Builds the o200k encoding, once, from the rank table in `data/`."""

from __future__ import annotations

import binascii
import gzip
import hashlib
import json
import zlib
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING

from ctxfold.errors import BrokenInstall

if TYPE_CHECKING:
    from tiktoken import Encoding

_lock = Lock()
_built: list[Encoding] = []


def encoding() -> Encoding:
    """The o200k_base encoding of this process: about 300 ms and 95 MB on the first call, free afterwards.

    Raises:
        BrokenInstall: a data file is missing or not the one that was packed.
    """
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
