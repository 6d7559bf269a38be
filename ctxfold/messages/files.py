"""Finds the transcripts that hosts keep as files, and reads one while its host writes on."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ctxfold.errors import InputError
from ctxfold.messages import Codec, Message
from ctxfold.messages.hosts import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, PI
from ctxfold.text.secrets import without_keys

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST = 40
"""Characters of a conversation's id in the name of its session."""
_PART = 1 << 20
"""Bytes read at once."""


@dataclass(frozen=True, slots=True)
class TranscriptHost:
    """A program that writes its conversations to files.

    Attributes:
        codec: reads them; its name is the host's, as `--from` takes it.
        variable: the environment variable that moves the host's folder.
        folder: that folder, below the user's home.
        files: a glob pattern of the transcripts in it; empty if the host only exports them.
        lines: whether a file has one JSON object a line. Otherwise the whole file is one object.
        id_length: how many characters of a conversation's id the file name has; 0 for all.
    """

    codec: Codec
    variable: str
    folder: str
    files: str
    lines: bool = True
    id_length: int = 0


HOSTS: Mapping[str, TranscriptHost] = {
    host.codec.name: host
    for host in (
        TranscriptHost(CLAUDE_CODE, "CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"),
        TranscriptHost(CODEX, "CODEX_HOME", ".codex", "sessions/**/rollout-*.jsonl"),
        TranscriptHost(GEMINI, "GEMINI_CLI_HOME", ".gemini", "tmp/*/chats/*.jsonl", id_length=8),
        TranscriptHost(OPENCODE, "", ".local/share/opencode", "", lines=False),
        TranscriptHost(PI, "PI_CODING_AGENT_DIR", ".pi/agent", "sessions/**/*.jsonl"),
    )
}


def find_latest(host: TranscriptHost, home: Path, moved: str | None) -> Path:
    """The transcript that a host wrote last.

    Args:
        host: one of `HOSTS`.
        home: the user's home.
        moved: the value of the host's variable, None if it is not set.

    Raises:
        InputError: no transcript is there.
    """
    if not host.files:
        raise InputError(f"{host.codec.name} keeps no transcripts as files: export the session to one, and name it")
    folder = Path(moved) if moved else home / host.folder
    latest = max(folder.glob(host.files), key=lambda path: path.stat().st_mtime, default=None)
    if latest is None:
        raise InputError(f"{host.codec.name} has no transcript in {folder}: name the file, or set {host.variable}")
    return latest


def name_conversation(host: str, named: str) -> str:
    """The name of the session for a host's conversation; `named` is the host's id of it, or the file's name, which holds that id."""
    slug = re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-")
    ids, length = _ID.findall(slug), HOSTS[host].id_length
    if length:
        return f"{host}-{ids[-1][:length] if ids else slug[-length:]}".rstrip("-")
    return f"{host}-{ids[-1] if ids else slug[-_LONGEST:].strip('-')}".rstrip("-")


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
