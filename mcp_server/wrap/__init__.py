"""Stands between a host and any MCP server: what the server says passes as it is, but for long results, which pass bounded and are kept whole."""

__all__: tuple[str, ...] = ()
