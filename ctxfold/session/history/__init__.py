"""The history of a session: commits, branches, undo, replay, export, import, redaction."""
