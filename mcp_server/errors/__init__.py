"""Turns any exception into the one line that a host's model reads: what is wrong, and the next call."""

from mcp_server.errors.arguments import Form
from mcp_server.errors.explain import explain_error, name_next_call

__all__ = ["Form", "explain_error", "name_next_call"]
