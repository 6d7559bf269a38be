"""When a cover is consolidated, and how far: `FoldSettings`, and those used where a caller gives none."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

from ctxfold.errors import InputError

__all__ = ["SETTINGS", "FoldSettings"]

_SMALL = 8_000
"""o200k tokens of a budget below which there is no room to spare, and no prefix worth a cache."""


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """When the cover is consolidated, and how far. A share is one of the budget.

    Attributes:
        high: the high-water mark, from which the cover is consolidated.
        low: the low-water mark, down to which it is worked.
        full: share that the newest steps fill in full after it; more where the session edits documents that stand in them, up to what `least` and the user's words leave.
        latest: the most that counts of the newest step: what is above it is bounded in the view.
        least: share that the older steps get at least.
        micro: share of a step that folding it alone leaves.
        front: the most that a summary in front of the older steps takes.
    """

    high: float = 0.90
    low: float = 0.60
    full: float = 0.20
    latest: float = 0.60
    least: float = 0.20
    micro: float = 0.40
    front: float = 0.30

    def __post_init__(self) -> None:
        shares = all(0 < share <= 1 for share in astuple(self))
        if not shares or round(self.full + self.least, 9) > self.low or self.low >= self.high:
            raise InputError(
                "fold settings are shares above 0 up to 1, full and least together at most low, and low below high; give such"
            )

    def of(self, budget: int) -> FoldSettings:
        """The settings at a budget: those a caller gives stand, the usual ones are higher where there is no room to spare and no prefix worth a cache."""
        return replace(self, high=1.0, low=0.80) if budget < _SMALL and self == SETTINGS else self


SETTINGS = FoldSettings()
"""The water marks and shares where a caller gives none."""
