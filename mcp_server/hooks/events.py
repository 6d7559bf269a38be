"""Answers a host's event: reads the transcript so far into the session, then bounds a result or gives back what was kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxfold import Called, Session, ToolAnswered
from ctxfold.config import default_store
from ctxfold.errors import InputError
from ctxfold.session.handover import drop_parts, hand_over, keep_parts, take
from ctxfold.session.transcripts import HOSTS, Entry, HostCompacted, Transcript, name_conversation, without_keys
from ctxfold.tokens import MIN_BUDGET, count
from ctxfold.view.result import LEAST, NOWHERE, Result, bounded
from mcp_server.prompts import fill_prompt

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


_BEFORE = 2_500
"""o200k tokens of the view that goes into the summary's prompt."""


_NAMED = 0.2
"""Of what is given after it, the share for what calls named and the view leaves out."""


def kept_before(session: Session) -> str:
    """What the summary must not lose."""
    return fill_prompt("hooks/before", session=session.name, view=session.view(_BEFORE).text)


def kept_after(session: Session, parts: int, size: int) -> list[str]:
    """The view of all that was said before, behind it what calls named that it leaves out, cut between lines into at most `parts` of `size` characters."""
    room = size * parts - (size // 4 if parts > 1 else 0)  # cut between lines, parts leave some of their ends
    most = int(room * (1 - _NAMED))
    budget = most // 2
    text = session.view(budget).text
    while len(text) > most:
        budget = budget * most // len(text) - MIN_BUDGET // 8
        text = session.view(max(budget, MIN_BUDGET)).text
    names = "\n".join(session.named(text, int(room * _NAMED)))
    cut = _cut(f"{text}\n{fill_prompt('hooks/named', names=names)}" if names else text, size)[:parts]
    return [
        fill_prompt("hooks/after", part=at, parts=len(cut), session=session.name, text=each)
        for at, each in enumerate(cut, 1)
    ]


def put_back(session: Session, size: int) -> str:
    """What `restore` put back, as much of it as one part of some characters holds; empty where it was taken out again."""
    made = session.intent.extraction
    if made is None or made.cause != "compaction":
        return ""
    told = "".join(f"{each.ref}\n{each.text}\n" for each in made.extracts)
    return fill_prompt("hooks/restored", session=session.name, text=_cut(told, size)[0])


def tell_idle(session: Session, tokens: object) -> str:
    """What the user is told where the host's cache has expired, so that its whole history of so many tokens is paid for again."""
    size = f"{tokens:,} tokens" if isinstance(tokens, int) else "this conversation"
    return fill_prompt("hooks/idle", session=session.name, size=size)


def _cut(text: str, size: int) -> list[str]:
    """The text in parts of whole lines; a line longer than a part is cut."""
    made = [""]
    for line in text.split("\n"):
        for piece in (line[at : at + size - 1] for at in range(0, max(len(line), 1), size - 1)):
            if len(made[-1]) + len(piece) + 1 > size:
                made.append("")
            made[-1] += piece + "\n"
    return made


@dataclass(frozen=True, slots=True)
class HookCall:
    """A call that was just answered: its id, the tool, the arguments, and the answer in the host's own shape."""

    id: str
    tool: str
    args: Any
    answer: Any


@dataclass(frozen=True, slots=True)
class Spelling:
    """The forms of one host.

    Attributes:
        call: the call of a `PostToolUse` event.
        replaced: the answer that puts another result in place, which has the shape of the one that came.
        context: the answer that adds text for the model, for the event's name and the text.
        summing: the answer whose text joins the prompt of the host's summary; None where the host takes none.
        parts: in how many parts it takes a view, and characters of one that it takes whole.
        late: whether a host tells of a compaction by its transcript alone: then the view comes with the next prompt.
        names: its names of events, each with the one used here, where they differ.
    """

    call: Callable[[Mapping[str, Any]], HookCall]
    replaced: Callable[[Any], dict[str, Any]]
    context: Callable[[str, str], dict[str, Any]]
    summing: Callable[[str], str] | None = str
    parts: tuple[int, int] = (3, 9_000)
    late: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


def _call(payload: Mapping[str, Any]) -> HookCall:
    name, args = str(payload.get("tool_name", "tool")), payload.get("tool_input", {})
    answer = payload.get("tool_response")
    if isinstance(answer, dict) and "llmContent" in answer:  # gemini-cli's other half is for the screen
        answer = answer["llmContent"]
    said = payload.get("tool_use_id") or payload.get("call_id")
    return HookCall(str(said) if said else _digest(name, args, answer), name, args, answer)


def _digest(*parts: Any) -> str:
    """An id for a call that the host gave none: the same call with the same answer has the same."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def _replaced_in_shape(answer: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": answer}}


def _replaced_by_reason(answer: Any) -> dict[str, Any]:
    """Codex and gemini-cli take no other output; the reason of a hook that blocks stands in the result's place, and the run goes on."""
    return {
        "decision": "block",
        "reason": answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False),
    }


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _plain(answer: Any) -> dict[str, Any]:
    return {"answer": answer}


