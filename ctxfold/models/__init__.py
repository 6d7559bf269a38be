"""The models that can be asked for a decision, by name and by role."""

from ctxfold.models.named import Absent as Absent
from ctxfold.models.named import Roles as Roles
from ctxfold.models.named import ScriptedModel as ScriptedModel
from ctxfold.models.named import Spending as Spending
from ctxfold.models.named import add_prices as add_prices
from ctxfold.models.named import cost as cost
from ctxfold.models.named import helpers as helpers
from ctxfold.models.named import load as load
from ctxfold.models.named import read_script as read_script
from ctxfold.models.named import spending as spending
from ctxfold.models.protocol import Model as Model
from ctxfold.models.protocol import PromptMessage as PromptMessage
from ctxfold.models.protocol import Reply as Reply
from ctxfold.models.protocol import Request as Request
from ctxfold.models.protocol import Tool as Tool
from ctxfold.models.protocol import Usage as Usage
from ctxfold.models.protocol import Words as Words
from ctxfold.models.protocol import ask as ask
