"""The model that folds, plans and extracts, as one setting whoever drives: named, held to a time, or not to be had and saying so. It asks nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from ctxfold.errors import ModelError, ModelUnavailable
from ctxfold.models.protocol import Model, Reply, Request

__all__ = ["Absent", "InTime"]


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that cannot be had now: each question is answered with the reason, so that whoever asks says it and does without.

    Attributes:
        name: how it is called.
        reason: why it cannot be asked.
    """

    name: str
    reason: ModelError

    async def decide(self, request: Request) -> Reply:  # noqa: ARG002 - a model takes one
        """Say why not.

        Raises:
            ModelError: always.
        """
        raise self.reason


@dataclass(frozen=True, slots=True)
class InTime:
    """A model whose replies must all be there within a time that begins with the first question: for work that somebody waits for.

    Args:
        model: who is asked.
        seconds: the time for all of its replies together.
    """

    model: Model
    seconds: float
    _until: list[float] = field(default_factory=list, init=False, repr=False)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def decide(self, request: Request) -> Reply:
        """Ask it, for as long as there is time.

        Raises:
            ModelUnavailable: the time is over.
            ModelError: whatever it raises.
        """
        if not self._until:
            self._until.append(anyio.current_time() + self.seconds)
        with anyio.move_on_at(self._until[0]):
            return await self.model.decide(request)
        raise ModelUnavailable(f"{self.name} did not answer within {self.seconds:g} s")
