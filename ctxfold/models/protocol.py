"""`Model`, `Request`, `Reply`: asks a model for a decision, sends an unfit reply back once; server errors; spans."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ctxfold.config import Endpoint
from ctxfold.decisions.reply import FENCED, THOUGHT
from ctxfold.errors import InputError, InvalidReply, ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.prompts import prompt
from ctxfold.text.json import list_faults, parse_strictly, schema_of
from ctxfold.text.secrets import encodable

REPLY_TOKENS = 16_000
"""Room for one reply, thinking included. Above about 21,000 the SDK demands streaming."""
REPLY_SECONDS = 300.0
"""The longest wait for one reply: long thinking takes minutes."""
_KEPT = 4_000
"""Characters of a refused reply that are kept for whoever mends the prompt."""
_REASONS = 8
"""Faults of one reply that go back to its model: it mends a few at once, and the rest often follow from these."""
_LONGEST = 64_000
"""Characters of a reply in words that are searched for a decision."""

Decision = TypeVar("Decision")
PromptMessage = Mapping[str, Any]
"""One message as the view gives it: `role` ("user" or "assistant") and `content` (a text, or a list of text blocks)."""
Words = Callable[[str], Mapping[str, Any]]
"""Reads the arguments out of a reply in words, for models without tools. Raises InputError: it has none."""
Refuse = Callable[[str, str], None]
"""Receives a model's refused reply, and the reason."""
SpanFacts = dict[str, str | int | float | bool]
"""The attributes of a span at its end. Whoever opened it fills them in."""


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
        """Every token of the prompt, whatever its price."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Tool:
    """The one tool a model decides through: its name, its description for the model, the JSON schema of its input."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @classmethod
    def deciding(cls, decision: type[BaseModel], description: str, name: str = "decide") -> Tool:
        """The tool with input of the type `decision`."""
        return cls(name=name, description=description, schema=schema_of(decision))


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Args:
        system: the model's role and task. The same bytes in every request of a run, so that it is cached.
        messages: the view, then the current observation, last.
        tool: the tool to decide through.
        stable: how many leading content blocks of `messages` the next request will repeat unchanged; they are marked
            for the prompt cache.
        max_tokens: the most tokens a reply may take, thinking included.
    """

    system: str
    messages: Sequence[PromptMessage]
    tool: Tool
    stable: int = 0
    max_tokens: int = REPLY_TOKENS

    def add_refusal(self, reason: str) -> Request:
        """The same request, with the reason why the last reply was refused at the end of the last user message."""
        words = {"type": "text", "text": prompt("decision_refused", tool=self.tool.name, reason=reason)}
        *before, last = self.messages
        if last["role"] != "user":
            return replace(self, messages=(*self.messages, {"role": "user", "content": [words]}))
        return replace(self, messages=(*before, {**last, "content": [*list_blocks(last), words]}))


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Args:
        arguments: the input it gave the tool; empty if it gave none.
        usage: its tokens.
        model: the model that answered, as its server names it.
        fault: why there are no arguments (it answered in words, was cut off, declined); None if there are some.
        words: its text, if it called no tool.
    """

    arguments: Mapping[str, Any]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    fault: str | None = None
    words: str = ""

    @classmethod
    def read(
        cls, ended: str | None, inputs: Sequence[object], words: str, usage: Usage, model: str, tool: str
    ) -> Reply:
        """The reply of a server that gave the tool these inputs, and these words.

        `ended`: `length` if the server cut it off, `refusal` if it declined.
        """
        match ended, inputs:
            case "length", _:
                fault = f"- the reply was cut off at {usage.output} tokens: be shorter"
            case "refusal", _:
                fault = "- the request was declined"
            case _, [dict() as arguments]:
                return cls(arguments, usage, model)
            case _, []:
                return cls({}, usage, model, f"- the reply was words alone: decide by calling `{tool}`", words)
            case _, [_]:
                fault = f"- the input of `{tool}` was not a JSON object"
            case _:
                fault = f"- `{tool}` was called more than once"
        return cls({}, usage, model, fault)

    @property
    def written(self) -> str:
        """The start of the model's text: its words, its arguments, or the fault."""
        text = self.words or self.fault or json.dumps(dict(self.arguments), ensure_ascii=False, default=str)
        return encodable(text[:_KEPT])


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


