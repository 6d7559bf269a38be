"""`Spending`: the most that a run's model may cost, and what a person is told of it before it begins."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold.config import endpoints, roles
from ctxfold.models.named import Absent, Address, Roles
from ctxfold.models.prices import cost
from ctxfold.models.protocol import Model, Usage

__all__ = ["MAX_COST", "Spending", "spending"]

MAX_COST = 1.0
"""Dollars that a run's model may cost where nobody said more or less."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may spend.

    Attributes:
        dollars: the most it and its helpers may cost; None where they cost nothing, or where no price is on file.
        notice: a line for whoever starts the run; empty where there is nothing to say.
    """

    model: str
    dollars: float | None
    notice: str = ""


def spending(named: str | None = None, dollars: float | None = None, helping: Model | Roles | None = None) -> Spending:
    """Which model decides a run, what it and its helpers may cost at most, and what is said before it begins.

    Args:
        named: the model that the caller names; None for the one that is set, or that a key brings.
        dollars: the limit that the caller gives; None for the one that is set, else `MAX_COST`.
        helping: the models that fold, plan, route and read beside it; None for the embedded deciders.

    Raises:
        InputError: settings that cannot be read.
    """
    setting = roles.role_setting("agent", named)
    model = setting.model or roles.EXPLORER
    limit = dollars if dollars is not None else roles.max_cost()
    beside = [each.name for each in Roles.of(helping).models if not isinstance(each, Absent)]
    helpers = [name for name in beside if not _is_free(name, None)]
    paid = helpers if _is_free(model, setting.endpoint) else [model, *helpers]
    if not paid:
        return Spending(model, dollars)
    unpriced = " and ".join(dict.fromkeys(name for name in paid if cost(Usage(1, 1), name) is None))
    if unpriced:
        said = (
            "" if dollars is not None else f"no price of {unpriced} is on file: no cost limit holds, --max-steps does"
        )
        return Spending(model, dollars, said)
    limit = MAX_COST if limit is None else limit
    if paid == helpers:
        help_of = " and ".join(helpers)
        return Spending(
            model, limit, f"{model} decides with the help of {help_of}, for at most ${limit:.2f} (--max-cost)"
        )
    brought = (
        f"{setting.source}: {model} decides, for at most ${limit:.2f} (--max-cost); --model explorer costs nothing"
    )
    return Spending(model, limit, brought if setting.by_key else "")


def _is_free(model: str, endpoint: str | None) -> bool:
    """Whether nobody is paid for a model's replies: no model, a script, or a server on this machine."""
    address = Address.of(model)
    if address.provider in (roles.EXPLORER, "script"):
        return True
    provider = address.provider or "anthropic"
    return endpoints.endpoint(provider, address.url or endpoint).on_this_machine
