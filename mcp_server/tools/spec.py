"""What registration needs to know of a tool beyond its signature and its words. No tool here deletes anything or reaches out of this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Spec"]


@dataclass(frozen=True, slots=True)
class Spec:
    """One tool.

    Attributes:
        function: what is called; its name is the tool's.
        reads_only: it commits nothing.
        idempotent: calling it again with the same arguments changes nothing more.
    """

    function: Callable[..., Awaitable[Any]]
    reads_only: bool = False
    idempotent: bool = False

    @property
    def name(self) -> str:
        """The tool's name."""
        return getattr(self.function, "__name__", "")
