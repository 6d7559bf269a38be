"""The schemas in which a model writes a plan or chooses lines of the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = ["ItemWritten", "LinesWritten", "StatementWritten"]


class ItemWritten(BaseModel, frozen=True, extra="forbid"):
    """One entry of a to-do: a new text, or an item by its id with what changed."""

    id: str = Field(default="", description="Of an item that is there; leave it out for a new one.")
    text: str = Field(default="", max_length=600, description="What is to be done, with the facts and bounds it needs.")
    state: Literal["open", "done", "dropped"] | None = Field(default=None, description="Only where it changes.")
    evidence: tuple[str, ...] = Field(
        default=(), max_length=8, description="Refs that show the new state, as s12.3: a call that worked, or the user."
    )

    def given(self, clean: Callable[[str], str] = str) -> dict[str, Any]:
        """The entry as a plan takes it: what was left out is not said."""
        said: dict[str, Any] = {"id": self.id, "text": clean(self.text), "state": self.state}
        return {name: value for name, value in {**said, "evidence": list(self.evidence)}.items() if value}


class StatementWritten(BaseModel, frozen=True, extra="forbid"):
    """A constraint or a decision: a new text, or one that is there by its id with what changed."""

    id: str = Field(default="", description="Of one that is there; leave it out for a new one.")
    text: str = Field(default="", max_length=600, description="Its words, with exact values.")
    state: Literal["holds", "lifted"] | None = Field(default=None, description="Only where it changes.")
    supersedes: str = Field(default="", description="The id of the one whose place it takes.")
    ref: str = Field(default="", description="Where its words stand, as s12.1.")

    def given(self) -> dict[str, str]:
        """The entry as a plan takes it: what was left out is not said."""
        return {name: value for name, value in self.model_dump().items() if value}


class LinesWritten(BaseModel, frozen=True, extra="forbid"):
    """One choice of lines."""

    ref: str = Field(description="A record and its lines, as s12.2:40-80.")
    why: str = Field(default="", max_length=200, description="What they are for, in your own words.")
    todo: str | None = Field(default=None, description="The item they serve, as t3.")
    facts: tuple[str, ...] = Field(default=(), max_length=12, description="Strings in them that matter, unchanged.")
