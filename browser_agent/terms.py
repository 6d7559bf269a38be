"""What a window is opened with, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from browser_agent.guard.secrets import Secrets
from browser_agent.observation.observe import BUDGET


@dataclass(frozen=True, slots=True)
class Folders:
    """Where downloads go, and below which folders files may be uploaded from (none, if not said)."""

    downloads: Path
    uploads: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """The folders of a window, the most one observation costs (o200k tokens), and the secrets that may be typed."""

    folders: Folders
    budget: int = BUDGET
    secrets: Secrets = field(default_factory=Secrets)
