"""What a window is opened with: its folders, the budget of an observation, secrets, time limits, and the gate before what is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from browser_agent.browser.gate import Gate
from browser_agent.browser.limits import LIMITS, Limits
from browser_agent.network.secrets import Secrets
from browser_agent.observation.values import BUDGET

__all__ = ["Folders", "WindowSettings"]


@dataclass(frozen=True, slots=True)
class Folders:
    """Where downloads go, and below which folders files may be uploaded from (none, if not said)."""

    downloads: Path
    uploads: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """The folders of a window, the most one observation costs (o200k tokens), the secrets that may be typed, and the time limits it begins with.

    `keeps` says that whoever reads the observations keeps earlier ones beside them: then what those showed is not shown again. A `gate` holds back
    what pages send with effects; None lets everything go that may leave the browser.
    """

    folders: Folders
    budget: int = BUDGET
    secrets: Secrets = field(default_factory=Secrets)
    limits: Limits = LIMITS
    keeps: bool = False
    gate: Gate | None = None
