"""The settings of a run: limits, choice of browser, session and files to write, watchers; the session's name and
folding settings.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from browser_agent.agent.result import Hooks, StepTaken
from browser_agent.browser.process import Report
from ctxfold.config import SETTINGS, FoldSettings, fold_settings
from ctxfold.errors import InputError
from ctxfold.models import Model, Roles


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a run.

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
        if not self.seconds > 0:  # NaN is not above 0 either
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
    """The session that a run is recorded in, and the files it writes.

    Args:
        session: its name; None makes one up.
        store: a path, a URL or `:memory:`; None for the configured default.
        resume: continue an existing session from its last commit.
        folder: the model that folds, plans, extracts and routes: a name, a model, or one for each role; None for the
            embedded deciders.
        screenshots: keep a picture of the page after each step for `ctxfold report`.
        script: write the run as a Playwright script to this file, which is replaced, or with `resume` appended to.
    """

    session: str | None = None
    store: str | None = None
    resume: bool = False
    folder: str | Model | Roles | None = None
    screenshots: bool = False
    script: Path | None = None


@dataclass(frozen=True, slots=True)
class Watching:
    """Functions that are called during a run; none may block for long.

    Args:
        step: called with each step after it.
        report: called with a line on starting the browser, or another notice for a person.
        hooks: functions that may refuse decisions and actions.
    """

    step: Callable[[StepTaken], None] = lambda _: None
    report: Report = lambda _: None
    hooks: Hooks = field(default_factory=Hooks)


def make_session_name(task: str) -> str:
    """Make a session name of the task's four longest words, in order, and four random letters.

    Only words of letters count: others may be passwords.
    """
    words = re.findall(r"(?<![^\s(\"'“])[a-z]+(?![^\s)\"'”.,;:?!])(?![.,;:?!]\S)", task.lower())
    longest = sorted(range(len(words)), key=lambda at: -len(words[at]))[:4]
    return "-".join([*(words[at] for at in sorted(longest)), secrets.token_hex(2)])[-64:].lstrip("-")


def name_counted_model(model: Model | None) -> str | None:
    """Return the name of the model that counts the tokens of a budget; None for a script."""
    return None if model is None or model.name.startswith("script") else model.name


def choose_fold_settings(budget: int) -> FoldSettings:
    """Return how the embedded folder folds a run: deep and seldom, because each fold rewrites the prompt cache after
    it.

    A page that was left can be opened or recalled. At a small budget deep folds would leave too little of it.
    """
    wanted = fold_settings()
    if wanted != SETTINGS:
        return wanted
    small = SETTINGS.of(budget)
    return small if small != SETTINGS else FoldSettings(to=0.40)
