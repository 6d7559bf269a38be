"""Headroom's side, run by a Python that has it: `compress` prints the messages of each request, `retrieve` what a new process still has of its marks.

It reads JSON from standard input: the messages with the places at which requests are sent, or the messages of the last request.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

_MARK = re.compile(r"\b[0-9a-f]{12,64}\b")


def compress_all(messages: list[dict[str, Any]], ends: list[int], frozen: bool) -> list[Any]:
    """The messages of each request."""
    from headroom import compress  # type: ignore[import-not-found, unused-ignore]

    made: list[Any] = []
    for end in ends:
        known = len(made[-1]) if made and frozen else 0
        given = [*made[-1], *messages[known:end]] if known else messages[:end]
        made.append(compress(given, model="gpt-4o", frozen_message_count=known).messages)
    return made


def retrieve_all(messages: list[dict[str, Any]]) -> list[str]:
    """What the store has for each mark in the messages."""
    from headroom.cache.compression_store import (  # type: ignore[import-not-found, unused-ignore]
        get_compression_store,
    )

    store, found = get_compression_store(), list[str]()
    for mark in dict.fromkeys(_MARK.findall(json.dumps(messages))):
        entry = store.retrieve(mark)
        if entry is not None:
            found.append(entry.original_content)
    return found


if __name__ == "__main__":
    given = json.load(sys.stdin)
    answer = (
        compress_all(given["messages"], given["ends"], given["frozen"])
        if sys.argv[1] == "compress"
        else retrieve_all(given)
    )
    sys.stdout.write("\n" + json.dumps(answer))
