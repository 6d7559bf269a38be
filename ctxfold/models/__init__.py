"""Who can be asked for a decision, by name. `explorer`, the embedded decider, is none of these: it needs no model.

Nothing here imports a provider's SDK; a model does so when it is first asked.
"""

from __future__ import annotations

from pathlib import Path

from ctxfold import config
from ctxfold.errors import InputError
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.prices import cost
from ctxfold.models.protocol import Message, Model, Reply, Request, Tool, Usage, Words, ask, settle
from ctxfold.models.script import ScriptedModel, read_script

__all__ = [
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
