"""The explorer: the decider without a model, which finds the passages of a site that fit a question."""

from browser_agent.deciders.explorer.explorer import Explorer

__all__ = ["Explorer"]
