"""`SessionTool`: what a model in a native tool loop may do with the session that its context comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ctxfold.errors import CtxfoldError
from ctxfold.log.lines import fence
from ctxfold.prompts import prompt
from ctxfold.text.json import schema_of
from ctxfold.tokens import count, head
from ctxfold.workspace import spans

if TYPE_CHECKING:
    from ctxfold.session.session import Session

__all__ = ["SessionTool", "session_tools"]

_MOST = 2_000
"""o200k tokens of one recalled text; the rest is recalled by its lines."""
_FAULTS = 4


class _Arguments(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")


class _Recall(_Arguments):
    ref: str = Field("", description="A ref such as s12.2, or s12.2:40-80 for lines of it.")
    query: str = Field("", description="Words to search for, where you have no ref.")


class _Fold(_Arguments):
    summary: str = Field(
        min_length=1, description="The facts that matter later: names, numbers, decisions, failures, what is open."
    )
    first_step: int | None = Field(None, description="First step of the stretch.")
    last_step: int | None = Field(None, description="Last step of the stretch; the newest if left out.")


class _Todo(_Arguments):
    text: str = Field("", description="What is to be done, for a new entry.")
    id: str = Field("", description="An entry that stands, such as t3.")
    state: Literal["open", "done", "dropped"] = "open"

    @model_validator(mode="after")
    def _names_something(self) -> _Todo:
        if not self.text and not self.id:
            raise ValueError("give text for a new entry, or the id of one that stands")
        return self


class _Plan(_Arguments):
    todo: tuple[_Todo, ...] = Field((), description="New entries, or entries that stand with their new state.")
    constraints: tuple[str, ...] = Field((), description="What the user wants to hold from now on.")
    decisions: tuple[str, ...] = Field((), description="What was decided.")


class _Note(_Arguments):
    text: str = Field(min_length=1, description="What is to be kept.")


_Given = TypeVar("_Given", bound=_Arguments)


@dataclass(frozen=True, slots=True)
class SessionTool:
    """One tool of a session.

    Attributes:
        name: what a model calls it by.
        description: what a model is told about it.
        schema: the JSON schema of its arguments.
        run: does it, given arguments that may not fit; for `__call__`.
    """

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], str]

    def __call__(self, **arguments: Any) -> str:
        """Do it and say what came of it. What a model asked for in vain is said too, with what to mend: the answer goes back to it either way."""
        try:
            return self.run(arguments)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in error.errors()]
            return f"refused: {'; '.join(faults[:_FAULTS])}"
        except CtxfoldError as error:
            return f"refused: {error}"

    def as_anthropic(self) -> dict[str, Any]:
        """Its definition for `tools` of Anthropic's API."""
        return {"name": self.name, "description": self.description, "input_schema": self.schema}

    def as_openai(self) -> dict[str, Any]:
        """Its definition for `tools` of OpenAI's API."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}


def session_tools(session: Session) -> list[SessionTool]:
    """The tools of a session."""
    return [
        _tool("recall", _Recall, lambda given: _recall(session, given)),
        _tool("fold", _Fold, lambda given: _fold(session, given)),
        _tool("plan", _Plan, lambda given: _plan(session, given)),
        _tool("note", _Note, lambda given: f"kept as {session.record_note(given.text)}"),
    ]


def _tool(name: str, given: type[_Given], run: Callable[[_Given], str]) -> SessionTool:
    return SessionTool(
        name, prompt(f"tool_{name}"), schema_of(given), lambda arguments: run(given.model_validate(arguments))
    )


def _recall(session: Session, given: _Recall) -> str:
    if not given.ref:
        hits = session.recall(query=given.query or " ")
        return (
            "\n".join(f"{hit.ref} {fence(hit.ref, hit.text)}" for hit in hits) or "nothing recorded holds these words"
        )
    found = session.recall(given.ref)
    text = (
        found.text
        if count(found.text) <= _MOST
        else f"{head(found.text, _MOST)}\n[cut; name lines, as in {found.ref}:40-80]"
    )
    return text if found.origin in ("user", "model") else fence(found.ref, text)


def _fold(session: Session, given: _Fold) -> str:
    tile = session.fold(given.summary, given.first_step, given.last_step)
    return f"{tile.id} stands for {spans(tile.steps)}: {tile.tokens} tokens, raw {tile.raw}"


def _plan(session: Session, given: _Plan) -> str:
    todo = [{name: value for name, value in item.model_dump().items() if value} for item in given.todo]
    new = [{"text": item["text"]} if not item.get("id") else item for item in todo]
    intent = session.plan(None, new or None, list(given.constraints) or None, list(given.decisions) or None)
    standing = [f"{item.id} {item.state}: {item.text}" for item in intent.items]
    return "\n".join([*standing, *(f"{each.id}: {each.text}" for each in intent.binding)]) or "nothing stands"
