"""A `Model` over pydantic-ai: OpenAI, Google, Ollama and any server that speaks OpenAI's chat completions. The library is imported on first use.

A reply is forced into the decision's form by the server: through a tool, or where that is refused through a JSON schema, or else asked for in words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, assert_never

from pydantic_ai import exceptions as failed

from ctxfold.config import Endpoint
from ctxfold.errors import InputError, ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.models.protocol import Message, Reply, Request, Usage, blocks, reply_of
from ctxfold.prompts import prompt
from ctxfold.text.json import strictly
from ctxfold.text.secrets import encodable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as Served
    from pydantic_ai.models import ModelRequestParameters


Provider = Literal["openai", "google", "ollama"]
Form = Literal["tool", "schema", "words"]
"""How a server is asked for a decision."""

REPLY_SECONDS = 300.0
"""The longest wait for one reply."""

_NARROWER: dict[Form, Form | None] = {"tool": "schema", "schema": "words", "words": None}
_MALFORMED = (400, 404, 422, 500, 501)
"""What servers answer that do not know a form of request; 500 is some local servers' word for it."""


class ProviderModel:
    """A model behind one provider's API. Raises InputError: the libraries for it are not installed; ModelKeyMissing: no key is set for a provider's own server."""

    def __init__(self, provider: Provider, name: str, endpoint: Endpoint) -> None:
        self.name: str = f"{provider}:{name}" + (f"@{endpoint.url}" if endpoint.local else "")
        if find_spec("pydantic_ai") is None or find_spec("google.genai" if provider == "google" else "openai") is None:
            raise InputError(f"{self.name} needs more libraries: run `pip install 'ctxfold[models]'`")
        if endpoint.secret is None and not endpoint.local and provider != "ollama":
            raise ModelKeyMissing(f"no key for {self.name}: set {provider.upper()}_API_KEY, or use --model explorer")
        self._provider: Provider = provider
        self._model = name
        self._endpoint = endpoint
        self._form: Form = "tool"

    async def decide(self, request: Request) -> Reply:
        """Send one request, in a narrower form where the server refuses the wider; the form that it takes is kept.

        Raises:
            ModelKeyMissing: the key was refused.
            ModelUnavailable: unreachable, overloaded, rate-limited, or not a server of this API.
            ModelError: the server refused the request itself.
        """
        from pydantic_ai.exceptions import AgentRunError, ModelHTTPError

        form: Form | None = self._form
        first: AgentRunError | None = None
        while form is not None:
            try:
                reply = _reply(await self._send(request, form), request.tool.name)
            except AgentRunError as error:
                first = first or error
                malformed = isinstance(error, ModelHTTPError) and error.status_code in _MALFORMED
                if not malformed or refuses_key(error):
                    break
                form = _NARROWER[form]
            else:
                self._form = form
                return reply
        assert first is not None, "a form is refused by an error"
        raise explained(first, self.name, self._endpoint) from first

    async def _send(self, request: Request, form: Form) -> ModelResponse:
        from pydantic_ai.direct import model_request

        async with self._served() as served:
            return await model_request(
                served,
                _messages(request, form),
                model_settings={"max_tokens": request.max_tokens, "timeout": REPLY_SECONDS},
                model_request_parameters=_parameters(request, form),
            )

    def _served(self) -> Served:
        """The library's model, for one request: what it holds belongs to one event loop. No variable of its own is read."""
        url, secret = self._endpoint.url, self._endpoint.secret or "no-key"
        match self._provider:
            case "openai":
                from pydantic_ai.models.openai import OpenAIChatModel
                from pydantic_ai.providers.openai import OpenAIProvider

                return OpenAIChatModel(self._model, provider=OpenAIProvider(base_url=url, api_key=secret))
            case "google":
                from pydantic_ai.models.google import GoogleModel
                from pydantic_ai.providers.google import GoogleProvider

                return GoogleModel(self._model, provider=GoogleProvider(base_url=url, api_key=secret))
            case "ollama":
                from pydantic_ai.models.ollama import OllamaModel
                from pydantic_ai.providers.ollama import OllamaProvider

                return OllamaModel(self._model, provider=OllamaProvider(base_url=url, api_key=secret))
            case _:
                assert_never(self._provider)


def _parameters(request: Request, form: Form) -> ModelRequestParameters:
    """How the decision is to come back."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tool = request.tool
    match form:
        case "tool":
            offered = ToolDefinition(
                name=tool.name, parameters_json_schema=dict(tool.schema), description=tool.description, kind="output"
            )
            return ModelRequestParameters(output_mode="tool", output_tools=[offered], allow_text_output=False)
        case "schema":
            wanted = OutputObjectDefinition(json_schema=dict(tool.schema), name=tool.name, description=tool.description)
            return ModelRequestParameters(output_mode="native", output_object=wanted)
        case "words":
            return ModelRequestParameters()
        case _:
            assert_never(form)


def _messages(request: Request, form: Form) -> list[ModelMessage]:
    """The request's messages, each as one text: small servers take no lists of blocks. Neighbours of one role are joined."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    schema = json.dumps(dict(request.tool.schema), ensure_ascii=False)
    form_said = [] if form == "tool" else [prompt("answer_in_json", tool=request.tool.name, schema=schema)]
    system = "\n".join(filter(None, [request.system, *form_said]))
    made: list[ModelMessage] = [ModelRequest([SystemPromptPart(encodable(system))])] if system else []
    for role, text in _joined(request.messages):
        if role == "assistant":
            made.append(ModelResponse([TextPart(text)]))
        else:
            made.append(ModelRequest([UserPromptPart(text)]))
    return made


def _joined(messages: Sequence[Message]) -> list[tuple[str, str]]:
    joined: list[tuple[str, str]] = []
    for message in messages:
        text = encodable("\n".join(block["text"] for block in blocks(message)))
        if joined and joined[-1][0] == message["role"]:
            joined[-1] = (message["role"], f"{joined[-1][1]}\n{text}")
        else:
            joined.append((message["role"], text))
    return joined


def _reply(response: ModelResponse, tool: str) -> Reply:
    """What the server sent as a `Reply`. Thinking is left behind."""
    used = response.usage
    cached, written = used.cache_read_tokens, used.cache_write_tokens
    usage = Usage(max(used.input_tokens - cached - written, 0), used.output_tokens, cached, written)
    calls = [call.args for call in response.tool_calls if call.tool_name == tool]
    inputs = [args if isinstance(args, dict) else strictly(args or "") for args in calls]
    ended = "refusal" if response.finish_reason == "content_filter" else response.finish_reason
    return reply_of(ended, inputs, (response.text or "").strip(), usage, response.model_name or "", tool)


openai = partial(ProviderModel, "openai")
"""A model of OpenAI, or of any server that speaks its chat completions."""
google = partial(ProviderModel, "google")
ollama = partial(ProviderModel, "ollama")


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
