"""The history of a session: commits, branches, undo, and what is verified, exported and redacted of them."""
