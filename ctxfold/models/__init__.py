"""The models that can be asked for a decision, by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ctxfold import config
from ctxfold.errors import InputError, ModelError, ModelKeyMissing
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.prices import cost
from ctxfold.models.protocol import Message, Model, Reply, Request, Tool, Usage, Words, ask, settle
from ctxfold.models.script import ScriptedModel, read_script

__all__ = [
    "Absent",
    "Message",
    "Model",
    "Reply",
    "Request",
    "ScriptedModel",
    "Tool",
    "Usage",
    "Words",
    "ask",
    "cost",
    "folder",
    "load",
    "settle",
]


def load(name: str) -> Model | None:
    """The model of a name.

    Args:
        name: `explorer`, `claude-…`, `script:FILE`; with ``ANTHROPIC_BASE_URL`` set, any name that server knows.

    Returns:
        The model; None for `explorer`, which is the embedded decider and no model.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: a model that needs a key, and none is set.
    """
    scheme, _, rest = name.partition(":")
    if name == config.EXPLORER:
        return None
    if scheme == "script":
        return read_script(Path(rest))
    endpoint = config.endpoint()
    if name.startswith("claude-") or (name and endpoint.local):
        return AnthropicModel(name, endpoint)
    raise InputError(
        f"no model is named {name!r}: use explorer, claude-… (such as {config.KEYED_MODEL}), or script:FILE"
    )


def folder(named: str | None = None, *, must: bool = True) -> Model | None:
    """The model that folds, plans, extracts, refactors and places messages, whoever decides the rest: a setting of its own.

    Args:
        named: the model; None for what ``CTXFOLD_FOLDER_MODEL`` names.
        must: off, a missing key leaves a model that says so when it is asked: the embedded deciders then take over, and their events say why.

    Returns:
        The model; None for the embedded deciders, where none is named.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: it needs a key, and none is set.
    """
    name = named or config.folder_model()
    try:
        return None if name is None else load(name)
    except ModelKeyMissing as error:
        if must or name is None:
            raise
        return Absent(name, error)


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that cannot be had now: it answers each question with the reason, so that the embedded deciders take over and say so.

    Attributes:
        name: how it is called.
        reason: why it cannot be asked.
    """

    name: str
    reason: ModelError

    async def decide(self, request: Request) -> Reply:  # noqa: ARG002 - a model takes one
        """Say why not. Raises ModelError always."""
        raise self.reason
