"""Answers a host's event: records the transcript so far, then bounds a long result or gives back the session's view."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxfold import Call, Message, Result, Session
from ctxfold.config import default_store
from ctxfold.errors import InputError
from ctxfold.messages.files import Transcript
from ctxfold.messages.hosts import HOSTS, name_conversation, read_hook_call
from ctxfold.prompts import prompt
from ctxfold.text.json import map_texts
from ctxfold.text.secrets import without_keys
from ctxfold.tokens import MIN_BUDGET, count
from ctxfold.view.result import LEAST, NOWHERE, ToolResult, shorten_result
from mcp_server.prompts import PROMPTS

BUDGET = 2_000
"""o200k tokens that a result may cost."""
_SUMMARY_BUDGET = 2_500
"""o200k tokens of the view that goes into the prompt of a host's summary."""
_NAMED_SHARE = 0.2
"""Of the text given after a compaction, the share for ids that calls named and the view leaves out."""
_MAX_OPEN = 4
"""Conversations that are held open."""

_FileId = tuple[int, int]
"""A file's device and inode."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a host: its session, the file of its store, and the transcripts that were read."""

    host: str
    session: Session
    store: _FileId | None
    transcripts: dict[Path, Transcript] = field(default_factory=dict)

    def record_new(self, event: HookEvent) -> None:
        """Record new messages: of the host's transcript file, or those that a host without one sends along."""
        host = HOSTS[self.host]
        if isinstance(event.payload.get("messages"), list):
            self.session.record(host.codec.decode(event.payload))
        elif event.transcript.is_file():
            transcript = self.transcripts.setdefault(event.transcript, Transcript(host, event.transcript))
            self.session.record(transcript.read_new())


class Conversations:
    """Holds the conversations open that were used last, until its block ends."""

    def __init__(self) -> None:
        self._open: dict[str, Conversation] = {}

    @contextmanager
    def hold(self, host: str, conversation_id: str) -> Iterator[Conversation]:
        """One conversation of a host, opened if it is not yet. Raises CtxfoldError: its session cannot be opened.

        After a failure it is closed, so that transcript lines which were read but not recorded are read again.
        """
        name = name_conversation(host, conversation_id)
        conversation = self._open.pop(name, None)
        if conversation is not None and conversation.store != _identify_store():  # another file took its place
            conversation.session.close()
            conversation = None
        conversation = conversation or Conversation(host, Session.open(name), _identify_store())
        try:
            yield conversation
        except BaseException:
            conversation.session.close()
            raise
        self._open[name] = conversation
        if len(self._open) > _MAX_OPEN:
            self._open.pop(next(iter(self._open))).session.close()

    def __enter__(self) -> Conversations:
        return self

    def __exit__(self, *_error: object) -> None:
        for conversation in self._open.values():
            conversation.session.close()
        self._open.clear()


def _identify_store() -> _FileId | None:
    with suppress(OSError):
        status = os.stat(default_store())
        return status.st_dev, status.st_ino
    return None


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a host, with what all hosts send: its name, the host's id of the conversation, its transcript."""

    name: str
    session: str
    transcript: Path
    payload: Mapping[str, Any]


def answer_event(arguments: list[str], raw: bytes, conversations: Conversations) -> str:
    """The answer to an event in the host's form; empty for none. A result that it replaces is committed first.

    Args:
        arguments: the host's name, and for a hook that runs several times its part, `1/3`.
        raw: the JSON that the host wrote.
        conversations: those that are open.

    Raises:
        InputError: an unknown host, or an event that cannot be read.
        CtxfoldError: the session cannot be opened or written.
    """
    host, part = arguments[0], int(arguments[1].partition("/")[0]) if len(arguments) > 1 else 1
    forms = HOSTS[host].hooks if host in HOSTS else None
    if forms is None:
        names = ", ".join(name for name, known in HOSTS.items() if known.hooks)
        raise InputError(f"no host {host!r} runs hooks of ctxfold: {names} do")
    event = _read_event(host, raw)
    with conversations.hold(host, event.session) as conversation:
        session = conversation.session
        is_prompt = forms.names.get(event.name, event.name) == "UserPromptSubmit"
        is_view_due = is_prompt and forms.late and session.is_view_due()  # before the prompt itself is recorded
        conversation.record_new(event)
        texts: list[str] = []
        match forms.names.get(event.name, event.name):
            case "PostToolUse":
                shorter = bound_result(session, *read_hook_call(event.payload))
                return "" if shorter is None else json.dumps(forms.replace(shorter))
            case "PreCompact" if forms.join_summary is not None:
                view = session.view(_SUMMARY_BUDGET).text
                return forms.join_summary(prompt("hooks/before", PROMPTS, session=session.name, view=view))
            case "SessionStart" if event.payload.get("source") == "compact":
                texts = split_view(session, *forms.parts)
            case "SessionStart" if event.payload.get("prompt_cache_likely_expired") is True and part == 1:
                session.consolidate()
                tokens = event.payload.get("context_tokens")
                size = f"{tokens:,} tokens" if isinstance(tokens, int) else "this conversation"
                return json.dumps({"systemMessage": prompt("hooks/idle", PROMPTS, session=session.name, size=size)})
            case "UserPromptSubmit" if is_view_due:
                texts = split_view(session, 1, forms.parts[1])
        return json.dumps(forms.add_context(event.name, texts[part - 1])) if part <= len(texts) else ""


