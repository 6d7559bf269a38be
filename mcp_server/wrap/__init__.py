"""`ctxfold wrap`: serves in place of any MCP server, records each tool result whole and shortens the long ones."""
