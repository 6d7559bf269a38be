"""Makes an observation of a page anew from the snapshot that a session's log keeps of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from browser_agent.observation.blocks import blocks
from browser_agent.observation.capture import Capture, Structure
from browser_agent.observation.inline import REF
from browser_agent.observation.observe import observe
from browser_agent.observation.values import Observation, Section
from ctxfold.log.snapshot import parse

__all__ = ["from_log"]

_TERM = 7
_DEFINED = re.compile(r"[\w.]+")
_PREFIX = re.compile(r"^(?:#+|-) ")
_APART = frozenset({"nav", "header", "footer", "aside", "search"})
"""The parts of a page that are none of its text."""
_LEAST = 200
"""Tokens of its text, which nobody is shown."""


def from_log(url: str, snapshot: str) -> Observation:
    """A page as it was seen.

    Args:
        url: its address.
        snapshot: its accessibility tree, as the log has it.

    Returns:
        The page with its sections and links. What a snapshot lacks, it lacks: anchors, the site's search, and the page's title, in whose place its first heading stands.
    """
    sections = tuple(_sections(snapshot))
    title = next((section.title for section in sections if section.title), "")
    return observe(Capture(url, None, snapshot, Structure(title=title, sections=sections)), budget=_LEAST)


def _sections(snapshot: str) -> Iterator[Section]:
    """The text under each heading and each term, without the references to its elements."""
    section, held = Section(title="", level=1), list[str]()
    for block in blocks(parse(snapshot)):
        text = _PREFIX.sub("", REF.sub("", block.text))
        if block.region in _APART:
            continue
        if not block.level:
            held.append(text)
            continue
        yield section.model_copy(update={"text": "\n".join(held)})
        defined = _DEFINED.match(text) if block.level == _TERM else None
        section = Section(title=text, level=block.level, defined_name=defined and defined.group())
        held = []
    yield section.model_copy(update={"text": "\n".join(held)})
