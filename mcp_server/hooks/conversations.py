"""The conversations of hosts that are open: the session of each, and how far its transcript was read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ctxfold import Session
from ctxfold.config.environment import default_store
from ctxfold.session.transcripts import HOSTS, Transcript, name_conversation

__all__ = ["Conversation", "Conversations"]

_MOST = 4
"""How many are held open."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its host, its session, which file its store is, and the transcripts that were read."""

    host: str
    session: Session
    store: tuple[int, int] | None
    transcripts: dict[Path, Transcript] = field(default_factory=dict)

    def transcript(self, path: Path) -> Transcript:
        """The transcript at a path, as far as it was read."""
        return self.transcripts.setdefault(path, Transcript(HOSTS[self.host], path))


class Conversations:
    """Holds the conversations open that were used last, for as long as its block."""

    def __init__(self) -> None:
        self._open: dict[str, Conversation] = {}

    @contextmanager
    def using(self, host: str, named: str) -> Iterator[Conversation]:
        """One conversation of a host by its id, opened where it is not yet. Raises CtxfoldError: its session cannot be opened.

        After a failure it is let go, so that what was read of its transcript and not recorded is read again.
        """
        name = name_conversation(host, named)
        one = self._open.pop(name, None)
        if one is not None and one.store != _store():  # another file was put in its place
            one.session.close()
            one = None
        one = one or Conversation(host, Session.open(name), _store())
        try:
            yield one
        except BaseException:
            one.session.close()
            raise
        self._open[name] = one
        if len(self._open) > _MOST:
            self._open.pop(next(iter(self._open))).session.close()

    def __enter__(self) -> Conversations:
        return self

    def __exit__(self, *_error: object) -> None:
        for one in self._open.values():
            one.session.close()
        self._open.clear()


def _store() -> tuple[int, int] | None:
    """Which file the configured store is; None where it is none."""
    try:
        found = os.stat(default_store())
    except OSError:
        return None
    return found.st_dev, found.st_ino
