"""What the protocol's conformance suite expects any server under test to offer, by the names it calls: added to our real server object, in tests only.

Each does what the suite's own description of the scenario asks for and no more.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import anyio
from mcp.server.mcpserver import AssistantMessage, Context, UserMessage
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

from mcp_server.server import CtxfoldServer

Answer = list[TextContent | ImageContent | AudioContent | EmbeddedResource]
Round = CallToolResult | InputRequiredResult


def graft(server: CtxfoldServer) -> CtxfoldServer:
    """Add every fixture to a server and give it back."""
    hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for tool in TOOLS:
        server.add_tool(
            tool, description=f"Conformance fixture {tool.__name__}.", annotations=hints, structured_output=False
        )
    for prompt in PROMPTS:
        server.add_prompt(Prompt.from_function(prompt, description=f"Conformance fixture {prompt.__name__}."))
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(template_data)
    server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    return server


async def set_level(_ctx: Any, _params: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
"""A picture of one red point, as base64."""
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
"""A sound of no length, as base64."""


def image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, words: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=words))


# Plain results


async def test_simple_text() -> Answer:
    return [text("This is a simple text response for testing.")]


async def test_image_content() -> Answer:
    return [image()]


async def test_audio_content() -> Answer:
    return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


async def test_embedded_resource() -> Answer:
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


async def test_multiple_content_types() -> Answer:
    data = json.dumps({"test": "data", "value": 123})
    return [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", "application/json", data),
    ]


async def test_error_handling() -> Answer:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context[Any]) -> Answer:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(0.05)
    return [text("Progress was reported.")]


# What a server asks of its client, in the older era


async def test_tool_with_logging(ctx: Context[Any]) -> Answer:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", words)
        await anyio.sleep(0.05)
    return [text("Three lines were logged.")]


async def test_sampling(prompt: str, ctx: Context[Any]) -> Answer:
    said = await ctx.session.create_message(
        [SamplingMessage(role="user", content=text(prompt))], max_tokens=100, related_request_id=ctx.request_id
    )
    return [text(f"LLM response: {said.content}")]


async def asked(ctx: Context[Any], message: str, schema: dict[str, Any]) -> Answer:
    answer = await ctx.session.elicit(message, schema, related_request_id=ctx.request_id)
    return [text(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}")]


async def test_elicitation(message: str, ctx: Context[Any]) -> Answer:
    properties = {name: {"type": "string", "description": f"User's {name}"} for name in ("username", "email")}
    return await asked(ctx, message, {"type": "object", "properties": properties, "required": ["username", "email"]})


async def test_elicitation_sep1034_defaults(ctx: Context[Any]) -> Answer:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await asked(ctx, "Fill these in.", {"type": "object", "properties": properties})


async def test_elicitation_sep1330_enums(ctx: Context[Any]) -> Answer:
    plain = {"type": "string", "enum": ["option1", "option2", "option3"]}
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    properties = {
        "untitledSingle": plain,
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": plain},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await asked(ctx, "Choose.", {"type": "object", "properties": properties})


# What a server asks of its client, in the modern era: a result that wants input, and the call again with it


def form(message: str, **properties: str) -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt: str) -> CreateMessageRequest:
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[SamplingMessage(role="user", content=text(prompt))], max_tokens=100)
    )


def given(ctx: Context[Any], *keys: str) -> dict[str, Any] | None:
    """The client's answers, if all of these are among them."""
    answers = ctx.input_responses or {}
    return dict(answers) if all(key in answers for key in keys) else None


def done(words: str) -> CallToolResult:
    return CallToolResult(content=[text(words)])


def wanted(state: str | None, requests: dict[str, InputRequest]) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


async def test_input_required_result_elicitation(ctx: Context[Any]) -> Round:
    answers = given(ctx, "user_name")
    name = getattr(answers["user_name"], "content", None) if answers else None
    return (
        done(f"Hello, {name['name']}!")
        if name and "name" in name
        else wanted(None, {"user_name": form("What is your name?", name="string")})
    )


