"""Answers a host's event: reads the transcript so far into the session, then bounds a result or gives back what was kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxfold.errors import InputError
from ctxfold.session.handover import drop_parts, hand_over, keep_parts, take
from ctxfold.session.transcripts import HOSTS, HostCompacted, without_keys
from mcp_server.hooks.conversations import Conversation, Conversations
from mcp_server.hooks.kept import kept_after, kept_before, put_back, tell_idle
from mcp_server.hooks.results import bound_result
from mcp_server.hooks.spelling import SPELLINGS

__all__ = ["answer_event", "prepare_parts"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a host, as far as hosts agree on it: `PostToolUse`, `PreCompact`, `SessionStart`, `Stop` … of a conversation by the host's id."""

    host: str
    name: str
    session: str
    transcript: Path
    payload: Mapping[str, Any]


def answer_event(arguments: list[str], raw: bytes, kept: Conversations) -> str:
    """The answer to an event as its host wants it, empty for none.

    Args:
        arguments: the host's name, and where a hook runs several times its part, `1/3`.
        raw: the JSON that the host wrote.
        kept: the conversations that are open.

    Raises:
        InputError: an unknown host, or an event that cannot be read.
        CtxfoldError: the session cannot be opened or written.
    """
    host, at = arguments[0], int(arguments[1].partition("/")[0]) if len(arguments) > 1 else 1
    event, spell = _read(host, raw), SPELLINGS[host]
    with kept.using(host, event.session) as at_hand:
        session = at_hand.session
        if _record(at_hand, event) and spell.late:
            hand_over(session.name, "view")
        match spell.names.get(event.name, event.name):
            case "PostToolUse":
                bounded = bound_result(session, spell.call(event.payload))
                return "" if bounded is None else _dump(spell.replaced(bounded))
            case "PreCompact":
                return "" if spell.summing is None else spell.summing(kept_before(session))
            case "SessionStart" if event.payload.get("source") == "compact":
                every = kept_after(session, *spell.parts)
                text = every[at - 1] if at <= len(every) else ""
            case "SessionStart" if event.payload.get("prompt_cache_likely_expired") is True and at == 1:
                session.consolidate()
                return _dump({"systemMessage": tell_idle(session, event.payload.get("context_tokens"))})
            case "UserPromptSubmit":
                due = take(session.name)
                size = spell.parts[1]
                text = kept_after(session, 1, size)[0] if due == "view" else put_back(session, size) if due else ""
            case _:
                drop_parts(session.name)
                text = ""
        return _dump(spell.context(event.name, text)) if text else ""


def prepare_parts(host: str, raw: bytes, kept: Conversations) -> None:
    """Make the answers of the hooks after a compaction from the event before it, and keep them.

    Raises:
        InputError: an unknown host, or an event that cannot be read.
        CtxfoldError: the session cannot be opened.
    """
    event, spell = _read(host, raw), SPELLINGS[host]
    with kept.using(host, event.session) as at_hand:
        session = at_hand.session
        made = [_dump(spell.context("SessionStart", text)) for text in kept_after(session, *spell.parts)]
        keep_parts(session.name, made + [""] * (spell.parts[0] - len(made)))


def _record(kept: Conversation, event: Event) -> bool:
    """Record the conversation so far: from the host's transcript, or as a host without one sends it along. Whether the host compacted it since."""
    told = event.payload.get("messages")
    if isinstance(told, list):
        entries = list(HOSTS[event.host].read({"messages": told}))
    elif event.transcript.is_file():
        entries = list(kept.transcript(event.transcript).new())
    else:
        return False
    if not entries:
        return False
    recorded = kept.session.record_transcript(entries)
    marks = [each for each in entries if isinstance(each, HostCompacted)]
    return bool(marks) and any(recorded[mark] for mark in kept.session.record_transcript(marks))


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
