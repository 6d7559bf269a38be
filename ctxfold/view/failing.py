"""Calls that failed and whose results are left out: what stands of them says so, with the head of the newest error. It leaves nothing out.

`> read (1 failed: no such file) path=a.py` has failed once; told with others on the same subject it adds up: `(2 failed: …)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ctxfold.log.compact.outcome import failed, row_failed
from ctxfold.log.lines import Line
from ctxfold.tokens import count, head

__all__ = ["added", "failure", "unsaid"]

_HEAD = 8
"""o200k tokens of an error that stay."""
_SAME = "same as "
_TOLD = re.compile(r"(> \S+)(?: \((\d+) failed: ([^()]*)\))?")


def failure(results: Sequence[Line], before: Mapping[str, str] = MappingProxyType({})) -> str:
    """The head of the error that the results of a call tell; empty where they tell none.

    Args:
        results: lines of a record or of a text, in their order; a text may stand cut into its own lines.
        before: what failed before it, by its address: a result may be the same as another.
    """
    if not results:
        return ""
    first = results[0]
    if first.words.startswith(_SAME):
        return before.get(first.words.removeprefix(_SAME), "")
    if first.kind == "data":
        wrong = row_failed(first.words)
    else:
        body = "\n".join(_body(each) for each in results)
        wrong = failed(body)
    if not wrong:
        return ""
    told = [words for each in results for words in _body(each).splitlines() if words.strip()]
    at = 0 if first.kind == "data" or failed(told[0]) else -1
    return " ".join(head(told[at].translate(_PARENTHESES), _HEAD).split())


def unsaid(call: Line, error: str) -> Line:
    """The beginning of a call whose results told an error that is left out: it says that now, beside what those told with it failed with."""
    before = _TOLD.match(call.text)
    return _saying(call, 1 + int(before[2] or 0) if before else 1, error)


def added(call: Line, others: Iterable[Line]) -> Line:
    """The beginning of a call that others on the same subject are told with, oldest first: with the failures of all of them."""
    told = [(int(found[2]), found[3]) for each in (*others, call) if (found := _TOLD.match(each.text)) and found[2]]
    return _saying(call, sum(number for number, _ in told), told[-1][1]) if told else call


def _saying(call: Line, number: int, error: str) -> Line:
    text = _TOLD.sub(lambda found: f"{found[1]} ({number} failed: {error})", call.text, count=1)
    return call.reworded(text, count(text) + 1, call.keys)


def _body(line: Line) -> str:
    """What a line holds of a record, without marks and fences."""
    if line.text.startswith("<<"):
        return line.text[line.text.index("\n") + 1 : line.text.rindex("\n")]
    return line.words


_PARENTHESES = str.maketrans("()", "  ")
