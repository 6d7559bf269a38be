"""The MCP server, through which a host's model uses the sessions of one store.

Nothing is imported here, so that `ctxfold --help` starts fast.
"""
