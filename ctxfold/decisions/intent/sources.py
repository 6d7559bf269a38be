"""Records as an extraction reads them, by address. It holds no store: whoever extracts hands in how to look one up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ctxfold.log.json_lines import line_form

__all__ = ["Records", "Source"]


@dataclass(frozen=True)
class Source:
    """One record.

    Attributes:
        step: its step.
        k: its place in the step.
        kind: what sort of entry it is.
        text: its exact text.
        untrusted: whether it came from a tool or a page.
    """

    step: int
    k: int
    kind: str
    text: str
    untrusted: bool

    @property
    def ref(self) -> str:
        """Its address."""
        return f"s{self.step}.{self.k}"

    @cached_property
    def lines(self) -> list[str]:
        """The lines that ranges count."""
        return line_form(self.text)

    def slice(self, first: int, last: int) -> str:
        """Lines `first` to `last`, from 1, both included, as `recall` gives them."""
        return "\n".join(self.lines[first - 1 : last])


class Records(Protocol):
    """What is asked of the log."""

    def of(self, step: int) -> list[Source]:
        """The records of a step in order; none when there is no such step."""
