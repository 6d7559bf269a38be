"""Translates transcripts and hook answers of five coding hosts, finds their files, names a conversation's session."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ctxfold.errors import InputError
from ctxfold.messages import Call, Codec, Item, Message, Opaque, Result, Text
from ctxfold.messages.apis import ANTHROPIC, OPENAI, decode_message, read_items, split_sides, write_blocks

# Claude Code: one JSON object a line. `user` and `assistant` hold a message of Anthropic's API.

_OWN_COMMANDS = ("<command-name>", "<local-command-")
"""How a message begins that is a command to Claude Code itself, or the output of one."""


def _read_claude_code(line: Any) -> Iterator[Message]:
    """The message of a line. A subagent's lines, the host's reminders and its own commands are left out."""
    match line:
        case {"isSidechain": True} | {"isMeta": True}:
            return
        case {"type": "user" | "assistant" as role, "uuid": str(name), "message": {"content": content}}:
            if not (isinstance(content, str) and content.startswith(_OWN_COMMANDS)):
                yield Message(role, read_items(content), name, line.get("isCompactSummary") is True)
        case _:
            return


def _write_claude_code(message: Message) -> Iterator[dict[str, Any]]:
    summary = {"isCompactSummary": True} if message.compacted else {}
    for side in split_sides(message):
        role = "assistant" if side.role == "assistant" else "user"
        content = {"role": role, "content": write_blocks(side.items)}
        yield {"type": role, "uuid": message.id, "message": content, **summary}


# Codex: one JSON object a line. `response_item` is an item of OpenAI's Responses API; `event_msg` has the user's words.


def _read_codex(line: Any) -> Iterator[Message]:
    """The message of a line. A user message among the response items may be the host's own context: the events tell."""
    match line:
        case {"type": "response_item", "payload": {"type": kind} as item, "timestamp": str(when)}:
            if not (kind == "message" and item.get("role") != "assistant"):
                yield from (replace(read, id=str(item.get("id") or when)) for read in decode_message(item))
        case {"type": "event_msg", "payload": {"type": "user_message", "message": str(text)}, "timestamp": str(when)}:
            yield Message("user", (Text(text),), when)
        case {"payload": {"item": {"type": "UserMessage", "id": str(name), "content": list(blocks)}}}:
            yield Message("user", read_items(blocks), name)
        case {"type": "compacted", "payload": {"message": str(summary)}, "timestamp": str(when)}:
            yield Message("user", (Text(summary),), when, compacted=True)
        case _:
            return


def _write_codex(message: Message) -> Iterator[dict[str, Any]]:
    if message.compacted:
        yield {"timestamp": message.id, "type": "compacted", "payload": {"message": message.text}}
        return
    for side in split_sides(message):
        words = write_blocks([item for item in side.items if isinstance(item, Text | Opaque)])
        if words and side.role == "assistant":
            content = [{**block, "type": "output_text"} if block.get("type") == "text" else block for block in words]
            yield _codex_line(message.id, {"type": "message", "role": "assistant", "content": content})
        elif words:
            event = {"type": "UserMessage", "id": message.id, "content": words}
            yield {"timestamp": message.id, "type": "event_msg", "payload": {"type": "item_completed", "item": event}}
        for item in side.items:
            if isinstance(item, Call):
                called = {"name": item.name, "arguments": json.dumps(item.args, ensure_ascii=False), "call_id": item.id}
                yield _codex_line(message.id, {"type": "function_call", **called})
            elif isinstance(item, Result):
                output = {"type": "function_call_output", "call_id": item.id, "output": item.text}
                yield _codex_line(message.id, output)


def _codex_line(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"timestamp": name, "type": "response_item", "payload": {"id": name, **item}}


# gemini-cli: one JSON object a line. A message is written again under its id once its calls are answered.

_SNAPSHOT = "<state_snapshot>"
"""What a summary holds that gemini-cli put in place of everything before it."""
_GEMINI_OWN = ("<session_context>", "<hook_context>")
"""How a message begins that gemini-cli adds by itself."""


