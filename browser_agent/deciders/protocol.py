"""What every decider of steps is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from browser_agent.deciders.decision import Decision
from browser_agent.deciders.sources import Source
from browser_agent.observation import Observation
from ctxfold.decisions.fold.parse import Compliance
from ctxfold.models import Usage
from ctxfold.view.render import View
from ctxfold.workspace.by import Decider as DeciderKind
from ctxfold.workspace.workspace import Workspace

__all__ = ["Decided", "Decider", "Situation"]


@dataclass(frozen=True, slots=True)
class Situation:
    """All a decision is made on.

    Attributes:
        task: what the user asked.
        view: the session's context within the budget; its latest step holds the page as it stands now.
        observation: the page as it stands now; None before the first, or where there is none to look at.
        now: the words that close the context: the step, and what must be heeded.
        tip: the last step recorded, 0 before the first.
        steps_left: how many decisions the limits leave, this one included.
        repeated: whether the last decision was refused because it repeats what was tried on this very page.
        workspace: what the view was rendered from.
        stable: how many leading blocks of the view the next request is expected to keep.
    """

    task: str
    view: View
    observation: Observation | None
    now: str
    tip: int
    steps_left: int
    repeated: bool = False
    workspace: Workspace = field(default_factory=Workspace)
    stable: int = 0


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, and by whom.

    Attributes:
        decision: what was decided.
        decider: the name of who decided it.
        kind: what sort of decider that is, as the session's events say it.
        usage: what a model's replies cost, each by itself; empty without a model.
        note: what a person should know of how it came about; empty when there is nothing.
        candidates: where the run ends, the passages that fit best, at most three a question, best first.
        sources: the passages that bear the answer, where it is to several questions.
        compliance: how well replies in words kept to the form of a fold; nothing where a tool was called.
        refused: what a model wrote that did not fit, each with its fault.
        asked: that model's name.
    """

    decision: Decision
    decider: str
    kind: DeciderKind
    usage: tuple[Usage, ...] = ()
    note: str = ""
    candidates: tuple[Source, ...] = ()
    sources: tuple[Source, ...] = ()
    compliance: Compliance = field(default_factory=Compliance)
    refused: tuple[tuple[str, str], ...] = ()
    asked: str = ""


class Decider(Protocol):
    """Anything that decides the steps of a run."""

    @property
    def name(self) -> str:
        """The name it was chosen by."""
        ...

    async def decide(self, situation: Situation) -> Decided:
        """Decide one step.

        Raises:
            ModelError: a model could not be asked.
        """
        ...

    def candidates(self) -> tuple[Source, ...]:
        """The passages that fit the task best so far, at most three a question, for a run that is cut short."""
        ...
