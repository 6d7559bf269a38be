"""What every model adapter keeps to: `Request`, `Reply`, `Model`, and `ask`, which asks again once when a reply does not fit."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ctxfold.errors import InputError, InvalidReply
from ctxfold.prompts import prompt
from ctxfold.text.json import schema_of, strictly
from ctxfold.text.secrets import encodable

Noted = dict[str, str | int | float | bool]
"""What is known of a span at its end; whoever opened it fills it in."""


@contextmanager
def span(name: str, **known: str | int | float | bool) -> Iterator[Noted]:
    """A span round what is done in the block. Where the program has not imported OpenTelemetry, nobody listens and nothing is kept."""
    noted: Noted = {}
    if "opentelemetry.trace" not in sys.modules:
        yield noted
        return
    from opentelemetry import trace

    tracer = trace.get_tracer("ctxfold")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as opened:
        opened.set_attributes(known)
        try:
            yield noted
        except BaseException as error:
            noted["error.type"] = type(error).__name__
            raise
        finally:
            opened.set_attributes(noted)


_THOUGHT = re.compile(r"\A.*</think>|<think>.*\Z", re.DOTALL)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_LONGEST = 64_000


def spoken(text: str, tool: str) -> Mapping[str, Any]:
    """The arguments that a reply in words gives a tool. Raises InputError: it gives none that can be read, with what to write instead."""
    said = _THOUGHT.sub("", text[:_LONGEST])
    blocks = _BLOCK.findall(_FENCED.sub("", said))
    if blocks:
        call = _object(blocks[-1])
        if call is None or call.keys() != {"name", "arguments"} or not isinstance(call["arguments"], dict):
            raise InputError(_how(tool, "the last tool_call block is not one"))
        if call["name"] != tool:
            raise InputError(_how(tool, f"the last tool_call block names no `{tool}`"))
        arguments: Mapping[str, Any] = call["arguments"]
        return arguments
    whole = _object(said.strip())
    if whole is None:
        raise InputError(_how(tool, "the reply was words alone"))
    return whole


def _how(tool: str, fault: str) -> str:
    form = f'<tool_call>{{"name": "{tool}", "arguments": {{...}}}}</tool_call>'
    return f"- {fault}: decide by calling `{tool}`; without tools, write {form} with strict JSON inside"


def _object(text: str) -> dict[str, Any] | None:
    """The one JSON object a text is; None where it is anything else."""
    found = strictly(text)
    return found if isinstance(found, dict) else None


Decision = TypeVar("Decision")

Message = Mapping[str, Any]
"""One message as the view gives it: `role` ("user" or "assistant") and `content` (a text, or a list of text blocks)."""

REPLY_TOKENS = 16_000
"""Room for one reply, thinking included. Above about 21,000 the SDK demands streaming."""

KEPT = 4_000
"""Characters of a refused reply that are kept."""

REASONS = 8
"""How many faults of one reply are named to its model."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, or of several added up, as the server counted them.

    `input` are the prompt's tokens that neither came from the cache nor went into it; `prompt` is all of the prompt.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))

    @property
    def prompt(self) -> int:
        """Every token of the prompt, however it was charged."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Tool:
    """The one tool a model decides through: its name, what it is told about it, and the JSON schema of its input."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @classmethod
    def deciding(cls, decision: type[BaseModel], description: str, name: str = "decide") -> Tool:
        """The tool whose input is `decision`, its schema derived from the type."""
        return cls(name=name, description=description, schema=schema_of(decision))


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Args:
        system: who the model is and what it must do. The same bytes in every request of a run, so that it is cached.
        messages: the view, then the current observation, last.
        tool: what to decide through.
        stable: how many leading content blocks of `messages` the next request will repeat unchanged; they are marked
            for the prompt cache.
        max_tokens: the most tokens a reply may take, thinking included.
    """

    system: str
    messages: Sequence[Message]
    tool: Tool
    stable: int = 0
    max_tokens: int = REPLY_TOKENS

    def refused(self, reason: str) -> Request:
        """The same request with the reason its last reply was refused for, said at the end of the last user message."""
        words = {"type": "text", "text": prompt("decision_refused", tool=self.tool.name, reason=reason)}
        *before, last = self.messages
        if last["role"] != "user":
            return replace(self, messages=(*self.messages, {"role": "user", "content": [words]}))
        return replace(self, messages=(*before, {**last, "content": [*blocks(last), words]}))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Args:
        arguments: the input it gave the tool; empty where it gave none.
        usage: what the reply cost, in tokens.
        model: the model that answered, as its server names it.
        fault: why there are no arguments (it answered in words, was cut off, declined); None where there are some.
        words: what it wrote where it called no tool.
    """

    arguments: Mapping[str, Any]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    fault: str | None = None
    words: str = ""


