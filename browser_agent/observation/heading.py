"""Writes what an observation begins with, title, address and notes, and leaves it out where the text before began so."""

from __future__ import annotations

from collections.abc import Sequence

from browser_agent.observation.capture import Capture
from browser_agent.observation.inline import clean, cut
from browser_agent.observation.values import Observation

__all__ = ["without_known", "without_repeats", "write_heading"]

_TITLE = 100
_ADDRESS = 160
_QUERY = 60


def write_heading(capture: Capture, unseen: int) -> str:
    """What an observation of a page begins with; `unseen`: how many texts of it nobody sees."""
    lines = []
    title = cut(clean(capture.structure.title), _TITLE)
    status = f" ({capture.status})" if capture.status is not None and capture.status >= 400 else ""
    lines.append(f"{title} — {_address(capture.url)}{status}" if title else _address(capture.url) + status)
    if capture.dialog is not None:
        message = cut(clean(capture.dialog.message), 300)
        lines.append(f"An open {capture.dialog.kind} dialog blocks the page: {message!r}; answer it with dialog.")
    if len(capture.tabs) > 1:
        lines.append(
            "tabs: " + " · ".join(_tab(tab.index, tab.title or tab.url, tab.current) for tab in capture.tabs[:8])
        )
    lines.extend(f"({note})" for note in capture.notes)
    if capture.structure.drawn:
        drawn = "; ".join(cut(clean(one), _ADDRESS) for one in capture.structure.drawn)
        lines.append(f"(drawn, so none of it can be read or addressed: {drawn})")
    if unseen:
        lines.append(f"({unseen} unseen text{'s' if unseen > 1 else ''} left out)")
    return "\n".join(lines)


def _address(url: str) -> str:
    """An address with the start of its query: whoever gave a long one knows it."""
    place, mark, query = clean(url).partition("?")
    return cut(place, _ADDRESS) + mark + cut(query, _QUERY)


def _tab(index: int, title: str, current: bool) -> str:
    return f"{index}{' (this one)' if current else ''} {cut(clean(title), 40)}"


def without_repeats(seen: Sequence[Observation]) -> tuple[str, ...]:
    """The texts of several observations in the order they are read, each without the lines of its heading that the one before has."""
    texts = (one.text if not at else without_known(one, seen[at - 1]) for at, one in enumerate(seen))
    return tuple(filter(None, texts))


def without_known(seen: Observation, before: Observation) -> str:
    """The text of an observation without the lines of its heading that the one `before` has."""
    known = before.heading.split("\n")
    kept = [line for line in seen.heading.split("\n") if not any(other.startswith(line) for other in known)]
    return "\n".join([*kept, seen.text[len(seen.heading) :].lstrip("\n")])
