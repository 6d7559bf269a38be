"""Asks a model for each step, and the explorer after the model's second unusable reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
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
from ctxfold.decisions.reply import Compliance, parse
from ctxfold.errors import InputError, InvalidReply
from ctxfold.models import Model, Reply, Request, Tool, Usage, ask
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt

Schema = Mapping[str, Any] | type[BaseModel]
"""A JSON schema as a mapping, or a pydantic model that stands for one."""

_MOST = 6
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON schema that was checked. Nothing it refers to is fetched from anywhere."""

    schema: Mapping[str, Any]

    @classmethod
    def of(cls, given: Schema) -> Shape:
        """A shape from what a script gives. Raises InputError: it is no JSON schema."""
        if isinstance(given, type) and issubclass(given, BaseModel):
            return cls(given.model_json_schema())
        if not isinstance(given, Mapping):
            raise InputError("a schema is a JSON schema as a mapping, or a pydantic model; give one of these")
        return cls(_check(dict(given)))

    @classmethod
    def read(cls, path: Path) -> Shape:
        """A shape from a file of JSON. Raises InputError: it cannot be read, or holds no JSON schema."""
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the schema {str(path)!r} cannot be read; name another file") from error
        except ValueError as error:
            raise InputError(f"{str(path)!r} is no JSON ({error}); give a JSON schema") from error
        if not isinstance(given, dict):
            raise InputError(f"{str(path)!r} holds no JSON schema; give an object with `type` and `properties`")
        return cls(_check(given))

    def faults(self, value: object) -> tuple[str, ...]:
        """What a value lacks, each in a few words that begin with where; empty when it has the shape.

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
        faults = tuple(dict.fromkeys(map(_describe_fault, found)))
        return faults if len(faults) <= _MOST else (*faults[:_MOST], f"and {len(faults) - _MOST} more")

    def __str__(self) -> str:
        return json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))


def _check(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path)) or "its root"
        raise InputError(f"that is no JSON schema: at {where}, {_shorten(error.message)}") from error
    return schema


def _describe_fault(error: ValidationError) -> str:
    where = ".".join(map(str, error.absolute_path)) or "the answer"
    return f"{where}: {_shorten(error.message)}"


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"


_REF = TypeAdapter(Ref).json_schema()["description"]

_HELD = ("min", "max", "exclusive", "pattern", "examples", "additionalProperties", "discriminator")
"""How the words begin for what validation checks anyway; its message says where a reply is at fault."""


def decide_tool() -> Tool:
    """The tool `decide`: a decision by its JSON schema."""
    tool = Tool.deciding(Decision, prompt("decide", "browser_agent.prompts"))
    named = tool.schema["$defs"]
    schema = _shorten_tool(
        {key: value for key, value in tool.schema.items() if key not in ("$defs", "description")}, named
    )
    return Tool(tool.name, tool.description, {"type": "object", **schema})


def _shorten_tool(schema: Any, named: Mapping[str, Any]) -> Any:
    """A schema with each definition at its place, without bounds that validation holds, and without null as another way to leave a value out."""
    match schema:
        case list():
            return [_shorten_tool(part, named) for part in schema]
        case {"$ref": str() as where, **beside}:
            return _shorten_tool({**named[where.rpartition("/")[2]], **beside}, named)
        case {"anyOf": [Mapping() as only, {"type": "null"}], **beside}:
            return _shorten_tool({**only, **beside}, named)
        case {"type": "array", "items": {"$ref": str() as where}, **beside}:
            items = {key: value for key, value in named[where.rpartition("/")[2]].items() if key != "description"}
            return _shorten_tool({**beside, "items": items}, named)
        case {"required": ["kind", *others], **beside}:  # an action without its kind is none: that goes without saying
            return _shorten_tool({**beside, **({"required": others} if others else {})}, named)
        case Mapping():
            return {
                key: {name: _shorten_tool(part, named) for name, part in value.items()}
                if key == "properties"
                else _shorten_tool(value, named)
                for key, value in schema.items()
                if not _says_nothing(key, schema)
            }
        case _:
            return schema


def _says_nothing(key: str, schema: Mapping[str, Any]) -> bool:
    """Whether a key may go: validation holds it, or what stands beside it says so."""
    match key:
        case "description":
            return bool(schema[key] == _REF)  # said once, where the actions are described
        case "default":
            return not schema[key]
        case "type":
            return bool(schema.keys() & {"const", "enum", "properties", "items"})
        case _:
            return key.startswith(_HELD)


_PROMPTS = "browser_agent.prompts"

MISSED = 3
"""Steps in a row that a model gets wrong before the explorer may end the run in its place."""


class ModelDecider:
    """Asks a model for each step. `evidence`: the pages seen, which an answer's quote must stand on; `explorer`: who decides a step that it twice got wrong;
    `secrets`: what it may type by placeholder; `shape`: the form the answer must have, None for words.
    """

    def __init__(
        self, model: Model, evidence: Evidence, explorer: Decider, secrets: Secrets, shape: Shape | None = None
    ) -> None:
        self.name = model.name
        self._model = model
        self._evidence = evidence
        self._explorer = explorer
        self._tool = decide_tool()
        named = [prompt("secret", _PROMPTS, name=one.placeholder, domain=one.domain) for one in secrets.all]
        wanted = [prompt("schema", _PROMPTS, schema=shape)] if shape is not None else []
        self._system = "\n".join([prompt("system", _PROMPTS), *named, *wanted])
        self._shape = shape
        self._in_words = False
        self._missed = 0
        self._compliance = Compliance()

    async def decide(self, situation: Situation) -> DecidedStep:
        """Decide one step. A reply that does not fit goes back once with the reason; then the explorer decides, and the note says so.

        A model that once answered in words is asked for words from then on: the form is added to what it is told.
        """
        spent: list[Usage] = []
        wrong: list[tuple[str, str]] = []
        self._compliance = Compliance()

        def seen(reply: Reply) -> None:
            spent.append(reply.usage)
            self._in_words |= bool(reply.words)

        def words(reply: str) -> Mapping[str, Any]:
            return self._read_words(reply, situation)

        closing = {"role": "user", "content": [{"type": "text", "text": situation.now}]}
        request = Request(
            system=self._write_system(),
            messages=[*situation.view.messages, closing],
            tool=self._tool,
            stable=situation.stable,
        )
        try:
            decision = await ask(
                self._model,
                request,
                lambda given: self._check(given, situation),
                seen,
                words,
                lambda written, why: wrong.append((written, why)),
            )
        except InvalidReply as refused:
            self._missed += 1
            taken_over = self._stand_in(await self._explorer.decide(situation))
            note = f"{refused}; the explorer decided this step"
            decided = replace(taken_over, usage=tuple(spent), note=note, compliance=self._compliance)
        else:
            self._missed = 0
            decided = DecidedStep(decision, self.name, "model", tuple(spent), compliance=self._compliance)
        return replace(decided, refused=tuple(wrong), asked=self.name)

    def _stand_in(self, decided: DecidedStep) -> DecidedStep:
        """What the explorer decides in the model's place. It gives up for want of links, which need not stop a model: that is asked anew at first."""
        if self._missed >= MISSED or not isinstance(decided.decision.end, GiveUp):
            return decided
        again = WaitFor(kind="wait_for", event="quiet", seconds=1)
        return replace(
            decided, decision=Decision(thought=prompt("ask_again", _PROMPTS), actions=(again,)), candidates=()
        )

    def candidates(self) -> tuple[Source, ...]:
        """A model keeps no passages of its own."""
        return ()

    def _write_system(self) -> str:
        """The system prompt; for a model without tools, with the form of a reply in words."""
        if not self._in_words:
            return self._system
        schema = json.dumps(self._tool.schema, ensure_ascii=False)
        return "\n".join([self._system, prompt("in_words", _PROMPTS, tool=self._tool.name, schema=schema)])

    def _read_words(self, reply: str, situation: Situation) -> Mapping[str, Any]:
        """The arguments of a reply in words, its fold as AgentFold writes it. Raises InputError: it holds none, or a fold that cannot be applied."""
        read = parse(reply, situation.workspace)
        self._compliance += read.compliance
        if read.reason is not None:
            raise InputError(f"- {read.reason}")
        arguments = parse_words(read.text, self._tool.name)
        return arguments if read.directive is None else {**arguments, "fold": read.directive.model_dump()}

    def _check(self, arguments: Mapping[str, Any], situation: Situation) -> Decision:
        """The decision of a reply's arguments, an answer's quote as the exact slice of its page.

        Raises:
            InputError: it has no schema to extract by, or its answer does not have the schema asked for.
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
        match decision.end:
            case Answer() as answer:
                return decision.model_copy(update={"actions": (self._check_answer(answer, situation),)})
            case _:
                return decision

    def _check_answer(self, answer: Answer, situation: Situation) -> Answer:
        changes: dict[str, object] = {}
        shown = situation.observation
        if answer.quote is None and (shown is None or not shown.full.strip()):
            raise InputError(
                "the page as it stands is empty, and nothing can be answered from it: wait for it, open another, "
                "quote a page seen before, or give up"
            )
        if answer.quote is not None:
            source = self._evidence.source(answer.quote, answer.url)
            changes |= {"quote": source.quote, "url": source.url}
        if self._shape is not None:
            page = situation.observation
            given = answer.data
            if given is None and page is not None and page.extracted is not None:
                given = page.extracted.value
            faults = self._shape.faults(given)
            if faults:
                raise InputError(f"`data` does not have the schema asked for: {'; '.join(faults)}")
            changes["data"] = given
        return answer.model_copy(update=changes)
