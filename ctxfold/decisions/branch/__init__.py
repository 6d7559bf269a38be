"""The branch decision: where in the forest a message goes. Its applier works on stored heads: `session/history/branches.py`."""
