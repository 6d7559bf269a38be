"""The models that can be asked for a decision, by name and by role."""

from ctxfold.models.named import (
    Absent,
    Roles,
    ScriptedModel,
    Spending,
    add_prices,
    cost,
    helpers,
    load,
    read_script,
    spending,
)
from ctxfold.models.protocol import Model, PromptMessage, Reply, Request, Tool, Usage, Words, ask

__all__ = [
    "Absent",
    "Model",
    "PromptMessage",
    "Reply",
    "Request",
    "Roles",
    "ScriptedModel",
    "Spending",
    "Tool",
    "Usage",
    "Words",
    "add_prices",
    "ask",
    "cost",
    "helpers",
    "load",
    "read_script",
    "spending",
]
