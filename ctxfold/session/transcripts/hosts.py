"""The hosts whose transcripts can be read: where each keeps them, and which function reads a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxfold.errors import InputError
from ctxfold.session.transcripts.claude_code import read_claude_code
from ctxfold.session.transcripts.codex import read_codex
from ctxfold.session.transcripts.gemini import read_gemini
from ctxfold.session.transcripts.opencode import read_opencode
from ctxfold.session.transcripts.pi import read_pi
from ctxfold.session.transcripts.values import Entry

__all__ = ["HOSTS", "TranscriptHost", "find_latest", "name_conversation"]

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST = 40
"""Characters of a conversation's id that its session's name takes at most."""


@dataclass(frozen=True, slots=True)
class TranscriptHost:
    """A program that writes its conversations to files.

    Attributes:
        name: as `--from` takes it.
        home: the variable that moves its folder, and that folder below the user's home.
        files: where below that folder its transcripts lie, as a glob pattern; empty where it keeps them in another form and exports them.
        read: the entries of one JSON object.
        lines: whether a file holds one JSON object a line; else the whole file is one.
        told: how many characters of the conversation's id a file's name tells; 0 for all.
    """

    name: str
    home: tuple[str, str]
    files: str
    read: Callable[[Mapping[str, Any]], tuple[Entry, ...]]
    lines: bool = True
    told: int = 0


HOSTS: Mapping[str, TranscriptHost] = {
    host.name: host
    for host in (
        TranscriptHost("claude-code", ("CLAUDE_CONFIG_DIR", ".claude"), "projects/*/*.jsonl", read_claude_code),
        TranscriptHost("codex", ("CODEX_HOME", ".codex"), "sessions/**/rollout-*.jsonl", read_codex),
        TranscriptHost("gemini", ("GEMINI_CLI_HOME", ".gemini"), "tmp/*/chats/*.jsonl", read_gemini, told=8),
        TranscriptHost("opencode", ("", ".local/share/opencode"), "", read_opencode, lines=False),
        TranscriptHost("pi", ("PI_CODING_AGENT_DIR", ".pi/agent"), "sessions/**/*.jsonl", read_pi),
    )
}


def find_latest(host: TranscriptHost, home: Path, moved: str | None) -> Path:
    """The transcript of a host that was written to last; `moved`: the value of the host's variable. Raises InputError: there is none."""
    if not host.files:
        raise InputError(f"{host.name} keeps no transcripts as files: export the session to one, and name it")
    folder = Path(moved) if moved else home / host.home[1]
    found = max(folder.glob(host.files), key=lambda path: path.stat().st_mtime, default=None)
    if found is None:
        raise InputError(f"{host.name} has no transcript in {folder}: name the file, or set {host.home[0]}")
    return found


def name_conversation(host: str, named: str) -> str:
    """The name of the session that a host's conversation is recorded in; `named`: the host's id of it, or the file's name, which holds that id."""
    slug = re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-")
    found, told = _ID.findall(slug), HOSTS[host].told
    if told:
        return f"{host}-{found[-1][:told] if found else slug[-told:]}".rstrip("-")
    return f"{host}-{found[-1] if found else slug[-_LONGEST:].strip('-')}".rstrip("-")
