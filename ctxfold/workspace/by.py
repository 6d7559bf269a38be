"""Who made a decision."""

from typing import Literal

__all__ = ["Decider"]

Decider = Literal["host", "model", "embedded"]
"""`host`: the host's model, or a person, through a call; `model`: one that we asked; `embedded`: a deterministic decider, offline."""