def bound_result(session: Session, call: Call, answer: Any) -> Any | None:
    """Record a call and its whole result, and bound the long texts in it. None if no text is long.

    Views of the session show the bounded form.
    """
    texts = _list_texts(answer)
    long = [text for text in dict.fromkeys(texts) if count(text) > BUDGET]
    if not long:
        return None
    need, budget = " ".join(_list_texts(call.args)), max(BUDGET // len(long), LEAST)
    shorter = {text: shorten_result(ToolResult(text, NOWHERE), need, budget) for text in long}
    full, shown = long[0], shorter[long[0]].body
    if texts != long:
        bodies = _replace_texts(answer, {text: short.body for text, short in shorter.items()})
        full, shown = json.dumps(answer, ensure_ascii=False), json.dumps(bodies, ensure_ascii=False)
    items = (call, Result(call.id, full, shown=shown))
    ref = str(session.record([Message("assistant", items, call.id)], known=True)[-1])
    note = prompt("hooks/replaced", PROMPTS, session=session.name, ref=ref)
    return _replace_texts(answer, {text: f"{short.at(ref).text}\n{note}" for text, short in shorter.items()})


def _list_texts(value: Any) -> list[str]:
    """The texts in a JSON value, in their order."""
    texts: list[str] = []
    map_texts(value, texts.append)
    return [text for text in texts if text]


def _replace_texts(value: Any, replacements: Mapping[str, str]) -> Any:
    return map_texts(value, lambda text: replacements.get(text, text))


def split_view(session: Session, parts: int, size: int) -> list[str]:
    """The view, and ids of calls that it leaves out, in at most `parts` of `size` characters."""
    room = size * parts - (size // 4 if parts > 1 else 0)  # parts are cut between lines and so leave some room unused
    most = int(room * (1 - _NAMED_SHARE))
    budget = most // 2
    text = session.view(budget, fill=True).text
    while len(text) > most:
        budget = budget * most // len(text) - MIN_BUDGET // 8
        text = session.view(max(budget, MIN_BUDGET), fill=True).text
    names = "\n".join(session.list_named(text, int(room * _NAMED_SHARE)))
    pieces = _split_lines(f"{text}\n{prompt('hooks/named', PROMPTS, names=names)}" if names else text, size)[:parts]
    return [
        prompt("hooks/after", PROMPTS, part=number, parts=len(pieces), session=session.name, text=piece)
        for number, piece in enumerate(pieces, 1)
    ]


def _split_lines(text: str, size: int) -> list[str]:
    """The text in pieces of whole lines, each of at most `size` characters. A longer line is cut."""
    pieces = [""]
    for line in text.split("\n"):
        for stretch in (line[start : start + size - 1] for start in range(0, max(len(line), 1), size - 1)):
            if len(pieces[-1]) + len(stretch) + 1 > size:
                pieces.append("")
            pieces[-1] += stretch + "\n"
    return pieces


def _read_event(host: str, raw: bytes) -> HookEvent:
    try:
        payload = without_keys(json.loads(raw))
        name, session = payload["hook_event_name"], payload["session_id"]
        path = Path(os.path.expanduser(payload.get("transcript_path") or os.devnull))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"that is no event of {host} ({error!r}): give it the JSON that the host writes") from error
    return HookEvent(str(name), str(session), path, payload)
