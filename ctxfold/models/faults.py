"""Turns failures of a Messages API server into errors of ours, one line each with the next move.

It knows the SDK's exceptions, and repeats neither a key nor the request.
"""

from __future__ import annotations

import anthropic

from ctxfold.config import Endpoint
from ctxfold.errors import ModelError, ModelKeyMissing, ModelUnavailable

VERDICT = 160
"""How many characters of a server's verdict are repeated."""


def pause(error: Exception, patience: float) -> bool | float:
    """Whether to send a request again after this error, and after how many seconds where the server says so. No wait above `patience` is worth it."""
    match error:
        case anthropic.APITimeoutError():
            return False
        case anthropic.APIConnectionError():
            return True
        case anthropic.APIStatusError(status_code=status) if status in (408, 409, 429) or status >= 500:
            wait = _retry_after(error)
            return True if wait is None else wait <= patience and wait
        case _:
            return False


def explained(error: anthropic.AnthropicError, model: str, endpoint: Endpoint) -> ModelError:
    """The error of ours that says what this one of the SDK's means."""
    match error:
        case anthropic.APITimeoutError():
            return ModelUnavailable(f"{endpoint.url} did not answer in time: try again, or use --model explorer")
        case anthropic.APIConnectionError():
            hint = "check ANTHROPIC_BASE_URL and that the server runs" if endpoint.local else "check the network"
            return ModelUnavailable(f"cannot reach {endpoint.url}: {hint}, or use --model explorer")
        case anthropic.APIResponseValidationError():
            return another_server(endpoint)
        case anthropic.APIStatusError():
            return _refusal(error, model, endpoint)
        case _:
            return ModelError(f"{model} could not be asked ({type(error).__name__}): run ctxfold doctor")


def another_server(endpoint: Endpoint) -> ModelUnavailable:
    """The error for a server that answers, but not as the Messages API does."""
    return ModelUnavailable(f"{endpoint.url} does not speak the Messages API: check ANTHROPIC_BASE_URL")


def _refusal(error: anthropic.APIStatusError, model: str, endpoint: Endpoint) -> ModelError:
    match error.status_code:
        case 401 | 403:
            return ModelKeyMissing(f"{endpoint.url} refused the key in {endpoint.credential}: set one that is valid")
        case 402:
            return ModelUnavailable(f"the account at {endpoint.url} has no credit left: add some, or use another key")
        case 404 if error.type == "not_found_error":
            return ModelUnavailable(f"{endpoint.url} knows no model {model!r}: name another with --model")
        case 404 | 405:
            return another_server(endpoint)
        case 429:
            return ModelUnavailable(f"{endpoint.url} limits the rate of this key: try again {_later(error)}")
        case 413:
            return ModelError(f"the request is too large for {model}: lower --budget")
        case status if status >= 500:
            return ModelUnavailable(f"{endpoint.url} is overloaded or failing ({status}): try again {_later(error)}")
        case status:
            return ModelError(f"{endpoint.url} refused the request ({status}): {_verdict(error)}")


def _later(error: anthropic.APIStatusError) -> str:
    wait = _retry_after(error)
    return "later" if wait is None else f"in {wait:g} s"


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    """Seconds the server asks to wait; None where it names none. A date instead of seconds counts as none."""
    try:
        return max(float(error.response.headers["retry-after"]), 0.0)
    except (KeyError, ValueError):
        return None


def _verdict(error: anthropic.APIStatusError) -> str:
    """The server's own words, on one line and not at length."""
    words = " ".join((error.api_message or error.type or "no reason given").split())
    return words if len(words) <= VERDICT else words[: VERDICT - 1] + "…"
