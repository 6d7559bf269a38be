"""The MCP server: a host's model records, folds, plans, extracts, refactors, branches and recalls in the sessions of one store.

Nothing is imported here: `ctxfold --help` must not pay for a server it does not start.
"""

__all__: tuple[str, ...] = ()
