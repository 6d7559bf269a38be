"""What a host's user attaches to a conversation: the MCP resources and the MCP prompts."""
