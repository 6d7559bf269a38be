"""What a model is given around a compaction: before it, for the summary; after it, the session's view in parts."""

from __future__ import annotations

from ctxfold import Session
from ctxfold.tokens import MIN_BUDGET
from mcp_server.prompts import fill_prompt

__all__ = ["kept_after", "kept_before", "put_back"]

_BEFORE = 2_500
"""o200k tokens of the view that goes into the summary's prompt."""
_PART = 9_000
"""Characters of one part: hosts cut what a hook adds at ten thousand, and some words of ours stand above it."""
_SLACK = _PART // 4
"""Characters left at the ends of the parts, since they are cut between lines."""


def kept_before(session: Session) -> str:
    """What the summary must not lose."""
    return fill_prompt("hooks/before", session=session.name, view=session.view(_BEFORE).text)


def kept_after(session: Session, part: int, parts: int) -> str:
    """One part of the view of all that was said before, cut between lines.

    Args:
        session: the session of the conversation.
        part: which, from 1.
        parts: how many there are.

    Returns:
        Its text; empty where the parts before it hold all.
    """
    room = _PART * parts - _SLACK
    budget = room // 2
    text = session.view(budget).text
    while len(text) > room:
        budget = budget * room // len(text) - MIN_BUDGET // 8
        text = session.view(max(budget, MIN_BUDGET)).text
    cut = _cut(text)
    return (
        fill_prompt("hooks/after", part=part, parts=len(cut), session=session.name, text=cut[part - 1])
        if part <= len(cut)
        else ""
    )


def put_back(session: Session) -> str:
    """What `restore` put back, in one part; empty where it was taken out again."""
    made = session.intent.extraction
    if made is None or made.cause != "compaction":
        return ""
    told = "".join(f"{each.ref}\n{each.text}\n" for each in made.extracts)
    return fill_prompt("hooks/restored", session=session.name, text=_cut(told)[0])


def _cut(text: str) -> list[str]:
    """The text in parts of whole lines; a line longer than a part is cut."""
    made = [""]
    for line in text.split("\n"):
        for piece in (line[at : at + _PART - 1] for at in range(0, max(len(line), 1), _PART - 1)):
            if len(made[-1]) + len(piece) + 1 > _PART:
                made.append("")
            made[-1] += piece + "\n"
    return made