def reply_of(ended: str | None, inputs: Sequence[object], words: str, usage: Usage, model: str, tool: str) -> Reply:
    """The reply of a server that gave these inputs to the tool's calls, and these words; `ended`: `length` where it was cut off, `refusal`."""
    match ended, inputs:
        case "length", _:
            fault = f"- the reply was cut off at {usage.output} tokens: be shorter"
        case "refusal", _:
            fault = "- the request was declined"
        case _, [dict() as arguments]:
            return Reply(arguments, usage, model)
        case _, []:
            return Reply({}, usage, model, f"- the reply was words alone: decide by calling `{tool}`", words)
        case _, [_]:
            fault = f"- the input of `{tool}` was not a JSON object"
        case _:
            fault = f"- `{tool}` was called more than once"
    return Reply({}, usage, model, fault)


class Model(Protocol):
    """Anything that decides when asked."""

    @property
    def name(self) -> str:
        """The name it was chosen by, as `--model` takes it."""
        ...

    async def decide(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            ModelKeyMissing: no key, or it was refused.
            ModelUnavailable: the server cannot be reached, is overloaded or limits the rate.
        """
        ...


def blocks(message: Message) -> list[dict[str, Any]]:
    """The content of a message as a list of blocks; a bare text is one block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else [dict(block) for block in content]


Words = Callable[[str], Mapping[str, Any]]
"""Reads the arguments out of a reply in words, for models without tools. Raises InputError where it holds none."""


Refused = Callable[[str, str], None]
"""Is told what a model wrote, and what is wrong with it."""


async def settle(
    model: Model,
    request: Request,
    take: Callable[[Mapping[str, Any]], Awaitable[Decision]],
    seen: Callable[[Reply], None],
    words: Words | None = None,
    refused: Refused | None = None,
) -> Decision:
    """Ask for a decision. A reply that does not fit goes back once, with the reason.

    Args:
        model: who is asked.
        request: what is asked.
        take: makes the decision of a reply's arguments, and may apply it; refuses them by raising pydantic's ValidationError or an InputError.
        seen: told of each reply as it arrives, one that does not fit included, so that no usage is lost.
        words: reads a reply that calls no tool; None reads the one form every tool has in words.
        refused: told of each reply that does not fit, and what is wrong with it.

    Raises:
        InvalidReply: the second reply did not fit either.
        ModelError: the model could not be asked.
    """
    asked, last_fault = request, ""
    for _ in range(2):
        with span("chat", **{"gen_ai.request.model": model.name, "gen_ai.tool.name": request.tool.name}) as noted:
            reply = await model.decide(asked)
            noted["gen_ai.usage.input_tokens"] = reply.usage.prompt
            noted["gen_ai.usage.output_tokens"] = reply.usage.output
        seen(reply)
        try:
            return await take(_arguments(reply, request.tool.name, words))
        except ValidationError as error:
            reason, last_fault = _told(error), _fields(error)
        except InputError as error:
            reason, last_fault = str(error), type(error).__name__
        if refused is not None:
            refused(written_of(reply), reason)
        if reply.fault is not None and not reply.words:
            last_fault = reply.fault
        asked = request.refused(reason)
    raise InvalidReply(
        f"{model.name} twice gave a decision that does not fit ({last_fault}): ask again, or name another model"
    )


async def ask(
    model: Model,
    request: Request,
    validate: Callable[[Mapping[str, Any]], Decision],
    seen: Callable[[Reply], None],
    words: Words | None = None,
    refused: Refused | None = None,
) -> Decision:
    """`settle` where the decision is only checked, by `SomeDecision.model_validate` for one, and handed back."""

    async def take(arguments: Mapping[str, Any]) -> Decision:
        return validate(arguments)

    return await settle(model, request, take, seen, words, refused)


def written_of(reply: Reply) -> str:
    """What a model wrote, as a refused reply is kept: its words, else its arguments, else why there are none."""
    said = reply.words or reply.fault or json.dumps(dict(reply.arguments), ensure_ascii=False, default=str)
    return encodable(said[:KEPT])


def _arguments(reply: Reply, tool: str, words: Words | None) -> Mapping[str, Any]:
    """What a reply gives the tool, by calling it or in words."""
    if reply.fault is None:
        return reply.arguments
    if not reply.words:
        raise InputError(reply.fault)
    return spoken(reply.words, tool) if words is None else words(reply.words)


def _told(error: ValidationError) -> str:
    """What is wrong with a reply, said to its own model: each fault with its place."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    within = {each["loc"][:k] for each in found for k in range(1, len(each["loc"]))}
    faults = [each for each in found if each["loc"] not in within]  # an outer one only follows from those inside it
    lines = [f"- {_place(fault['loc'])}: {fault['msg']}" for fault in faults[:REASONS]]
    more = [f"- and {len(faults) - REASONS} more"] if len(faults) > REASONS else []
    return "\n".join(lines + more)


def _fields(error: ValidationError) -> str:
    """The same for a person, without a word the model wrote: the kinds of fault alone."""
    kinds = sorted({fault["type"] for fault in error.errors(include_url=False, include_input=False)})
    return ", ".join(kinds[:REASONS])


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "the whole decision"