def _read_gemini(line: Any) -> Iterator[Message]:
    match line:
        case {"type": "user" | "gemini" as kind, "id": str(name), "content": content}:
            parts = [{"text": content}] if isinstance(content, str) else _mappings(content)
            calls = [each for each in _mappings(line.get("toolCalls")) if isinstance(each.get("id"), str)]
            items: list[Item] = [_read_gemini_part(part) for part in parts]
            items += [Call(str(call.get("name")), call.get("args", {}), call["id"]) for call in calls]
            items += [
                Result(call["id"], "\n".join(map(_read_gemini_output, call["result"])))
                for call in calls
                if isinstance(call.get("result"), list)
            ]
            read = Message("user" if kind == "user" else "assistant", tuple(items), name)
            if kind == "user" and _SNAPSHOT in read.text:
                yield replace(read, id=_digest(read.text), compacted=True)
            elif not (kind == "user" and read.text.startswith(_GEMINI_OWN)):
                yield read
        case {"$set": {"messages": list(messages)}}:  # a history that replaces the one before: only its summary is new
            for message in _mappings(messages):
                yield from (replace(read, handle=message) for read in _read_gemini(message) if read.compacted)
        case _:
            return


def _read_gemini_part(part: Mapping[str, Any]) -> Item:
    match part:
        case {"text": str(text)}:
            return Text(text)
        case {"functionResponse": {"id": str(call)}}:
            return Result(call, _read_gemini_output(part))
        case _:
            return Opaque(next(iter(part), ""), part)


def _read_gemini_output(part: object) -> str:
    """The text of one part of a result: the output or the error of a function, else the part as JSON."""
    match part:
        case {"functionResponse": {"response": {"output": str(text)} | {"error": str(text)}}} | {"text": str(text)}:
            return text
        case _:
            return json.dumps(part, ensure_ascii=False)


def _write_gemini(message: Message) -> Iterator[dict[str, Any]]:
    words = [item for item in message.items if not isinstance(item, Call | Result)]
    calls = [item for item in message.items if isinstance(item, Call)]
    results = {
        item.id: {"functionResponse": {"id": item.id, "response": {"output": item.text}}}
        for item in message.items
        if isinstance(item, Result)
    }
    content = [{"text": item.text} if isinstance(item, Text) else item.block for item in words]
    if message.role == "assistant" or calls:
        tool_calls = [
            {"id": call.id, "name": call.name, "args": call.args}
            | ({"result": [results.pop(call.id)]} if call.id in results else {})
            for call in calls
        ]
        yield {"type": "gemini", "id": message.id, "content": content, "toolCalls": tool_calls}
        content = []
    if content or results:
        yield {"type": "user", "id": message.id, "content": [*content, *results.values()]}


# opencode: one JSON document with all messages, as `opencode export SESSION` prints it.


def _read_opencode(document: Any) -> Iterator[Message]:
    match document:
        case {"messages": list(messages)}:
            for message in _mappings(messages):
                yield from _read_opencode(message)
        case {"info": {"id": str(name), "role": "user" | "assistant" as role} as info, "parts": list(parts)}:
            items = [item for part in _mappings(parts) for item in _read_opencode_part(part)]
            items.sort(key=lambda item: isinstance(item, Result))  # calls that were made together stay together
            yield Message(role, tuple(items), name, info.get("summary") is True, handle=document)
        case _:
            return


def _read_opencode_part(part: Mapping[str, Any]) -> Iterator[Item]:
    match part:
        case {"synthetic": True}:
            return
        case {"type": "text", "text": str(text)}:
            yield Text(text)
        case {"type": "tool", "callID": str(call), "tool": str(tool), "state": Mapping() as state}:
            if tool:
                yield Call(tool, state.get("input", {}), call)
            if "output" in state or "error" in state:
                yield Result(call, str(state.get("output", state.get("error"))))
        case _:
            yield Opaque(str(part.get("type")), part)


