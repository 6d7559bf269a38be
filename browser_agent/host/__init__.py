"""What an MCP server uses of the browser: pages that stay open between calls, and runs in the background."""