def list_blocks(message: PromptMessage) -> list[dict[str, Any]]:
    """The content of a message as a list of blocks; a bare text is one block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else [dict(block) for block in content]


async def ask(
    model: Model,
    request: Request,
    take: Callable[[Mapping[str, Any]], Awaitable[Decision] | Decision],
    seen: Callable[[Reply], None],
    words: Words | None = None,
    refuse: Refuse | None = None,
) -> Decision:
    """Ask for a decision. A reply that does not fit goes back once, with the reason.

    Args:
        model: the model to ask.
        request: the question.
        take: makes the decision from a reply's arguments, and may apply it; it may be async. It refuses them by raising
            pydantic's ValidationError or an InputError.
        seen: receives each reply as it arrives, unfit ones too, so that no usage is lost.
        words: reads a reply that calls no tool; None reads the one form that every tool has in words.
        refuse: receives each reply that does not fit, and the reason.

    Raises:
        InvalidReply: the second reply did not fit either.
        ModelError: the model could not be asked.
    """
    asked, fault = request, ""
    for _ in range(2):
        with span("chat", **{"gen_ai.request.model": model.name, "gen_ai.tool.name": request.tool.name}) as facts:
            reply = await model.decide(asked)
            facts["gen_ai.usage.input_tokens"] = reply.usage.prompt
            facts["gen_ai.usage.output_tokens"] = reply.usage.output
        seen(reply)
        try:
            taken = take(_read_arguments(reply, request.tool.name, words))
            return await taken if isinstance(taken, Awaitable) else taken
        except ValidationError as error:
            reason, fault = _explain_faults(error)
        except InputError as error:
            reason, fault = str(error), type(error).__name__
        if refuse is not None:
            refuse(reply.written, reason)
        if reply.fault is not None and not reply.words:
            fault = reply.fault
        asked = request.add_refusal(reason)
    raise InvalidReply(
        f"{model.name} twice gave a decision that does not fit ({fault}): ask again, or name another model"
    )


def _read_arguments(reply: Reply, tool: str, words: Words | None) -> Mapping[str, Any]:
    if reply.fault is None:
        return reply.arguments
    if not reply.words:
        raise InputError(reply.fault)
    return parse_words(reply.words, tool) if words is None else words(reply.words)


def _explain_faults(error: ValidationError) -> tuple[str, str]:
    """The faults of a reply: with their places, for its model; and their kinds alone, without a word of the model's."""
    faults = list_faults(error, "the whole decision")
    more = [f"and {len(faults) - _REASONS} more"] if len(faults) > _REASONS else []
    kinds = sorted({each["type"] for each in error.errors()})
    return "\n".join(f"- {fault}" for fault in [*faults[:_REASONS], *more]), ", ".join(kinds[:_REASONS])


_CALL_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


def parse_words(text: str, tool: str) -> Mapping[str, Any]:
    """The arguments that a reply in words gives a tool: its last `<tool_call>` block, or all of it as one object.

    Raises InputError: it has none, with the form to write.
    """
    text = THOUGHT.sub("", text[:_LONGEST])
    blocks = _CALL_BLOCK.findall(FENCED.sub("", text))
    match parse_strictly(blocks[-1] if blocks else text.strip()):
        case {"name": str(name), "arguments": dict(arguments), **rest} if blocks and not rest:
            if name == tool:
                return arguments
            fault = f"the last tool_call block names no `{tool}`"
        case dict(arguments) if not blocks:
            return arguments
        case _:
            fault = "the last tool_call block is not one" if blocks else "the reply was words alone"
    form = f'<tool_call>{{"name": "{tool}", "arguments": {{...}}}}</tool_call>'
    raise InputError(f"- {fault}: decide by calling `{tool}`; without tools, write {form} with strict JSON inside")


FAULTS: Mapping[str, tuple[type[ModelError], str]] = {
    "key": (ModelKeyMissing, "{url} refused the key in {credential}: set one that is valid"),
    "credit": (ModelUnavailable, "the account at {url} has no credit left: add some, or use another key"),
    "rate": (ModelUnavailable, "{url} limits the rate of this key: try again {when}"),
    "busy": (ModelUnavailable, "{url} is overloaded or failing ({status}): try again {when}"),
    "timeout": (ModelUnavailable, "{url} did not answer in time: try again, or use --model explorer"),
    "unreachable": (ModelUnavailable, "cannot reach {url}: {hint}, or use --model explorer"),
    "api": (ModelUnavailable, "{url} does not speak {api}: {hint}"),
    "model": (ModelUnavailable, "{url} knows no model {model!r}: name another with --model"),
    "size": (ModelError, "the request is too large for {model}: lower --budget"),
    "request": (ModelError, "{url} refused the request ({status}): {hint}"),
    "other": (ModelError, "{model} could not be asked ({hint}): run ctxfold doctor"),
}
"""What can go wrong with a server: the error, and its line with the next move. No line repeats a key or the request."""


_STATUSES = {401: "key", 402: "credit", 403: "key", 404: "api", 405: "api", 413: "size", 429: "rate"}


def find_kind(error: Exception, kinds: Mapping[str, str]) -> str:
    """Return the kind in `FAULTS` of a library's error: by the name of its class in `kinds`, else by its status."""
    for each in type(error).__mro__:
        if each.__name__ in kinds:
            return kinds[each.__name__]
    status = getattr(error, "status_code", None) or 0
    return _STATUSES.get(status) or ("busy" if status >= 500 else "request" if status else "other")


def make_fault(kind: str, endpoint: Endpoint, model: str, seconds: float | None = None, **facts: object) -> ModelError:
    """The error of one kind of `FAULTS`. `seconds`: how long the server asks to wait; None if it does not say."""
    error, line = FAULTS[kind]
    when = "later" if seconds is None else f"in {seconds:g} s"
    credential = endpoint.credential or "no variable"
    return error(line.format(url=endpoint.url, credential=credential, model=model, when=when, **facts))


@contextmanager
def span(name: str, **known: str | int | float | bool) -> Iterator[SpanFacts]:
    """A span of OpenTelemetry around a block. Nothing is kept unless the program imports OpenTelemetry."""
    facts: SpanFacts = {}
    if "opentelemetry.trace" not in sys.modules:
        yield facts
        return
    from opentelemetry import trace

    tracer = trace.get_tracer("ctxfold")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as opened:
        opened.set_attributes(known)
        try:
            yield facts
        except BaseException as error:
            facts["error.type"] = type(error).__name__
            raise
        finally:
            opened.set_attributes(facts)
