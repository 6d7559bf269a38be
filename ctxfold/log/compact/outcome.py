"""Whether a result says that what was called failed, read from its structure, its first words and how it ends. It judges no history."""

from __future__ import annotations

import re
from typing import Any

from ctxfold.log.compact.unwrap import Words, unwrapped

__all__ = ["failed", "row_failed", "succeeded"]

_FAILED = re.compile(
    r"^\W*(?:[\w.]*error\b|[\w.]*exception\b|traceback|failed|failure|fatal|denied|refused|not found|invalid|cannot|could not|unable|错误|失败|无法)",
    re.I,
)
_ENDING = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: code| status)?|return(?:ed)? code|status code)[ :=]*(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\b\W*$",
    re.I,
)
_ENDED = frozenset({"error", "failed", "failure", "fail", "denied", "rejected", "invalid", "not_found"})
_WRONG, _DONE, _STATE = ("error", "errors", "is_error", "isError"), ("success", "ok"), ("status", "state")
_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code", "returnCode")
"""What holds the code a process ended with, and nothing else: a number under `status` or `code` is that of HTTP or of a business as often."""
_BESIDE = "metadata"
"""What tools that run commands put their code into, beside the output."""
_CODE = re.compile(r"[+-]?0*[1-9]\d*")
_ROW = re.compile(
    rf"(?<!\S)(?:(?:{'|'.join(_WRONG)})(?:=(?!(?:null|false|0|\"\"|\[\]|\{{\}})(?!\S))|\()|(?:{'|'.join(_DONE)})=false(?!\S)"
    rf"|(?:{'|'.join(_STATE)})=(?:{'|'.join(sorted(_ENDED))})(?!\S))"
    rf"|(?:(?<!\S)|(?<!\S){_BESIDE}\()(?:{'|'.join(_CODES)})={_CODE.pattern}(?![^\s)])"
)
_TAIL = 120


def succeeded(text: str) -> bool:
    """Whether a result says that what was asked was done: nothing in its structure or its first words says it failed."""
    first = unwrapped(text)[0]
    if isinstance(first, Words):
        return _FAILED.match(first.text[:200]) is None
    tree = first.value
    if isinstance(tree, dict):
        status = str(tree.get(_STATE[0], tree.get(_STATE[1], ""))).lower()
        wrong = any(tree.get(name) for name in _WRONG)
        done = tree.get(_DONE[0], tree.get(_DONE[1], True)) is not False
        return not wrong and done and status not in _ENDED and not _ended_badly(tree)
    return _FAILED.match(text[:200]) is None


def failed(text: str) -> bool:
    """Whether a result says at its beginning or its end that what was called failed."""
    return not succeeded(text) or _ENDING.search(text[-_TAIL:]) is not None


def row_failed(row: str) -> bool:
    """The same of the row that the compact form of an object begins with."""
    return _ROW.search(row) is not None


def _ended_badly(tree: dict[str, Any]) -> bool:
    """Whether an object tells the code of a process, and that it is not 0."""
    beside = tree.get(_BESIDE)
    told = (held.get(name) for held in (tree, beside if isinstance(beside, dict) else {}) for name in _CODES)
    return any(_CODE.fullmatch(str(code)) is not None for code in told)
