"""Registers the server, hooks and wrapped servers in hosts' settings files, and takes them out again."""
