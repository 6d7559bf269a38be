"""`By`: who made a decision, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["By", "Decider"]

Decider = Literal["host", "model", "embedded"]
"""`host`: the host's model, or a person, through a call; `model`: one that we asked; `embedded`: a deterministic decider, offline."""


@dataclass(frozen=True, slots=True)
class By:
    """Who made a decision, and why in a few words. No rule reads the reason: it is for whoever reads the history."""

    decider: Decider = "host"
    reason: str = ""
