"""Asks a model for each step of a run, checks its reply and its answer's schema, and turns to the explorer after two
bad replies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for
from pydantic import BaseModel, TypeAdapter
from referencing import Registry
from referencing.exceptions import Unresolvable

from browser_agent.actions import Answer, ExtractValues, GiveUp, Ref, WaitFor
from browser_agent.deciders import DecidedStep, Decider, Decision, Evidence, Situation, Source
from browser_agent.network.secrets import Secrets
from browser_agent.prompts import PROMPTS
from ctxfold.decisions.reply import parse
from ctxfold.errors import InputError, InvalidReply
from ctxfold.models import Model, Reply, Request, Tool, Usage, ask
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt

Schema = Mapping[str, Any] | type[BaseModel]
"""A JSON schema as a mapping, or a pydantic model."""

_MOST, _LONGEST = 6, 120
"""Faults of a value that are named, and characters of each."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON schema that was checked. Nothing that it refers to is fetched."""

    schema: Mapping[str, Any]

    @classmethod
    def of(cls, given: Schema) -> Shape:
        """Return the shape of a schema. Raises InputError: not a JSON schema."""
        if isinstance(given, type) and issubclass(given, BaseModel):
            return cls(given.model_json_schema())
        if not isinstance(given, Mapping):
            raise InputError("a schema is a JSON schema as a mapping, or a pydantic model; give one of these")
        schema = dict(given)
        try:
            validator_for(schema, default=Draft202012Validator).check_schema(schema)
        except SchemaError as error:
            raise InputError(f"that is not a JSON schema: {_describe_fault(error, 'its root')}") from error
        return cls(schema)

    def faults(self, value: object) -> tuple[str, ...]:
        """Return the faults of a value, each with its place; empty if it has the shape.

        Raises:
            InputError: the schema refers to something that is not in it.
        """
        validator = validator_for(self.schema, default=Draft202012Validator)(
            self.schema, registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        try:
            found = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
        except Unresolvable as error:
            raise InputError("the schema refers to something that is not in it; put it under $defs") from error
        faults = tuple(dict.fromkeys(_describe_fault(error, "the answer") for error in found))
        return faults if len(faults) <= _MOST else (*faults[:_MOST], f"and {len(faults) - _MOST} more")

    def __str__(self) -> str:
        return json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))


def _describe_fault(error: ValidationError | SchemaError, root: str) -> str:
    """Return the place of a fault, `root` for the whole value, and the fault in words."""
    where, message = ".".join(map(str, error.absolute_path)) or root, " ".join(error.message.split())
    return f"{where}: {message if len(message) <= _LONGEST else f'{message[: _LONGEST - 1]}…'}"


_REF = TypeAdapter(Ref).json_schema()["description"]

_CHECKED = ("min", "max", "exclusive", "pattern", "examples", "additionalProperties", "discriminator")
"""The first letters of keys that validation checks anyway; its message names the fault."""


def decide_tool() -> Tool:
    """Return the tool `decide`: a decision by its JSON schema."""
    tool = Tool.deciding(Decision, prompt("decide", PROMPTS))
    given = {key: value for key, value in tool.schema.items() if key not in ("$defs", "description")}
    return Tool(tool.name, tool.description, {"type": "object", **_trim_schema(given, tool.schema["$defs"])})


def _trim_schema(schema: Any, named: Mapping[str, Any]) -> Any:
    """Return a schema with its definitions inline, without checked bounds, and without null for a value left out."""
    match schema:
        case list():
            return [_trim_schema(part, named) for part in schema]
        case {"$ref": str() as where, **rest}:
            return _trim_schema({**named[where.rpartition("/")[2]], **rest}, named)
        case {"anyOf": [Mapping() as only, {"type": "null"}], **rest}:
            return _trim_schema({**only, **rest}, named)
        case {"type": "array", "items": {"$ref": str() as where}, **rest}:
            items = {key: value for key, value in named[where.rpartition("/")[2]].items() if key != "description"}
            return _trim_schema({**rest, "items": items}, named)
        case {"required": ["kind", *others], **rest}:  # every action has a kind
            return _trim_schema({**rest, **({"required": others} if others else {})}, named)
        case Mapping():
            return {
                key: {name: _trim_schema(part, named) for name, part in value.items()}
                if key == "properties"
                else _trim_schema(value, named)
                for key, value in schema.items()
                if not _is_redundant(key, schema)
            }
        case _:
            return schema


