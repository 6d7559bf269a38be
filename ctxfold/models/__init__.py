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
    role_model,
    spending,
)
from ctxfold.models.protocol import Message, Model, Reply, Request, Tool, Usage, Words, ask, settle

__all__ = [
    "Absent",
    "Message",
    "Model",
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
    "role_model",
    "settle",
    "spending",
]
