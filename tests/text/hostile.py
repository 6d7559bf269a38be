"""Texts that make careless patterns backtrack, and the time they may take."""

import time
from collections.abc import Callable

HOSTILE = (
    "a", "A", "1", "-", "/", " ", ".", "_", "'", '"', "\n", "\r\n", "\t", "(", "[", "{", "=", ":", "@", "$", "#", "<", ",", ";", "\\", "é", "文", "。",
    "a.", "a_", "aA", "1.", "1,", "a-", "a/", "a@", "a=", "a:", "a ", "A. ", "e.g. ", ". ", ".a", '."', "=\n", " \n", "a\n", "1:", "1-", "0x", "f-",
    "://", "a://", "http://", "http://a.", "user@a.", "k=v;", "k: ", "\"a\" ", "'a ", "C:\\", "../", "12:34 ", "2024-01-02T", "A1", "A-1-", "the\n",
    "{\"a\":", "1 k", "\u0301", "\ud800",
)  # fmt: skip
"""Repeated to a megabyte each. Named by what repeats."""


def within(seconds: float, action: Callable[[], object]) -> None:
    """Fails when `action` takes longer; the bound is generous, quadratic behaviour misses it by orders of magnitude."""
    started = time.perf_counter()
    action()
    taken = time.perf_counter() - started
    assert taken < seconds, f"took {taken:.1f} s"
