"""Why an action could not be done. Inner to this package: `perform` turns it into an outcome."""

from __future__ import annotations

from browser_agent.actions.outcome import OutcomeKind


class Stop(Exception):
    """An action was not done. The message is ours, in one line, and holds no page text."""

    def __init__(self, kind: OutcomeKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
