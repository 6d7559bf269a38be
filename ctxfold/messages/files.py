"""Reads a host's transcript file line by line while the host writes on, with keys of known forms masked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ctxfold.errors import InputError
from ctxfold.messages import Message
from ctxfold.messages.hosts import TranscriptHost
from ctxfold.text.secrets import without_keys

_PART = 1 << 20
"""Bytes read at once."""


class Transcript:
    """A transcript on disk. `unread` counts the lines that held no message; they remain in the host's file."""

    def __init__(self, host: TranscriptHost, path: Path) -> None:
        self.host = host
        self.path = path
        self.unread: int = 0
        self._offset = 0
        self._inode = 0

    def read_new(self) -> Iterator[Message]:
        """The messages of the whole lines added since the last call; of all lines if the file was replaced or cut.

        Keys of known forms are masked in every text.

        Raises:
            InputError: the file cannot be read.
        """
        for line in self._read_lines():
            try:
                native = without_keys(json.loads(line.decode("utf-8", "replace")))
            except (ValueError, RecursionError):
                native = None
            messages = list(self.host.codec.decode(native))
            self.unread += not messages
            yield from messages

    def _read_lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._offset:
                    self._inode, self._offset = status.st_ino, 0
                yield from self._read_rest(file) if self.host.lines else [file.read()]
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror}): name another file") from error

    def _read_rest(self, file: BinaryIO) -> Iterator[bytes]:
        """The whole lines after the offset. Half a line is left for the next call."""
        file.seek(self._offset)
        rest = b""
        while part := file.read(_PART):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self._offset += len(line) + 1
                yield line
