"""The embedded decider: finds the passages of a site that fit a question, with no model."""

from browser_agent.deciders.explorer.explorer import Explorer

__all__ = ["Explorer"]