def _is_redundant(key: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a key may go: validation checks it, or another key says it."""
    is_said: dict[str, bool] = {
        "description": schema.get("description") == _REF,  # said once, where the actions are described
        "default": not schema.get("default"),
        "type": bool(schema.keys() & {"const", "enum", "properties", "items"}),
    }
    return is_said.get(key, key.startswith(_CHECKED))


MISSED = 3
"""Steps in a row that a model gets wrong before the explorer may end the run."""


class ModelDecider:
    """Asks a model for each step.

    Args:
        model: the model.
        evidence: the pages seen; an answer's quote must be on one of them.
        explorer: decides a step that the model got wrong twice.
        secrets: the secrets that it may type by placeholder.
        shape: the form that the answer must have; None for words.
    """

    def __init__(
        self, model: Model, evidence: Evidence, explorer: Decider, secrets: Secrets, shape: Shape | None = None
    ) -> None:
        self.name = model.name
        self._model = model
        self._evidence = evidence
        self._explorer = explorer
        self._tool = decide_tool()
        named = [prompt("secret", PROMPTS, name=one.placeholder, domain=one.domain) for one in secrets.all]
        wanted = [prompt("schema", PROMPTS, schema=shape)] if shape is not None else []
        self._system = "\n".join([prompt("system", PROMPTS), *named, *wanted])
        self._shape = shape
        self._in_words = False
        self._missed = 0

    async def decide(self, situation: Situation) -> DecidedStep:
        """Decide one step. A reply that does not fit goes back once with the reason; then the explorer decides.

        A model that once answered in words gets the form of such an answer in its system prompt from then on.
        """
        spent: list[Usage] = []
        wrong: list[tuple[str, str]] = []

        def note_reply(reply: Reply) -> None:
            spent.append(reply.usage)
            self._in_words |= bool(reply.words)

        closing = {"role": "user", "content": [{"type": "text", "text": situation.now}]}
        request = Request(
            system=self._write_system(),
            messages=[*situation.view.messages, closing],
            tool=self._tool,
            stable=situation.view.stable,
        )
        try:
            decision = await ask(
                self._model,
                request,
                lambda given: self._check(given, situation),
                note_reply,
                lambda reply: self._read_words(reply, situation),
                lambda written, why: wrong.append((written, why)),
            )
        except InvalidReply as refused:
            self._missed += 1
            taken_over = self._replace_end(await self._explorer.decide(situation))
            note = f"{refused}; the explorer decided this step"
            decided = replace(taken_over, usage=tuple(spent), note=note)
        else:
            self._missed = 0
            decided = DecidedStep(decision, self.name, "model", tuple(spent))
        return replace(decided, refused=tuple(wrong), asked=self.name)

    def _replace_end(self, decided: DecidedStep) -> DecidedStep:
        """Return the explorer's decision; its first ends become a wait: a model may go on without links."""
        if self._missed >= MISSED or not isinstance(decided.decision.end, GiveUp):
            return decided
        wait = WaitFor(kind="wait_for", event="quiet", seconds=1)
        again = Decision(thought=prompt("ask_again", PROMPTS), actions=(wait,))
        return replace(decided, decision=again, candidates=())

    def candidates(self) -> tuple[Source, ...]:
        """Return none: a model keeps no passages."""
        return ()

    def _write_system(self) -> str:
        """Return the system prompt; for a model without tools, with the form of a reply in words."""
        if not self._in_words:
            return self._system
        schema = json.dumps(self._tool.schema, ensure_ascii=False)
        return "\n".join([self._system, prompt("in_words", PROMPTS, tool=self._tool.name, schema=schema)])

    def _read_words(self, reply: str, situation: Situation) -> Mapping[str, Any]:
        """Return the arguments of a reply in words. Raises InputError: no arguments, or no valid fold."""
        read = parse(reply, situation.workspace)
        if read.reason is not None:
            raise InputError(f"- {read.reason}")
        arguments = parse_words(read.text, self._tool.name)
        given = {"fold": read.directive, "memory": read.memory}
        parts = {name: value.model_dump(exclude_defaults=True) for name, value in given.items() if value is not None}
        return {**arguments, **parts}

    def _check(self, arguments: Mapping[str, Any], situation: Situation) -> Decision:
        """Return the decision of a reply, an answer's quote as the exact slice of its page.

        Raises InputError: no schema to extract by, or an answer without the schema asked for.
        """
        decision = Decision.model_validate(arguments)
        shape = self._shape
        if shape is not None:
            actions = tuple(
                action.model_copy(update={"wanted": dict(shape.schema)})
                if isinstance(action, ExtractValues) and action.wanted is None
                else action
                for action in decision.actions
            )
            decision = decision.model_copy(update={"actions": actions})
        if any(isinstance(action, ExtractValues) and action.wanted is None for action in decision.actions):
            raise InputError("extract needs `wanted`, a JSON schema: this task has none of its own")
        if not isinstance(decision.end, Answer):
            return decision
        return decision.model_copy(update={"actions": (self._check_answer(decision.end, situation),)})

    def _check_answer(self, answer: Answer, situation: Situation) -> Answer:
        changes: dict[str, object] = {}
        shown = situation.observation
        if answer.quote is None and (shown is None or not shown.full.strip()):
            raise InputError(
                "the current page is empty, and nothing can be answered from it: wait for it, open another, "
                "quote a page seen before, or give up"
            )
        if answer.quote is not None:
            source = self._evidence.source(answer.quote, answer.url)
            changes |= {"quote": source.quote, "url": source.url}
        if self._shape is not None:
            given = answer.data
            if given is None and shown is not None and shown.extracted is not None:
                given = shown.extracted.value
            faults = self._shape.faults(given)
            if faults:
                raise InputError(f"`data` does not have the schema asked for: {'; '.join(faults)}")
            changes["data"] = given
        return answer.model_copy(update=changes)
