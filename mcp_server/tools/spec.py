"""What registration needs to know of a tool beyond its signature and its words. No tool here deletes a session or a record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CORE", "Caps", "Spec"]

Caps = Literal["core", "browser"]
"""What a server offers: the sessions, and live pages."""

CORE: tuple[Caps, ...] = ("core",)


@dataclass(frozen=True, slots=True)
class Spec:
    """One tool.

    Attributes:
        function: what is called; its name is the tool's.
        reads_only: it commits nothing.
        idempotent: calling it again with the same arguments changes nothing more.
        destructive: it may change something outside for good.
        open_world: it reaches out of this machine.
        caps: with which capability it is served.
    """

    function: Callable[..., Awaitable[Any]]
    reads_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    open_world: bool = False
    caps: Caps = "core"

    @property
    def name(self) -> str:
        """The tool's name."""
        return getattr(self.function, "__name__", "")
