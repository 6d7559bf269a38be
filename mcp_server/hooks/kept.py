"""What a model is given around a compaction: before it, for the summary; after it, the session's view in parts."""

from __future__ import annotations

from ctxfold import Session
from ctxfold.tokens import MIN_BUDGET
from mcp_server.prompts import fill_prompt

__all__ = ["kept_after", "kept_before", "put_back", "tell_idle"]

_BEFORE = 2_500
"""o200k tokens of the view that goes into the summary's prompt."""


_NAMED = 0.2
"""Of what is given after it, the share for what calls named and the view leaves out."""


def kept_before(session: Session) -> str:
    """What the summary must not lose."""
    return fill_prompt("hooks/before", session=session.name, view=session.view(_BEFORE).text)


def kept_after(session: Session, parts: int, size: int) -> list[str]:
    """The view of all that was said before, behind it what calls named that it leaves out, cut between lines into at most `parts` of `size` characters."""
    room = size * parts - (size // 4 if parts > 1 else 0)  # cut between lines, parts leave some of their ends
    most = int(room * (1 - _NAMED))
    budget = most // 2
    text = session.view(budget).text
    while len(text) > most:
        budget = budget * most // len(text) - MIN_BUDGET // 8
        text = session.view(max(budget, MIN_BUDGET)).text
    names = "\n".join(session.named(text, int(room * _NAMED)))
    cut = _cut(f"{text}\n{fill_prompt('hooks/named', names=names)}" if names else text, size)[:parts]
    return [
        fill_prompt("hooks/after", part=at, parts=len(cut), session=session.name, text=each)
        for at, each in enumerate(cut, 1)
    ]


def put_back(session: Session, size: int) -> str:
    """What `restore` put back, as much of it as one part of some characters holds; empty where it was taken out again."""
    made = session.intent.extraction
    if made is None or made.cause != "compaction":
        return ""
    told = "".join(f"{each.ref}\n{each.text}\n" for each in made.extracts)
    return fill_prompt("hooks/restored", session=session.name, text=_cut(told, size)[0])


def tell_idle(session: Session, tokens: object) -> str:
    """What the user is told where the host's cache has expired, so that its whole history of so many tokens is paid for again."""
    size = f"{tokens:,} tokens" if isinstance(tokens, int) else "this conversation"
    return fill_prompt("hooks/idle", session=session.name, size=size)


def _cut(text: str, size: int) -> list[str]:
    """The text in parts of whole lines; a line longer than a part is cut."""
    made = [""]
    for line in text.split("\n"):
        for piece in (line[at : at + size - 1] for at in range(0, max(len(line), 1), size - 1)):
            if len(made[-1]) + len(piece) + 1 > size:
                made.append("")
            made[-1] += piece + "\n"
    return made
