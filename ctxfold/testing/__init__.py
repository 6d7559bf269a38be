"""Doubles for tests of programs built on ctxfold: a model that follows a script, and a Messages API server on loopback.

`ScriptedModel` stands in for a model inside the process. `MessagesServer` stands in for Anthropic's server, so that the real
adapter and the real SDK are what is tested: it refuses what the API refuses, accounts for the prompt cache, and keeps a journal.
Nothing here is used by the product, and nothing leaves the machine.
"""

from ctxfold.models.script import ScriptedModel
from ctxfold.testing.server import Answer, Decide, Exchange, MessagesServer, Raw, Trouble, Words, in_turn

__all__ = [
    "Answer",
    "Decide",
    "Exchange",
    "MessagesServer",
    "Raw",
    "ScriptedModel",
    "Trouble",
    "Words",
    "in_turn",
]