async def test_input_required_result_sampling(ctx: Context[Any]) -> Round:
    answers = given(ctx, "capital_question")
    return (
        done(str(answers["capital_question"]))
        if answers
        else wanted(None, {"capital_question": sample("What is the capital of France?")})
    )


async def test_input_required_result_list_roots(ctx: Context[Any]) -> Round:
    answers = given(ctx, "client_roots")
    return done(str(answers["client_roots"])) if answers else wanted(None, {"client_roots": ListRootsRequest()})


async def test_input_required_result_request_state(ctx: Context[Any]) -> Round:
    if given(ctx, "confirm") and ctx.request_state == "confirming":
        return done("state-ok")
    return wanted("confirming", {"confirm": form("Please confirm", ok="boolean")})


async def test_input_required_result_tampered_state(ctx: Context[Any]) -> Round:
    return await test_input_required_result_request_state(ctx)


async def test_input_required_result_multiple_inputs(ctx: Context[Any]) -> Round:
    if given(ctx, "user_name", "greeting", "client_roots"):
        return done("All three came.")
    requests: dict[str, InputRequest] = {
        "user_name": form("What is your name?", name="string"),
        "greeting": sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    return wanted("three", requests)


async def test_input_required_result_multi_round(ctx: Context[Any]) -> Round:
    if given(ctx, "step2") and ctx.request_state == "second":
        return done("Both rounds are over.")
    if given(ctx, "step1") and ctx.request_state == "first":
        return wanted("second", {"step2": form("Step 2: What is your favorite color?", color="string")})
    return wanted("first", {"step1": form("Step 1: What is your name?", name="string")})


async def test_input_required_result_capabilities(ctx: Context[Any]) -> Round:
    client = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if client and client.sampling is not None:
        requests["said"] = sample("Say something.")
    if client and client.elicitation is not None:
        requests["told"] = form("Tell something.", it="string")
    return wanted(None, requests) if requests and not ctx.input_responses else done("Nothing more is wanted.")


async def test_missing_capability(ctx: Context[Any]) -> Answer:
    client = ctx.client_capabilities
    if client is None or client.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", needed)
    return [text("The client can sample.")]


async def test_streaming_elicitation(ctx: Context[Any]) -> Round:
    await ctx.report_progress(1, 2)
    return await test_input_required_result_elicitation(ctx)


async def test_logging_tool(ctx: Context[Any]) -> Answer:
    await ctx.log("info", "A line for those who asked for it.")
    return [text("A line was logged.")]


async def test_trigger_tool_change(ctx: Context[Any]) -> Answer:
    await ctx.notify_tools_changed()
    return [text("Listeners were told.")]


async def test_trigger_prompt_change(ctx: Context[Any]) -> Answer:
    await ctx.notify_prompts_changed()
    return [text("Listeners were told.")]


# Resources and prompts


def static_text() -> str:
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    return base64.b64decode(PNG)


def template_data(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


async def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


async def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage | AssistantMessage]:  # noqa: N803 - the suite's name
    resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]


async def test_prompt_with_image() -> list[UserMessage | AssistantMessage]:
    return [UserMessage(image()), UserMessage("Please analyze the image above.")]


async def test_input_required_result_prompt(ctx: Context[Any]) -> str | InputRequiredResult:
    answers = given(ctx, "user_context")
    return (
        f"Use {answers['user_context']}."
        if answers
        else wanted(None, {"user_context": form("What context should the prompt use?", context="string")})
    )


FIXTURES = [value for name, value in globals().items() if name.startswith("test_")]
PROMPTS = [fixture for fixture in FIXTURES if "prompt" in fixture.__name__ and "change" not in fixture.__name__]
TOOLS = [fixture for fixture in FIXTURES if fixture not in PROMPTS]