def _write_opencode(message: Message) -> Iterator[dict[str, Any]]:
    results = {item.id: item.text for item in message.items if isinstance(item, Result)}
    parts: list[Any] = []
    for item in message.items:
        if isinstance(item, Call):
            output = {"output": results.pop(item.id)} if item.id in results else {}
            state = {"input": item.args, **output}
            parts.append({"type": "tool", "tool": item.name, "callID": item.id, "state": state})
        elif not isinstance(item, Result):
            parts.append({"type": "text", "text": item.text} if isinstance(item, Text) else item.block)
    parts += [{"type": "tool", "tool": "", "callID": id, "state": {"output": text}} for id, text in results.items()]
    role = "assistant" if message.role == "assistant" else "user"
    info = {"id": message.id, "role": role} | ({"summary": True} if message.compacted else {})
    yield {"info": info, "parts": parts}


# pi: one JSON object a line, in file order. Where the user went back in the tree, the abandoned branch comes first.


def _read_pi(line: Any) -> Iterator[Message]:
    match line:
        case {"type": "compaction", "id": str(name), "summary": str(summary)}:
            yield Message("user", (Text(summary),), name, compacted=True)
        case {"type": "message", "id": str(name), "message": {"role": "bashExecution", "command": command} as ran}:
            items = (Call("bash", {"command": command}, name), Result(name, str(ran.get("output"))))
            yield Message("assistant", items, name)
        case {"type": "message", "id": str(name), "message": {"role": "user" | "assistant" | "toolResult"} as message}:
            yield from (replace(read, id=name) for read in decode_message(message))
        case _:
            return


def _write_pi(message: Message) -> Iterator[dict[str, Any]]:
    match message:
        case Message(compacted=True):
            yield {"type": "compaction", "id": message.id, "summary": message.text}
            return
        case Message(items=(Call("bash", {"command": command}, name), Result(answered, text))) if (
            name == answered == message.id
        ):
            yield _pi_line(name, role="bashExecution", command=command, output=text)
            return
    for side in split_sides(message):
        results = [item for item in side.items if isinstance(item, Result)]
        for result in results:
            content = [{"type": "text", "text": result.text}]
            yield _pi_line(message.id, role="toolResult", toolCallId=result.id, content=content)
        blocks = [
            {"type": "toolCall", "id": item.id, "name": item.name, "arguments": item.args}
            if isinstance(item, Call)
            else write_blocks([item])[0]
            for item in side.items
            if not isinstance(item, Result)
        ]
        if blocks:
            role = "assistant" if side.role == "assistant" else "user"
            yield _pi_line(message.id, role=role, content=blocks)


def _pi_line(name: str, **message: object) -> dict[str, Any]:
    return {"type": "message", "id": name, "message": message}


def _mappings(values: object) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, Sequence) else []


