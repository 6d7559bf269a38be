"""The settings of a run, as small frozen values."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from browser_agent.agent.result import Hooks, StepTaken
from browser_agent.browser.process import Report
from ctxfold.decisions.fold import FoldSettings
from ctxfold.errors import InputError
from ctxfold.models import Model, Roles

__all__ = [
    "BrowserChoice",
    "Keeping",
    "RunLimits",
    "Watching",
    "Written",
    "counted_as",
    "folding",
    "session_name",
    "session_taken",
]

_SMALL = 8_000


@dataclass(frozen=True, slots=True)
class RunLimits:
    """When a run ends at the latest.

    Args:
        steps: the most steps it takes.
        seconds: the longest it lasts.
        dollars: the most a model may cost; None for no limit.

    Raises:
        InputError: a limit that leaves no room for a run.
    """

    steps: int = 200
    seconds: float = 1800.0
    dollars: float | None = None

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InputError(f"a run takes at least 1 step, not {self.steps}; raise --max-steps")
        if not self.seconds > 0:  # what is no number is not more than 0 either
            raise InputError(f"a run needs time, not {self.seconds:g} s; raise --timeout")
        if self.dollars is not None and not self.dollars > 0:
            raise InputError(f"a cost limit is above 0 dollars, not {self.dollars:g}; raise --max-cost or leave it out")


@dataclass(frozen=True, slots=True)
class BrowserChoice:
    """Which browser a run uses.

    Args:
        headed: show it.
        executable: the one to start; None finds or provides one.
        endpoint: one that is running already, to connect to; it is left running.
        storage_state: cookies and local storage to begin with, as Playwright saves them.
        trace: write Playwright's trace of each run to this file; it holds all that its pages showed.
    """

    headed: bool = False
    executable: Path | None = None
    endpoint: str | None = None
    storage_state: Path | None = None
    trace: Path | None = None


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a run is recorded, and who keeps that record small.

    Args:
        session: its name; None makes one up.
        store: a path, a URL or `:memory:`; None for the configured default.
        resume: go on with a session that is there, from its last commit.
        folder: the model that folds, plans, extracts and routes, whoever decides the steps, its name, or one for each role; None for the embedded deciders.
        screenshots: keep a picture of the page after each step beside the store; `ctxfold report` shows them. Each takes a moment.
        script: write what is done as a Playwright script in Python to this file, which is replaced, or with `resume` added to.
    """

    session: str | None = None
    store: str | None = None
    resume: bool = False
    folder: str | Model | Roles | None = None
    screenshots: bool = False
    script: Path | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The files that one run writes: its Playwright script and its trace, None for none."""

    script: Path | None = None
    trace: Path | None = None

    def numbered(self, number: int) -> Written:
        """Those of one run of several: `again-2.py` for `again.py`."""
        script, trace = (each and each.with_stem(f"{each.stem}-{number}") for each in (self.script, self.trace))
        return Written(script, trace)


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Watching:
    """Who is told what happens while a run goes on, and may hold it back. None may block for long.

    Args:
        step: told of each step when it is done.
        report: told in one line what is done to get a browser, and what else a person may want to know.
        hooks: what a program holds back.
    """

    step: Callable[[StepTaken], None] = _ignore
    report: Report = _ignore
    hooks: Hooks = field(default_factory=Hooks)


def session_name(task: str) -> str:
    """A name for a session nobody named: the task's longest words, in order, and four letters that make it unique.

    Words of letters alone: what has digits or signs in it may be a password.
    """
    words = re.findall(r"(?<![^\s(\"'“])[a-z]+(?![^\s)\"'”.,;:?!])(?![.,;:?!]\S)", task.lower())
    longest = sorted(range(len(words)), key=lambda at: -len(words[at]))[:4]
    return "-".join([*(words[at] for at in sorted(longest)), secrets.token_hex(2)])[-64:].lstrip("-")


def counted_as(model: Model | None) -> str | None:
    """The model whose tokens a budget counts; a script counts none of its own."""
    return None if model is None or model.name.startswith("script") else model.name


def session_taken(session: str) -> InputError:
    """What is wrong with a name that a session has already."""
    return InputError(f"the session {session!r} is there already: add --resume to go on with it, or name another")


def folding(budget: int) -> FoldSettings:
    """How a run folds where its decider does not say: deep and so seldom, as each fold has what stands behind it written to the prompt cache again.

    A page that was left can be opened or recalled. Below 8,000 tokens too little would be left of it.
    """
    if budget < _SMALL:
        return FoldSettings(high=1.0, low=0.80, micro=0.10)
    return FoldSettings(low=0.40, full=0.10, least=0.10, micro=0.05)
