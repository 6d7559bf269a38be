"""The values that plans and extractions are made from: given entries, chosen lines, and the records they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ctxfold.log.json_lines import line_form
from ctxfold.workspace.intent import State

__all__ = ["ItemGiven", "PlanGiven", "Records", "Selection", "Source", "StatementGiven"]


@dataclass(frozen=True, slots=True)
class ItemGiven:
    """An entry of a to-do as it was given; what is empty was not said."""

    id: str = ""
    text: str = ""
    state: State | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementGiven:
    """A constraint or a decision as it was given; what is empty was not said.

    Attributes:
        text: its words; with an id, those that take the place of the ones there.
        holds: whether it holds from now on; None where that was not said.
        supersedes: the id of the one whose place it takes.
    """

    id: str = ""
    text: str = ""
    holds: bool | None = None
    supersedes: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class PlanGiven:
    """A plan as it was given; `summary` is None and `goal` empty where none was."""

    summary: str | None = None
    todo: tuple[ItemGiven, ...] = ()
    constraints: tuple[StatementGiven, ...] = ()
    decisions: tuple[StatementGiven, ...] = ()
    goal: str = ""

    @property
    def nothing(self) -> bool:
        """Whether nothing was given that the register holds."""
        return self.summary is None and not (self.todo or self.constraints or self.decisions)


@dataclass(frozen=True, slots=True)
class Selection:
    """What a decider chose: an address, what it is for, the item it serves, a path into a structured record, strings to point out."""

    ref: str
    why: str = ""
    todo: str | None = None
    path: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """One record: its step and place in it, what sort of entry it is, its exact text, and whether a tool or a page said it."""

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
    """The log, as a plan and an extraction read it."""

    def of(self, step: int) -> list[Source]:
        """The records of a step in order; none when there is no such step."""

    def quoting(self, text: str) -> Source | None:
        """A record that holds a text, one of the user's before others; None where none does. Blanks and capitals do not matter."""
