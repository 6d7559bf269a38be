"""The models that can be asked for a decision, by name and by role."""

from ctxfold.models.named import Absent, Roles, helpers, load, role_model
from ctxfold.models.prices import add_prices, cost
from ctxfold.models.protocol import Message, Model, Reply, Request, Tool, Usage, Words, ask, settle
from ctxfold.models.script import ScriptedModel, read_script
from ctxfold.models.spending import Spending, spending

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
