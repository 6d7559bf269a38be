"""Which view of a page is asked for, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Lean:
    """The page pruned to what matters, the task's words first."""


@dataclass(frozen=True, slots=True)
class Part:
    """All of the page, or of the element `ref`, page `page` of it (from 1)."""

    ref: str | None = None
    page: int = 1


@dataclass(frozen=True, slots=True)
class Places:
    """The places that hold `query`."""

    query: str


@dataclass(frozen=True, slots=True)
class Fields:
    """The values the page has for a JSON schema."""

    schema: Mapping[str, Any]


View = Lean | Part | Places | Fields
