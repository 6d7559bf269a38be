"""The session's own tools for a model in a tool loop: recall, fold, plan and note, with their schemas and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from ctxfold.decisions.fold import SubTask
from ctxfold.decisions.register import ItemWritten
from ctxfold.errors import CtxfoldError
from ctxfold.log import spans
from ctxfold.prompts import prompt
from ctxfold.text.json import list_faults, schema_of
from ctxfold.tokens import count, head

if TYPE_CHECKING:
    from ctxfold.session.session import Session

_MOST = 2_000
"""o200k tokens of one recalled text; the model recalls the rest by its lines."""
_FAULTS = 4
"""Faults of arguments that one answer names."""


class _RecallArguments(BaseModel, frozen=True, extra="forbid"):
    ref: str = Field("", description="A ref such as s12.2, or s12.2:40-80 for lines of it.")
    query: str = Field("", description="Words to search for, where you have no ref.")


class _FoldArguments(SubTask, frozen=True, extra="forbid"):
    summary: str = Field(
        min_length=1, description="The facts that matter later: names, numbers, decisions, failures, open points."
    )
    first_step: int | None = Field(None, description="First step of the stretch.")
    last_step: int | None = Field(None, description="Last step of the stretch; the newest if left out.")


class _PlanArguments(BaseModel, frozen=True, extra="forbid"):
    todo: tuple[ItemWritten, ...] = Field((), description="New entries, or entries by id with their new state.")
    constraints: tuple[str, ...] = Field((), description="Rules that the user set for everything from now on.")
    decisions: tuple[str, ...] = Field((), description="Decisions that were made.")


class _NoteArguments(BaseModel, frozen=True, extra="forbid"):
    text: str = Field(min_length=1, description="The finding to keep.")


_Given = TypeVar("_Given", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class SessionTool:
    """One tool of a session.

    Attributes:
        name: the name that a model calls.
        description: its description for the model.
        schema: the JSON schema of its arguments.
        run: carries it out; `__call__` turns its errors into answers.
    """

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], Any]

    def __call__(self, **arguments: Any) -> Any:
        """Carry it out and return the answer for the model. A refusal is an answer too, with the fault to mend."""
        try:
            return self.run(arguments)
        except ValidationError as error:
            return f"refused: {'; '.join(list_faults(error, 'the arguments')[:_FAULTS])}"
        except CtxfoldError as error:
            return f"refused: {error}"

    def as_anthropic(self) -> dict[str, Any]:
        """Its definition for `tools` of Anthropic's API."""
        return {"name": self.name, "description": self.description, "input_schema": self.schema}

    def as_openai(self) -> dict[str, Any]:
        """Its definition for `tools` of OpenAI's API."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}


def make_tools(session: Session) -> list[SessionTool]:
    """The tools of a session."""
    return [
        _make_tool("recall", _RecallArguments, lambda given: _recall(session, given)),
        _make_tool("fold", _FoldArguments, lambda given: _fold(session, given)),
        _make_tool("plan", _PlanArguments, lambda given: _plan(session, given)),
        _make_tool("note", _NoteArguments, lambda given: f"kept as {session.record_note(given.text)}"),
    ]


def _make_tool(name: str, arguments: type[_Given], act: Callable[[_Given], str]) -> SessionTool:
    def run(given: dict[str, Any]) -> str:
        return act(arguments.model_validate(given))

    return SessionTool(name, prompt(f"tool_{name}"), schema_of(arguments), run)


def _recall(session: Session, given: _RecallArguments) -> str:
    if not given.ref:
        hits = session.recall(query=given.query or " ")
        return "\n".join(hit.fenced for hit in hits) or "no record has these words"
    recalled = session.recall(given.ref)
    if count(recalled.text) <= _MOST:
        return recalled.fence()
    return recalled.fence(f"{head(recalled.text, _MOST)}\n[cut; name lines, as in {recalled.ref}:40-80]")


def _fold(session: Session, given: _FoldArguments) -> str:
    tile = session.fold(given.summary, given.first_step, given.last_step, **given.told)
    return f"{tile.id} replaces {spans(tile.steps)}: {tile.tokens} tokens, raw {tile.raw}"


def _plan(session: Session, given: _PlanArguments) -> str:
    intent = session.plan(None, given.todo, given.constraints, given.decisions)
    entries = [f"{item.id} {item.state}: {item.text}" for item in intent.items]
    return "\n".join([*entries, *(f"{each.id}: {each.text}" for each in intent.binding)]) or "the plan is empty"
