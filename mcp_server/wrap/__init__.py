"""`ctxfold wrap`: stands before any MCP server, records each tool result whole and passes long ones on bounded."""
