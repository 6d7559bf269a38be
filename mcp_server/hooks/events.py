"""Answers a host's event: reads the transcript so far into the session, then bounds a result or gives back what was kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.session.handover import take
from ctxfold.session.transcripts import HOSTS, Transcript, name_conversation, without_keys
from mcp_server.hooks.kept import kept_after, kept_before, put_back
from mcp_server.hooks.results import bound_result
from mcp_server.hooks.spelling import SPELLINGS

__all__ = ["answer_event"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a host, as far as hosts agree on it.

    Attributes:
        host: who sent it.
        name: `PostToolUse`, `PreCompact`, `SessionStart`, `Stop` …
        session: the host's id of the conversation.
        transcript: where the host writes it.
        payload: all that was sent.
    """

    host: str
    name: str
    session: str
    transcript: Path
    payload: Mapping[str, Any]


def answer_event(arguments: list[str], raw: bytes) -> str:
    """The answer to an event as its host wants it, empty for none.

    Raises:
        InputError: an unknown host, or an event that cannot be read.
        CtxfoldError: the session cannot be opened or written.
    """
    host, part = arguments[0], arguments[1] if len(arguments) > 1 else "1/1"
    event, spell = _read(host, raw), SPELLINGS[host]
    with Session.open(name_conversation(host, event.session)) as session:
        if event.transcript.is_file():
            session.record_transcript(Transcript(HOSTS[host], event.transcript).new())
        match event.name:
            case "PostToolUse":
                bounded = bound_result(session, spell.call(event.payload))
                return "" if bounded is None else _dump(spell.replaced(bounded))
            case "PreCompact":
                return kept_before(session)
            case "SessionStart" if event.payload.get("source") == "compact":
                at, parts = map(int, part.split("/"))
                text = kept_after(session, at, parts)
                return _dump(spell.context("SessionStart", text)) if text else ""
            case "UserPromptSubmit":
                text = put_back(session) if take(session.name) else ""
                return _dump(spell.context(event.name, text)) if text else ""
            case _:
                return ""


def _read(host: str, raw: bytes) -> Event:
    if host not in SPELLINGS:
        raise InputError(f"no host {host!r} has hooks here: {', '.join(SPELLINGS)}")
    try:
        payload = without_keys(json.loads(raw))
        name, session = payload["hook_event_name"], payload["session_id"]
        path = Path(os.path.expanduser(payload.get("transcript_path") or os.devnull))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"that is no event of {host} ({error!r}): a hook reads what the host writes to it") from error
    return Event(host, str(name), str(session), path, payload)


def _dump(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer)
