"""Texts that make careless patterns backtrack, and the time they may take."""

import time
from collections.abc import Callable

HOSTILE = (
    "a", "A", "1", "-", "/", " ", ".", "_", "'", '"', "\n", "\r\n", "\t", "(", "[", "{", "=", ":", "@", "$", "#", "<", ",", ";", "\\", "é", "文", "。",
    "a.", "a_", "aA", "1.", "1,", "a-", "a/", "a@", "a=", "a:", "a ", "A. ", "e.g. ", ". ", ".a", '."', "=\n", " \n", "a\n", "1:", "1-", "0x", "f-",
    "://", "a://", "http://", "http://a.", "user@a.", "k=v;", "k: ", "\"a\" ", "'a ", "C:\\", "../", "12:34 ", "2024-01-02T", "A1", "A-1-", "the\n",
    "{\"a\":", "1 k", "\u0301", "\ud800",
)  # fmt: skip
"""What to repeat."""

LONG = [(text * (100_000 // len(text))) for text in HOSTILE] + [letter * 1_000_000 for letter in "a-/ "]
"""A hundred kilobytes of each, a megabyte of some: what is quadratic needs minutes for the first and hours for the last."""

NAMES = [f"{text!r}" for text in HOSTILE] + [f"{letter!r} to a megabyte" for letter in "a-/ "]


def within(seconds: float, action: Callable[[], object]) -> None:
    """Fails when `action` takes more processor time; the bound is generous, for slow and busy machines."""
    started = time.process_time()
    action()
    taken = time.process_time() - started
    assert taken < seconds, f"took {taken:.1f} s"
