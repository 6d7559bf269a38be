"""The intent decision, plan and extract: what the session is after, and which lines of its log serve that."""
