"""The decision on one step as a frozen value; its JSON schema is what a model is shown."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from browser_agent.actions.union import Action, PageAction, Terminal
from ctxfold.decisions.fold.directive import FoldDirective
from ctxfold.decisions.intent.written import ItemWritten

__all__ = ["MOST_ACTIONS", "Decision"]

MOST_ACTIONS = 8
"""The most actions one decision may hold."""


class LinesWanted(BaseModel):
    """Lines of the log to see again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str = Field(description="As s12.2:40-80; s12 alone is what that step found.")
    why: str = Field(default="", max_length=200)


class Decision(BaseModel):
    """One step: why, what to fold of what lies behind, what to do now, and what changed in the to-do."""

    # Source of the shape: AgentFold (arXiv 2510.24699), section 3: each reply holds its reasoning, a directive to fold and an action.

    model_config = ConfigDict(frozen=True, extra="forbid")

    thought: str = Field(min_length=1, description="Why, in one or two sentences: what is known and what is missing.")
    fold: FoldDirective | None = Field(
        default=None,
        description="What to keep of earlier steps. Usually the latest alone; several once a part of the task is done.",
    )
    actions: tuple[Action, ...] = Field(
        min_length=1,
        max_length=MOST_ACTIONS,
        description='Done in order. `ref` is an element as it stands then: e12 or a name, button "Save". answer and give_up stand alone.',
    )

    todo: tuple[ItemWritten, ...] = Field(
        default=(),
        max_length=12,
        description="New items of the to-do, and items whose state changed with what shows it.",
    )
    found: str = Field(
        default="", max_length=600, description="What you learned and must keep in sight: a line with exact values."
    )
    recall: tuple[LinesWanted, ...] = Field(
        default=(), max_length=8, description="Exact lines of earlier steps to see again at the end of the context."
    )

    @model_validator(mode="after")
    def _an_end_stands_alone(self) -> Self:
        if len(self.actions) > 1 and any(isinstance(action, Terminal) for action in self.actions):
            raise ValueError("answer and give_up stand alone: look at the page first, and end the run in the next step")
        return self

    @property
    def end(self) -> Terminal | None:
        """The action that ends the run, if this is one."""
        only = self.actions[0]
        return only if isinstance(only, Terminal) else None

    @property
    def page_actions(self) -> tuple[PageAction, ...]:
        """What is to be done to the page; nothing where the run ends."""
        return tuple(action for action in self.actions if not isinstance(action, Terminal))
