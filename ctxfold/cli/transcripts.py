"""What the commands on hosts' transcripts share: their options, finding the file, naming the session."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxfold.errors import InputError

if TYPE_CHECKING:
    from ctxfold.session.transcripts import Transcript

__all__ = ["find_transcript", "name_of", "transcript_options"]


def transcript_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--from` and `--latest` to a command."""
    latest = click.option("--latest", is_flag=True, help="With --from: the transcript that was written to last.")
    host = click.option(
        "--from",
        "host",
        metavar="HOST",
        help="Read a transcript as this host writes it: claude-code, codex, gemini, opencode, pi.",
    )
    return host(latest(command))


def find_transcript(host: str, file: Path | None, latest: bool) -> Transcript:
    """The transcript that a command's options name. Raises InputError: an unknown host, no file, or both a file and `--latest`."""
    from ctxfold.session.transcripts import HOSTS, Transcript, find_latest

    found = HOSTS.get(host)
    if found is None:
        raise InputError(f"no host {host!r} whose transcripts can be read: {', '.join(HOSTS)}")
    if (file is None) != latest:
        raise InputError("give the transcript's file, or --latest")
    return Transcript(found, file or find_latest(found, Path.home(), os.environ.get(found.home[0])))


def name_of(transcript: Transcript) -> str:
    """A session's name made of the host's and the conversation's id, which stands in the file's name."""
    from ctxfold.session.transcripts import name_conversation

    return name_conversation(transcript.host.name, transcript.path.stem)
