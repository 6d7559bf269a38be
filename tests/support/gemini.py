"""A server on loopback that speaks Gemini's `generateContent`: strict about roles, pairing and fields, told what to answer.

It refuses, as the API does: contents that do not begin with the user or end with the model, a call without as many results right behind it, a result of no
call, an empty part, a function that is not declared, a name or a field it does not know, JSON asked for beside functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from ctxfold.tokens import count
from tests.support.chat import Said, Unwilling
from tests.support.loopback import Loopback, Sent

__all__ = ["GeminiServer", "check_gemini"]

NAME = r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True)


class FunctionCall(_Part):
    name: Annotated[str, Field(pattern=NAME)]
    args: dict[str, Any] = {}
    id: str | None = None


class FunctionResponse(_Part):
    name: Annotated[str, Field(pattern=NAME)]
    response: dict[str, Any]
    id: str | None = None


class Part(_Part):
    text: Annotated[str, Field(min_length=1)] | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.text, self.function_call, self.function_response)) != 1:
            raise ValueError("a part holds exactly one kind of data")
        return self


class Content(_Part):
    role: Literal["user", "model"]
    parts: Annotated[list[Part], Field(min_length=1)]


class Instruction(_Part):
    role: Literal["user", "system"] | None = None
    parts: Annotated[list[Part], Field(min_length=1)]


class Declaration(_Part):
    name: Annotated[str, Field(pattern=NAME)]
    description: str
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class Functions(_Part):
    function_declarations: Annotated[list[Declaration], Field(min_length=1)]


class Calling(_Part):
    mode: Literal["AUTO", "ANY", "NONE", "VALIDATED"]
    allowed_function_names: list[str] | None = None


class ToolConfig(_Part):
    function_calling_config: Calling


class Generation(_Part):
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    response_mime_type: Literal["text/plain", "application/json"] | None = None
    response_json_schema: dict[str, Any] | None = None
    response_schema: dict[str, Any] | None = None
    response_modalities: list[Literal["TEXT"]] | None = None


class GeminiRequest(_Part):
    contents: Annotated[list[Content], Field(min_length=1)]
    system_instruction: Instruction | None = None
    tools: list[Functions] | None = None
    tool_config: ToolConfig | None = None
    generation_config: Generation | None = None


class Breach(Exception):
    """A request that the API answers with 400."""


def check_gemini(body: object) -> GeminiRequest:
    """A request held against the API's rules. Raises Breach."""
    try:
        request = GeminiRequest.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Breach(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    _check_turns(request.contents)
    declared = {each.name for tool in request.tools or () for each in tool.function_declarations}
    calling = request.tool_config.function_calling_config if request.tool_config else None
    if calling and calling.mode == "ANY" and not declared:
        raise Breach("function calling mode ANY needs function declarations")
    if calling and not declared.issuperset(calling.allowed_function_names or ()):
        raise Breach("allowed_function_names holds a function that is not declared")
    if declared and request.generation_config and request.generation_config.response_mime_type == "application/json":
        raise Breach("Function calling with a response mime type: 'application/json' is unsupported")
    return request


def _check_turns(contents: list[Content]) -> None:
    """Hold the turns against each other: who begins and ends, and that each turn of calls is answered by a turn of as many results."""
    calls: list[str] = []
    for at, turn in enumerate(contents):
        called = [part.function_call.name for part in turn.parts if part.function_call]
        answered = [part.function_response.name for part in turn.parts if part.function_response]
        if called and (turn.role != "model" or at == 0):
            raise Breach("a function call turn comes immediately after a user turn or after a function response turn")
        if (calls or answered) and (turn.role != "user" or sorted(answered) != sorted(calls)):
            raise Breach("the number of function response parts must equal that of the function call turn before it")
        calls = called
    if contents[0].role != "user" or contents[-1].role != "user":
        raise Breach("requests begin and end with a user role")


class GeminiServer(Loopback):
    """The server, running while the `with` block does. `bodies` are the requests it took, `refused` those it answered with 400.

    Args:
        answer: what to answer a request, given its body. Of `Said`, `finish` is the API's word for why it stopped.
        key: the one key that is let in; None lets any in.
    """

    def __init__(self, answer: Callable[[dict[str, Any]], Said | Unwilling], key: str | None = None) -> None:
        super().__init__()
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self._answer, self._key = answer, key

    @property
    def url(self) -> str:
        """The base URL, as ``GOOGLE_BASE_URL`` takes it."""
        return self.origin

    def serve(self, path: str, headers: Mapping[str, str], raw: bytes) -> Sent:
        """What to send for a POST."""
        status, answer = self._answered(path, headers.get("x-goog-api-key", ""), raw)
        return status, {"content-type": "application/json"}, json.dumps(answer).encode()

    def _answered(self, path: str, key: str, raw: bytes) -> tuple[int, dict[str, Any]]:
        folder, _, rest = path.removeprefix("/v1beta/").partition("/")
        model, _, method = rest.partition(":")
        if (folder, method) != ("models", "generateContent"):
            return 404, _failure(404, "Requested entity was not found.", "NOT_FOUND")
        if self._key is not None and key != self._key:
            failed = _failure(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")
            failed["error"]["details"] = [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            ]
            return 400, failed
        body = json.loads(raw)
        try:
            check_gemini(body)
        except Breach as breach:
            self.refused.append(str(breach))
            return 400, _failure(400, str(breach), "INVALID_ARGUMENT")
        self.bodies.append(body)
        said = self._answer(body)
        if isinstance(said, Unwilling):
            return said.status, _failure(said.status, said.message, said.code or "INVALID_ARGUMENT")
        return 200, _generated(said, body, model, len(self.bodies))


def _failure(code: int, message: str, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


def _generated(said: Said, body: dict[str, Any], model: str, number: int) -> dict[str, Any]:
    words = [{"text": said.words}] if said.words else []
    parts = words + [{"functionCall": {"name": name, "args": given}} for name, given in said.calls]
    spent, wrote = count(json.dumps(body)), count(json.dumps(parts))
    content = {"content": {"role": "model", "parts": parts}} if parts else {}
    return {
        "candidates": [{**content, "finishReason": said.finish or "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": spent,
            "candidatesTokenCount": wrote,
            "totalTokenCount": spent + wrote,
        },
        "modelVersion": model,
        "responseId": f"gen-{number:04}",
    }
