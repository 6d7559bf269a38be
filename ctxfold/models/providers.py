"""A `Model` over pydantic-ai: OpenAI, Google, Ollama, any server of chat completions; errors with the next move.

The server forces the reply into the decision's form: through a tool, or if it refuses that, through a JSON schema; else
the form is asked for in words. The library is imported on first use.
"""

from __future__ import annotations

import json
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from ctxfold.config import Endpoint
from ctxfold.errors import InputError, ModelError, ModelKeyMissing
from ctxfold.models.protocol import REPLY_SECONDS, Reply, Request, Usage, find_kind, list_blocks, make_fault
from ctxfold.prompts import prompt
from ctxfold.text.json import parse_strictly
from ctxfold.text.secrets import encodable

if TYPE_CHECKING:
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as Served
    from pydantic_ai.models import ModelRequestParameters


Provider = Literal["openai", "google", "ollama"]
Form = Literal["tool", "schema", "words"]
"""How a server is asked for a decision."""

_FORMS: tuple[Form, ...] = ("tool", "schema", "words")
"""The forms, each narrower than the one before."""
_MALFORMED = (400, 404, 422, 500, 501)
"""Answers of servers that do not know a form of request; some local servers answer 500."""


class ProviderModel:
    """A model of one provider's API.

    Raises:
        InputError: the libraries for it are not installed.
        ModelKeyMissing: no key is set for a provider's own server.
    """

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

        first: AgentRunError | None = None
        for form in _FORMS[_FORMS.index(self._form) :]:
            try:
                reply = _read_reply(await self._send(request, form), request.tool.name)
            except AgentRunError as error:
                first = first or error
                malformed = isinstance(error, ModelHTTPError) and error.status_code in _MALFORMED
                if not malformed or _refuses_key(error):
                    break
            else:
                self._form = form
                return reply
        assert first is not None, "a form is refused by an error"
        raise _explain(first, self.name, self._endpoint) from first

    async def _send(self, request: Request, form: Form) -> ModelResponse:
        from pydantic_ai.direct import model_request

        async with self._make_model() as served:
            return await model_request(
                served,
                _write_messages(request, form),
                model_settings={"max_tokens": request.max_tokens, "timeout": REPLY_SECONDS},
                model_request_parameters=_write_parameters(request, form),
            )

    def _make_model(self) -> Served:
        """The library's model, for one request, as it belongs to one event loop. It reads no variables of its own."""
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import Provider as Server
        from pydantic_ai.providers import infer_provider_class

        def connect(provider: str) -> Server[Any]:
            make: Any = infer_provider_class(provider)
            served: Server[Any] = make(base_url=self._endpoint.url, api_key=self._endpoint.secret or "no-key")
            return served

        kind = "openai-chat" if self._provider == "openai" else self._provider
        return infer_model(f"{kind}:{self._model}", connect)


def _write_parameters(request: Request, form: Form) -> ModelRequestParameters:
    """The form of the reply."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tool = request.tool
    schema: dict[str, Any] = dict(tool.schema)
    if form == "tool":
        offered = ToolDefinition(
            name=tool.name, parameters_json_schema=schema, description=tool.description, kind="output"
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[offered], allow_text_output=False)
    if form == "schema":
        wanted = OutputObjectDefinition(json_schema=schema, name=tool.name, description=tool.description)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    return ModelRequestParameters()


def _write_messages(request: Request, form: Form) -> list[ModelMessage]:
    """The request's messages, each as one text: small servers take no lists. Neighbours of one role are joined."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    schema = json.dumps(dict(request.tool.schema), ensure_ascii=False)
    form_said = [] if form == "tool" else [prompt("answer_in_json", tool=request.tool.name, schema=schema)]
    system = "\n".join(filter(None, [request.system, *form_said]))
    made: list[ModelMessage] = [ModelRequest([SystemPromptPart(encodable(system))])] if system else []
    for role, messages in groupby(request.messages, itemgetter("role")):
        text = "\n".join(encodable(block["text"]) for message in messages for block in list_blocks(message))
        made.append(ModelResponse([TextPart(text)]) if role == "assistant" else ModelRequest([UserPromptPart(text)]))
    return made


def _read_reply(response: ModelResponse, tool: str) -> Reply:
    """The server's response as a `Reply`, without thinking. Arguments that are not JSON are a fault of the reply."""
    used = response.usage
    cached, written = used.cache_read_tokens, used.cache_write_tokens
    usage = Usage(max(used.input_tokens - cached - written, 0), used.output_tokens, cached, written)
    calls = [call.args for call in response.tool_calls if call.tool_name == tool]
    inputs = [args if isinstance(args, dict) else parse_strictly(args or "") for args in calls]
    ended = "refusal" if response.finish_reason == "content_filter" else response.finish_reason
    return Reply.read(ended, inputs, (response.text or "").strip(), usage, response.model_name or "", tool)


openai = partial(ProviderModel, "openai")
"""A model of OpenAI, or of any server that speaks its chat completions."""
google = partial(ProviderModel, "google")
ollama = partial(ProviderModel, "ollama")


_KINDS = {
    "ModelQuotaExceededError": "credit",
    "ModelRateLimitError": "rate",
    "ModelTimeoutError": "timeout",
    "ModelConnectionError": "unreachable",
    "ModelContextWindowExceededError": "size",
    "ModelNotFoundError": "model",
    "UnexpectedModelBehavior": "api",
}
"""The library's exceptions, each with its kind in `FAULTS`."""


def _explain(error: AgentRunError, model: str, endpoint: Endpoint) -> ModelError:
    status, seconds = getattr(error, "status_code", None) or 0, getattr(error, "retry_after", None)
    kind = "key" if _refuses_key(error) else find_kind(error, _KINDS)
    hints = {
        "unreachable": "check that the server runs",
        "api": "check the endpoint, which mostly ends in /v1",
        "request": f"check that it serves {model}",
        "other": type(error).__name__,
    }
    return make_fault(kind, endpoint, model, seconds, status=status, hint=hints.get(kind), api="this API")


def _refuses_key(error: AgentRunError) -> bool:
    """Whether a server refused the key. Google answers a wrong one with 400 and says so in the details."""
    from pydantic_ai.exceptions import ModelAuthenticationError, ModelHTTPError

    body = error.body if isinstance(error, ModelHTTPError) else None
    return isinstance(error, ModelAuthenticationError) or "API_KEY_INVALID" in str(body)
