"""The public handle on one session and what it does: record, decide, view, recall."""
