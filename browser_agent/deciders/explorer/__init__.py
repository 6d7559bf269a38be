"""The embedded decider: it finds a passage on a site that answers a question, with no model and no key."""

from browser_agent.deciders.explorer.explorer import Explorer

__all__ = ["Explorer"]
