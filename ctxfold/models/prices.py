"""What a model's reply cost in dollars, from the list in `prices.json`."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from ctxfold.models.protocol import Usage

__all__ = ["cost"]

DATED = re.compile(r"-\d{8}$")


def cost(usage: Usage, model: str) -> float | None:
    """The price of one request in US dollars.

    Args:
        usage: the tokens of that request alone: some models charge a long prompt at another rate.
        model: the model's name, with or without a date at its end.

    Returns:
        Dollars; None where no price of that model is on file.
    """
    prices = _prices().get(DATED.sub("", model))
    if prices is None:
        return None
    long_prompt = prices.get("long_prompt")
    rate = long_prompt if long_prompt and usage.prompt > long_prompt["above"] else prices
    kinds = ("input", "output", "cache_read", "cache_write")
    dollars: float = sum(getattr(usage, kind) * rate[kind] for kind in kinds) / 1_000_000
    return dollars


@cache
def _prices() -> dict[str, dict[str, Any]]:
    text = files("ctxfold.models").joinpath("prices.json").read_text(encoding="utf-8")
    prices: dict[str, dict[str, Any]] = json.loads(text)["models"]
    return prices
