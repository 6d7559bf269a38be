"""How a line of a view begins that says who speaks or what it is: each beginning defined once, so that nothing else can pose as one. It shows nothing."""

from __future__ import annotations

import re

from ctxfold.prompts import opening

__all__ = [
    "AI",
    "ALSO",
    "BINDING",
    "ELSEWHERE",
    "EXTRACTS",
    "GOAL",
    "GOAL_NOW",
    "HERE",
    "KEY_INFO",
    "NOTE",
    "POSING",
    "SO_FAR",
    "SUPERSEDED",
    "THINKING",
    "TOPIC",
    "TO_DO",
    "USER",
]

USER = "user:"
AI = "ai:"
NOTE = "note:"
GOAL = "goal:"
GOAL_NOW = "goal now:"
SO_FAR = "so far:"
TO_DO = "to-do:"
BINDING = "constraints, newest wins"
SUPERSEDED = "superseded:"
EXTRACTS = "extracts:"
ALSO = "also:"
HERE = "here:"
ELSEWHERE = "elsewhere:"
TOPIC = "[topic"
THINKING = "[Thought]"
KEY_INFO = "[KEY INFO]"

_WORDS = (
    *(USER, AI, NOTE, GOAL, GOAL_NOW, SO_FAR, TO_DO, BINDING, SUPERSEDED, EXTRACTS, ALSO),
    *(HERE, ELSEWHERE, TOPIC, THINKING, KEY_INFO),
    *(f"{opening(name).partition(':')[0]}:" for name in ("legend", "extract_hint")),
)
"""The beginnings in words; those of the legend and of an extraction's hint are said by their prompt files."""
_STEPS = r"s\d+(?:-s\d+)?(?:, s\d+(?:-s\d+)?)*"
_ADDRESSED = (
    rf"{_STEPS}(?:…| (?:failed|partial)(?!\S))",
    r"s\d+(?:-s\d+|, s\d+|\.\d+)\S*(?!\S)",
    r"[st]\d+[ \t]+(?![-+*/%&|^=!,;:.?)\]}])",
    r"\[s\d",
    r"<<s\d",
)
"""The addresses that begin a block, a constraint, an item of the to-do, a stub, a fence. `s1 = 2` is code, and begins none of them."""
_MARKED = r"[<>](?!\S)"
"""What was called, and what came back."""

POSING = re.compile(
    rf"[ \t]?(?:{'|'.join(_ADDRESSED)}|(?:s\d+\S*[ \t]+)?(?:{_MARKED}|(?i:{'|'.join(map(re.escape, _WORDS))})))"
)
"""Matches where a line begins as one of ours or another speaker's does."""
