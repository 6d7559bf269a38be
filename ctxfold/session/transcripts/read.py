"""Reading a transcript file from where it was last left, also while its host writes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ctxfold.errors import InputError
from ctxfold.session.transcripts.hosts import TranscriptHost
from ctxfold.session.transcripts.known_keys import without_keys
from ctxfold.session.transcripts.values import Entry

__all__ = ["Transcript"]

_PART = 1 << 20
"""Bytes that are read at once."""


class Transcript:
    """A transcript of a host on disk. `unread`: how many lines were no JSON object, or not of the conversation; they stay in the host's file."""

    def __init__(self, host: TranscriptHost, path: Path) -> None:
        self.host = host
        self.path = path
        self.unread: int = 0
        self._at = 0
        self._file = 0

    def new(self) -> Iterator[Entry]:
        """The entries of the whole lines that were added since the last call; of all lines where the file was put in place of another, or was cut.

        Keys of known forms are taken out of every text.

        Raises:
            InputError: the file cannot be read.
        """
        for line in self._lines():
            value = _parse(line)
            entries = self.host.read(value) if value is not None else ()
            self.unread += not entries
            yield from entries

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._file or status.st_size < self._at:
                    self._file, self._at = status.st_ino, 0
                yield from self._rest(file) if self.host.lines else [file.read()]
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror}): name another file") from error

    def _rest(self, file: BinaryIO) -> Iterator[bytes]:
        """The whole lines behind the place where the last reading ended; half a line is left for the next."""
        file.seek(self._at)
        rest = b""
        while part := file.read(_PART):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self._at += len(line) + 1
                yield line


def _parse(line: bytes) -> Mapping[str, Any] | None:
    try:
        value = without_keys(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
