"""What a message does to a conversation: goes on, returns, turns off, begins anew. Values and pure functions; no store, no session, no model.

Source: Context-Agent's discourse forest: a topic is a tree, a branch a path in it, and each message is attached before it is answered.
"""

from ctxfold.workspace.forest import NOWHERE, Action, Choice, Elsewhere, Grove, Limb, Turn

__all__ = ["NOWHERE", "Action", "Choice", "Elsewhere", "Grove", "Limb", "Turn"]
