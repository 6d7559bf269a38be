"""Values of a page by a JSON schema, with no model: what the page itself labels so. It makes nothing up and reads no page.

::

    labelled   the page's labelled values, and its rows of alike ones
    coercing   a text as the type a schema wants
    filling    a schema filled from both

Every value is text that stands on the page, at most read as a number or a yes; what is not found is said to be missing.
"""

from browser_agent.observation.extraction.coercing import NOTHING
from browser_agent.observation.extraction.filling import Filled, fill

__all__ = ["NOTHING", "Filled", "fill"]
