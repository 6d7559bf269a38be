"""Leaves out of the texts of one answer the title, address and notes that the text before began with."""

from __future__ import annotations

from collections.abc import Sequence

from browser_agent.observation.values import Observation

__all__ = ["without_known", "without_repeats"]


def without_repeats(seen: Sequence[Observation]) -> tuple[str, ...]:
    """The texts of several observations in the order they are read, each without the lines of its heading that the one before has."""
    texts = (one.text if not at else without_known(one, seen[at - 1]) for at, one in enumerate(seen))
    return tuple(filter(None, texts))


def without_known(seen: Observation, before: Observation) -> str:
    """The text of an observation without the lines of its heading that the one `before` has."""
    known = before.heading.split("\n")
    kept = [line for line in seen.heading.split("\n") if not any(other.startswith(line) for other in known)]
    return "\n".join([*kept, seen.text[len(seen.heading) :].lstrip("\n")])