_WIDE = (1, 27_000)
"""Of hosts that cut nothing, as much as the others take in three parts."""
_GEMINI = {
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "PreCompress": "PreCompact",
    "AfterAgent": "Stop",
}

SPELLINGS: Mapping[str, Spelling] = {
    "claude-code": Spelling(_call, _replaced_in_shape, _context),
    "codex": Spelling(_call, _replaced_by_reason, _context),
    "gemini": Spelling(_call, _replaced_by_reason, _context, None, _WIDE, True, _GEMINI),
    "opencode": Spelling(_call, _plain, lambda _, text: _plain(text), lambda text: json.dumps(_plain(text)), _WIDE),
}


BUDGET = 2_000
"""o200k tokens that a result may cost."""


def bound_result(session: Session, call: HookCall) -> Any | None:
    """Record a call and its whole result, of which views show the bounded form; the result with its long texts bounded, None where it has none."""
    every = _texts(call.answer)
    texts = [text for text in dict.fromkeys(every) if count(text) > BUDGET]
    if not texts:
        return None
    need, each = " ".join(_texts(call.args)), max(BUDGET // len(texts), LEAST)
    made = {text: bounded(Result(text, NOWHERE), need, each) for text in texts}
    alone = every == texts
    whole, shown = (
        (texts[0], made[texts[0]].body)
        if alone
        else map(_dump, (call.answer, _with(call.answer, {text: short.body for text, short in made.items()})))
    )
    entries: list[Entry] = [Called(call.id, call.tool, call.args), ToolAnswered(call.id, whole, shown)]
    ref = str(list(session.record_transcript(entries))[-1])
    note = fill_prompt("hooks/replaced", session=session.name, ref=ref)
    return _with(call.answer, {text: f"{short.at(ref).text}\n{note}" for text, short in made.items()})


def _dump(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _texts(value: Any) -> list[str]:
    """The texts in a value, in their order."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []


def _with(value: Any, made: dict[str, str]) -> Any:
    """The value with these texts in place of those."""
    if isinstance(value, str):
        return made.get(value, value)
    if isinstance(value, dict):
        return {key: _with(each, made) for key, each in value.items()}
    return [_with(each, made) for each in value] if isinstance(value, list) else value


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
                return "" if bounded is None else _dump_events(spell.replaced(bounded))
            case "PreCompact":
                return "" if spell.summing is None else spell.summing(kept_before(session))
            case "SessionStart" if event.payload.get("source") == "compact":
                every = kept_after(session, *spell.parts)
                text = every[at - 1] if at <= len(every) else ""
            case "SessionStart" if event.payload.get("prompt_cache_likely_expired") is True and at == 1:
                session.consolidate()
                return _dump_events({"systemMessage": tell_idle(session, event.payload.get("context_tokens"))})
            case "UserPromptSubmit":
                due = take(session.name)
                size = spell.parts[1]
                text = kept_after(session, 1, size)[0] if due == "view" else put_back(session, size) if due else ""
            case _:
                drop_parts(session.name)
                text = ""
        return _dump_events(spell.context(event.name, text)) if text else ""


def prepare_parts(host: str, raw: bytes, kept: Conversations) -> None:
    """Make the answers of the hooks after a compaction from the event before it, and keep them.

    Raises:
        InputError: an unknown host, or an event that cannot be read.
        CtxfoldError: the session cannot be opened.
    """
    event, spell = _read(host, raw), SPELLINGS[host]
    with kept.using(host, event.session) as at_hand:
        session = at_hand.session
        made = [_dump_events(spell.context("SessionStart", text)) for text in kept_after(session, *spell.parts)]
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


def _dump_events(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer)
