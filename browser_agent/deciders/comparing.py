"""Alternatives on branches of their own: what a decision says of the session's forest, and how it is done. The browser is not rewound, and no page is part of it.

Source: Context-Agent's forest: options that are compared stand beside each other, each in brief on the other's view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.session.history.branches import check_name

if TYPE_CHECKING:
    from browser_agent.deciders.protocol import Decided
from ctxfold.workspace.by import By

__all__ = ["BranchWritten", "moved"]


class BranchWritten(BaseModel):
    """Where the next steps belong: a branch of their own, or one that is there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Literal["create", "switch"]
    to: str = Field(min_length=1, max_length=64, description="The branch's name: a-z, 0-9 and -.")
    at: int | None = Field(default=None, ge=1, description="For create: the last step the new branch keeps.")
    found: str = Field(
        default="", max_length=1_200, description="What came of the branch you leave, with its exact values."
    )


def moved(session: Session, decided: Decided, scrub: Callable[[str], str]) -> str:
    """Go where a decision says. Returns what was refused, and why; empty when nothing was.

    Args:
        session: the run's session.
        decided: the decision.
        scrub: takes secrets out of what is written down.
    """
    branch = decided.decision.branch
    if branch is None:
        return ""
    names = {each.name for topic in session.tree() for each in topic.branches}
    try:
        if (branch.action == "switch") != (check_name(branch.to, "branch") in names):
            there = f"there is {'a' if branch.to in names else 'no'} branch {branch.to}"
            return f"the branch was not changed: {there}; the branches are {', '.join(sorted(names))}"
        if branch.found.strip():
            session.record_note(scrub(branch.found.strip()))
        session.branch(
            branch.action, at=branch.at, to=branch.to, by=By(decided.kind, scrub(decided.decision.thought)[:120])
        )
    except InputError as error:
        return f"the branch was not changed: {error}"
    return ""
