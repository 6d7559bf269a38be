"""Counts what bounding saves, tool by tool."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctxfold.text.words import counted

__all__ = ["Meter"]


@dataclass(slots=True)
class _Row:
    results: int = 0
    raw: int = 0
    shown: int = 0
    whole: int = 0


@dataclass(slots=True)
class Meter:
    """Tokens of results as they came and as they were passed on, or would have been."""

    rows: dict[str, _Row] = field(default_factory=dict)

    def add(self, tool: str, raw: int, shown: int, whole: bool) -> None:
        """Count one result.

        Args:
            tool: whose.
            raw: o200k tokens as it came.
            shown: o200k tokens as it is passed on.
            whole: whether it is long and yet passes as it is, because its schema permits nothing shorter.
        """
        row = self.rows.setdefault(tool, _Row())
        row.results += 1
        row.raw += raw
        row.shown += shown
        row.whole += whole

    def tell(self) -> str:
        """A line for each tool, and one for all."""
        named = [*sorted(self.rows.items(), key=lambda each: -each[1].raw), ("all", self._sum())]
        return "\n".join(
            f"{name}: {counted(row.results, 'result')}, {row.raw} tokens, {row.shown} bounded"
            + (f" ({100 * row.shown / row.raw:.1f} %)" if row.raw else "")
            + (f", {counted(row.whole, 'long one')} whole" if row.whole else "")
            for name, row in named
        )

    def _sum(self) -> _Row:
        every = self.rows.values()
        return _Row(*(sum(getattr(row, name) for row in every) for name in ("results", "raw", "shown", "whole")))
