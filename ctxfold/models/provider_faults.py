"""Turns pydantic-ai's failures into errors of ours, one line each with the next move. It repeats neither a key nor the request."""

from __future__ import annotations

from pydantic_ai import exceptions as failed

from ctxfold.config.endpoints import Endpoint
from ctxfold.errors import ModelError, ModelKeyMissing, ModelUnavailable

__all__ = ["explained", "refuses_key"]


def explained(error: failed.AgentRunError, model: str, endpoint: Endpoint) -> ModelError:
    """The error of ours that says what this one of the library's means."""
    match error:
        case _ if refuses_key(error):
            return ModelKeyMissing(
                f"{endpoint.url} refused the key in {endpoint.credential or 'no variable'}: set one that is valid"
            )
        case failed.ModelQuotaExceededError():
            return ModelUnavailable(f"the account at {endpoint.url} has no credit left: add some, or use another key")
        case failed.ModelRateLimitError():
            return ModelUnavailable(f"{endpoint.url} limits the rate of this key: try again {_later(error)}")
        case failed.ModelTimeoutError():
            return ModelUnavailable(f"{endpoint.url} did not answer in time: try again, or use --model explorer")
        case failed.ModelConnectionError():
            return ModelUnavailable(f"cannot reach {endpoint.url}: check that the server runs, or use --model explorer")
        case failed.ModelContextWindowExceededError():
            return ModelError(f"the request is too large for {model}: lower --budget")
        case failed.ModelNotFoundError():
            return ModelUnavailable(f"{endpoint.url} knows no model {model!r}: name another with --model")
        case failed.ModelHTTPError(status_code=404 | 405) | failed.UnexpectedModelBehavior():
            return ModelUnavailable(
                f"{endpoint.url} does not speak this API: check the endpoint, which mostly ends in /v1"
            )
        case failed.ModelHTTPError() if error.status_code >= 500:
            return ModelUnavailable(f"{endpoint.url} is overloaded or failing ({error.status_code}): try again later")
        case failed.ModelHTTPError():
            return ModelError(f"{endpoint.url} refused the request ({error.status_code}): check that it serves {model}")
        case _:
            return ModelError(f"{model} could not be asked ({type(error).__name__}): run ctxfold doctor")


def refuses_key(error: failed.AgentRunError) -> bool:
    """Whether a server refused the key. Google answers a wrong one with 400 and says so in the details."""
    match error:
        case failed.ModelAuthenticationError():
            return True
        case failed.ModelHTTPError(body={"error": {"details": [*details]}}):
            return any(isinstance(each, dict) and each.get("reason") == "API_KEY_INVALID" for each in details)
        case _:
            return False


def _later(error: failed.ModelAPIError) -> str:
    return "later" if error.retry_after is None else f"in {error.retry_after:g} s"