def _digest(*parts: object) -> str:
    """An id for what its host gave none: the same content has the same id."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:24]


CLAUDE_CODE = Codec("claude-code", _read_claude_code, _write_claude_code)
CODEX = Codec("codex", _read_codex, _write_codex)
GEMINI = Codec("gemini", _read_gemini, _write_gemini)
OPENCODE = Codec("opencode", _read_opencode, _write_opencode)
PI = Codec("pi", _read_pi, _write_pi)
CODECS: Mapping[str, Codec] = {
    codec.name: codec for codec in (ANTHROPIC, OPENAI, CLAUDE_CODE, CODEX, GEMINI, OPENCODE, PI)
}
"""The codec of each dialect."""


# Hooks: a host runs a command of ours at its events. Most name events and fields as Claude Code does.


def read_hook_call(payload: Mapping[str, Any]) -> tuple[Call, Any]:
    """The call of an event that follows a tool's answer, and that answer in the host's own shape."""
    name, args = str(payload.get("tool_name", "tool")), payload.get("tool_input", {})
    answer = payload.get("tool_response")
    if isinstance(answer, dict) and "llmContent" in answer:  # gemini-cli's other half is for the screen
        answer = answer["llmContent"]
    given = payload.get("tool_use_id") or payload.get("call_id")
    return Call(name, args, str(given) if given else _digest(name, args, answer)), answer


def _replace_in_shape(answer: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": answer}}


def _replace_by_reason(answer: Any) -> dict[str, Any]:
    """Codex and gemini-cli take nothing else: the reason of a hook that blocks replaces the result; the run goes on."""
    reason = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return {"decision": "block", "reason": reason}


def _add_context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _wrap_answer(answer: Any) -> dict[str, Any]:
    return {"answer": answer}


@dataclass(frozen=True, slots=True)
class HookForms:
    """The answers that a host takes from a hook.

    Attributes:
        replace: the answer that replaces a tool's result, which it is given in the host's own shape.
        add_context: the answer that shows the model a text, from the event's name and the text.
        join_summary: the answer that joins a text to the prompt of the host's summary; None if the host takes none.
        parts: into how many hooks a view is split, and how many characters of each the host takes whole.
        late: whether only the transcript shows a compaction: then the view comes with the next prompt.
        names: the host's names of events, each with Claude Code's, if they differ.
    """

    replace: Callable[[Any], dict[str, Any]]
    add_context: Callable[[str, str], dict[str, Any]] = _add_context
    join_summary: Callable[[str], str] | None = str
    parts: tuple[int, int] = (3, 9_000)
    late: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


_WIDE = (1, 27_000)
"""For hosts that cut nothing: as much in one part as the others take in three."""
_GEMINI_EVENTS = {
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "PreCompress": "PreCompact",
    "AfterAgent": "Stop",
}
_OPENCODE_HOOKS = HookForms(
    _wrap_answer, lambda _, text: _wrap_answer(text), lambda text: json.dumps(_wrap_answer(text)), _WIDE
)

# Places: where each host keeps its transcripts.

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST = 40
"""Characters of a conversation's id in the name of its session."""


@dataclass(frozen=True, slots=True)
class TranscriptHost:
    """A program that keeps its conversations.

    Attributes:
        codec: reads them; its name is the host's, as `--from` takes it.
        variable: the environment variable that moves the host's folder.
        folder: that folder, below the user's home.
        files: a glob pattern of the transcripts in it; empty if the host only exports them.
        hooks: the answers that it takes from hooks; None if it runs none of ours.
        lines: whether a file has one JSON object a line. Otherwise the whole file is one object.
        id_length: how many characters of a conversation's id the file name has; 0 for all.
    """

    codec: Codec
    variable: str
    folder: str
    files: str
    hooks: HookForms | None
    lines: bool = True
    id_length: int = 0


HOSTS: Mapping[str, TranscriptHost] = {
    host.codec.name: host
    for host in (
        TranscriptHost(CLAUDE_CODE, "CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl", HookForms(_replace_in_shape)),
        TranscriptHost(CODEX, "CODEX_HOME", ".codex", "sessions/**/rollout-*.jsonl", HookForms(_replace_by_reason)),
        TranscriptHost(
            GEMINI,
            "GEMINI_CLI_HOME",
            ".gemini",
            "tmp/*/chats/*.jsonl",
            HookForms(_replace_by_reason, join_summary=None, parts=_WIDE, late=True, names=_GEMINI_EVENTS),
            id_length=8,
        ),
        TranscriptHost(OPENCODE, "", ".local/share/opencode", "", _OPENCODE_HOOKS, lines=False),
        TranscriptHost(PI, "PI_CODING_AGENT_DIR", ".pi/agent", "sessions/**/*.jsonl", None),
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
    """The name of the session for a host's conversation; `named` is its id, or the file name, which holds that id."""
    slug = re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-")
    ids, length = _ID.findall(slug), HOSTS[host].id_length
    if length:
        return f"{host}-{ids[-1][:length] if ids else slug[-length:]}".rstrip("-")
    return f"{host}-{ids[-1] if ids else slug[-_LONGEST:].strip('-')}".rstrip("-")
