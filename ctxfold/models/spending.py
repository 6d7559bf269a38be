"""`Spending`: the most that a run's model may cost, and what a person is told of it before it begins."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold import config
from ctxfold.models.named import Address
from ctxfold.models.prices import cost
from ctxfold.models.protocol import Usage

__all__ = ["MAX_COST", "Spending", "spending"]

MAX_COST = 1.0
"""Dollars that a run's model may cost where nobody said more or less."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may spend.

    Attributes:
        model: the name of the model that decides.
        dollars: the most it may cost; None where it costs nothing, or where no price is on file.
        notice: a line for whoever starts the run; empty where there is nothing to say.
    """

    model: str
    dollars: float | None
    notice: str = ""


def spending(named: str | None = None, dollars: float | None = None) -> Spending:
    """Which model decides a run, what it may cost at most, and what is said before it begins.

    Args:
        named: the model that the caller names; None for the one that is set, or that a key brings.
        dollars: the limit that the caller gives; None for the one that is set, else `MAX_COST`.

    Raises:
        InputError: settings that cannot be read.
    """
    setting = config.role_setting("agent", named)
    model = setting.model or config.EXPLORER
    limit = dollars if dollars is not None else config.max_cost()
    if _is_free(model, setting.endpoint):
        return Spending(model, dollars)
    if cost(Usage(1, 1), model) is None:
        said = "" if dollars is not None else f"no price of {model} is on file: no cost limit holds, --max-steps does"
        return Spending(model, dollars, said)
    limit = MAX_COST if limit is None else limit
    brought = (
        f"{setting.source}: {model} decides, for at most ${limit:.2f} (--max-cost); --model explorer costs nothing"
    )
    return Spending(model, limit, brought if setting.by_key else "")


def _is_free(model: str, endpoint: str | None) -> bool:
    """Whether nobody is paid for a model's replies: no model, a script, or a server on this machine."""
    address = Address.of(model)
    if address.provider in (config.EXPLORER, "script"):
        return True
    provider = address.provider or "anthropic"
    return config.endpoint(provider, address.url or endpoint).on_this_machine
