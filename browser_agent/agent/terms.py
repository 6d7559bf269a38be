"""The frozen values of a run: what it is held to, where it stands between two steps, and why it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from browser_agent.agent.loop_guard import LoopGuard
from browser_agent.agent.result import Status, Usage
from browser_agent.agent.script import ScriptFile
from browser_agent.agent.settings import RunLimits, Watching
from browser_agent.deciders.answer_schema import Shape
from browser_agent.deciders.sources import Source
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation

__all__ = ["Ending", "Standing", "Terms"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands between two steps.

    Attributes:
        observation: the page as it stands; None before the first.
        ref: its snapshot in the log.
        renamed: of a page that was opened again, the ref that stands for each one the decider was shown; empty otherwise.
        guard: what was tried.
        failed: why the last step was not done; empty where it was.
        lost: whether that is because the browser or the page was lost.
        notice: what closes the next context, beside the step's number.
        repeated: whether the last decision was refused because it repeats what was tried.
        aside: what the next step's note says besides.
        before: steps of this task that an earlier process took.
        usage: what the run cost so far.
    """

    observation: Observation | None = None
    ref: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    guard: LoopGuard = field(default_factory=LoopGuard)
    failed: str = ""
    lost: bool = False
    notice: str = ""
    repeated: bool = False
    aside: tuple[str, ...] = ()
    before: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run is held to, and who is told of it: `budget` is in tokens of a context, and without a `shape` the answer is in words."""

    limits: RunLimits
    secrets: Secrets
    watching: Watching
    budget: int
    shape: Shape | None = None
    screenshots: bool = False
    script: ScriptFile | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run is over."""

    status: Status
    reason: str
    answer: str | None = None
    sources: tuple[Source, ...] = ()
    candidates: tuple[Source, ...] = ()
    data: object = None
    by: str = ""
