"""A recorded session on its way into a `Session`, event by event, as a driver would record it. It takes no view and folds nothing."""

from __future__ import annotations

from ctxfold import Session
from tests.benchmarks.fidelity.recordings import Heard

__all__ = ["Replay"]


class Replay:
    """A recording on its way into a session.

    Args:
        session: where it is recorded.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.calling: Heard | None = None
        self.results: list[dict[str, str]] = []
        self.step = 0

    def hear(self, event: Heard) -> bool:
        """Take in an event; whether a step was recorded."""
        if event.role == "tool" and self.calling is not None:
            ids = [call.id for call in self.calling.calls]
            place = min(len(self.results), len(ids) - 1)
            self.results.append({"id": event.call_id if event.call_id in ids else ids[place], "text": event.text})
            return False
        self.settle()
        if event.role == "user":
            self.session.record_turn(user=event.text)
        elif event.role == "tool":
            self.session.record_result(self.step, event.call_id or "late", event.text)
        elif event.calls:
            self.calling = event
            return False
        else:
            self.session.record_reply(event.text)
        return True

    def settle(self) -> None:
        """Record what waits for its results."""
        if self.calling is None:
            return
        calls = [{"name": call.name, "args": call.args, "id": call.id} for call in self.calling.calls]
        self.step = self.session.record_step(self.calling.text, calls, self.results).step
        self.calling, self.results = None, []
