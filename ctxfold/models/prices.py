"""What a model's reply cost in dollars: Claude models by the list in `prices.json`, those of other providers by `genai-prices` where it is installed."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from ctxfold.config.endpoints import LOOPBACK
from ctxfold.models.protocol import Usage

__all__ = ["add_prices", "cost"]

DATED = re.compile(r"-\d{8}$")


def cost(usage: Usage, model: str) -> float | None:
    """The price of one request in US dollars.

    Args:
        usage: the tokens of that request alone: some models charge a long prompt at another rate.
        model: the model's name as `--model` takes it, with or without a date at its end.

    Returns:
        Dollars; None where no price of that model is on file.
    """
    named, at, url = model.partition("@")
    if at:
        return 0.0 if (urlsplit(url).hostname or "") in LOOPBACK else None
    provider, colon, name = named.partition(":")
    prices = _prices().get(DATED.sub("", name if provider == "anthropic" else named))
    if prices is None:
        return _elsewhere(usage, provider, name) if colon else None
    long_prompt = prices.get("long_prompt")
    rate = long_prompt if long_prompt and usage.prompt > long_prompt["above"] else prices
    kinds = ("input", "output", "cache_read", "cache_write")
    dollars: float = sum(getattr(usage, kind) * rate[kind] for kind in kinds) / 1_000_000
    return dollars


def add_prices(*prices: float | None) -> float | None:
    """The sum; None where a price is not known."""
    known = [price for price in prices if price is not None]
    return sum(known, 0.0) if len(known) == len(prices) else None


def _elsewhere(usage: Usage, provider: str, model: str) -> float | None:
    """The price at another provider; Ollama's models run on the user's own machine."""
    if provider == "ollama":
        return 0.0
    if find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    tokens = Priced(
        input_tokens=usage.prompt,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    try:
        return float(calc_price(tokens, model, provider_id=provider).total_price)
    except LookupError:
        return None


@cache
def _prices() -> dict[str, dict[str, Any]]:
    text = files("ctxfold.models").joinpath("prices.json").read_text(encoding="utf-8")
    prices: dict[str, dict[str, Any]] = json.loads(text)["models"]
    return prices
