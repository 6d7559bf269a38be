"""Translates messages of Anthropic's and OpenAI's APIs and SDKs, places cache marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxfold.errors import InputError
from ctxfold.messages import Call, Codec, Item, Message, Opaque, Result, Role, Text
from ctxfold.text.json import plain, spell_id
from ctxfold.text.secrets import encodable
from ctxfold.tokens import head

_ROLES: Mapping[object, Role] = {"assistant": "assistant", "system": "system", "developer": "system"}
"""Any other role is the user's side."""
_TEXTS = ("text", "input_text", "output_text")
_CALLS = ("tool_use", "function_call", "custom_tool_call", "local_shell_call", "toolCall")
_ANSWERS = ("tool_use_id", "tool_call_id", "toolCallId", "call_id")
"""The keys by which a result names its call."""
_SCHEMAS = ("input_schema", "parameters", "inputSchema")
"""The keys by which a tool's definition gives the schema of its arguments: Anthropic's, OpenAI's, MCP's."""
_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST_NAME = 64
"""Both APIs take tool names of 1 to 64 letters, digits, `_` and `-`."""


def read_block(block: Mapping[str, Any]) -> Item:
    """The item of one content block, in the spelling of any API or host. An unknown block is `Opaque`."""
    kind = str(block.get("type") or "")
    function = block.get("function")
    if isinstance(function, Mapping):
        return read_block({"type": "function_call", "call_id": block.get("id"), **function})
    if kind in _TEXTS and isinstance(block.get("text"), str):
        return Text(block["text"])
    answers = next((block[key] for key in _ANSWERS if isinstance(block.get(key), str)), None)
    name = block.get("name", "local_shell" if kind == "local_shell_call" else None)
    if kind in _CALLS and isinstance(name, str):
        args: object = next((block[key] for key in ("input", "arguments", "action") if key in block), {})
        return Call(name, parse_arguments(args), answers or spell_id(block.get("id")))
    if answers is not None:
        return Result(answers, read_text(block.get("content", block.get("output"))))
    return Opaque(kind, block)


def read_items(content: object) -> tuple[Item, ...]:
    """The items of a message's content, which is a text or a list of blocks. Anything else is left out."""
    if isinstance(content, str):
        return (Text(content),)
    blocks = map(plain, content) if isinstance(content, Sequence) else ()
    return tuple(read_block(block) for block in blocks if isinstance(block, Mapping))


def read_text(content: object) -> str:
    """The text of a result's content: of a string, of a list of blocks, or of another value as JSON."""
    if isinstance(content, Mapping) and "content" in content:
        content = content["content"]
    if content is None or isinstance(content, str | list):
        return Message("user", read_items(content)).text
    return json.dumps(content, ensure_ascii=False)


def parse_arguments(given: object) -> Any:
    """The arguments of a call, which OpenAI's API writes as JSON in a string. Other strings stay as they are."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given or "{}")
    except (ValueError, RecursionError):
        return given


def split_sides(message: Message) -> Iterator[Message]:
    """The message as APIs take it: calls on the assistant's side, results on the user's, before the user's words."""
    results: list[Item] = [item for item in message.items if isinstance(item, Result)]
    calls: list[Item] = [item for item in message.items if isinstance(item, Call)]
    words: list[Item] = [item for item in message.items if not isinstance(item, Call | Result)]
    sides: list[tuple[Role, list[Item]]] = [("assistant", calls), (message.role, [*results, *words])]
    if message.role == "assistant":
        sides = [("assistant", [item for item in message.items if not isinstance(item, Result)]), ("user", results)]
    for role, items in sides:
        if items:
            yield replace(message, role=role, items=tuple(items))


def decode_message(native: Mapping[str, Any]) -> Iterator[Message]:
    """The message of a role and a content, with OpenAI's `tool_calls`, or of an item of OpenAI's Responses API."""
    native = plain(native)
    if "role" not in native:
        item = read_block(native)
        yield Message("user" if isinstance(item, Result) else "assistant", (item,))
        return
    role, called = _ROLES.get(str(native["role"]), "user"), native.get("tool_calls")
    if any(isinstance(native.get(key), str) for key in _ANSWERS):
        yield Message(role, (read_block(native),))
        return
    calls = [read_block(call) for call in called if isinstance(call, Mapping)] if isinstance(called, list) else []
    yield Message(role, (*read_items(native.get("content")), *calls))


def write_blocks(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Items as content blocks of Anthropic's API."""
    return [_write_block(item) for item in items]


def _write_block(item: Item) -> dict[str, Any]:
    match item:
        case Text(text):
            return {"type": "text", "text": encodable(text)}
        case Call(name, args, id):
            given = args if isinstance(args, dict) else {"value": args}
            return {"type": "tool_use", "id": id, "name": _fit_name(name), "input": json.loads(_dump(given))}
        case Result(id, text):
            return {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": encodable(text)}]}
        case Opaque(_, block):
            return dict(block)


def _write_anthropic(message: Message) -> Iterator[dict[str, Any]]:
    for side in split_sides(message):
        yield {"role": "assistant" if side.role == "assistant" else "user", "content": write_blocks(side.items)}


def _write_openai(message: Message) -> Iterator[dict[str, Any]]:
    """A tool message for each result, and one for the rest. One text is a plain string: small servers take no lists."""
    for side in split_sides(message):
        for result in (item for item in side.items if isinstance(item, Result)):
            yield {"role": "tool", "tool_call_id": result.id, "content": encodable(result.text)}
        words = [item for item in side.items if isinstance(item, Text | Opaque)]
        calls = [item for item in side.items if isinstance(item, Call)]
        if not words and not calls:
            continue
        only = encodable(words[0].text) if len(words) == 1 and isinstance(words[0], Text) else None
        native: dict[str, Any] = {"role": side.role, "content": only or (write_blocks(words) if words else None)}
        if calls:
            native["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": _fit_name(call.name), "arguments": _dump(call.args)},
                }
                for call in calls
            ]
        yield native


def _fit_name(name: str) -> str:
    return _UNFIT.sub("_", name)[:_LONGEST_NAME] or "tool"


def _dump(args: object) -> str:
    return encodable(json.dumps(args, ensure_ascii=False))


ANTHROPIC = Codec("anthropic", decode_message, _write_anthropic)
OPENAI = Codec("openai", decode_message, _write_openai)
CACHE_MARK = {"cache_control": {"type": "ephemeral"}}
ANCHOR = 16
"""Every sixteenth block may carry a mark: within the twenty that the server looks back over, and it seldom moves."""


def cache_marks(stable: int) -> frozenset[int]:
    """Which of the `stable` first blocks carry a mark, three at most: the API allows four; the system text takes one.

    The last one, so that the next request reads all of it; the one before, since the last is the latest step and is
    often folded next; and the highest sixteenth below, which stays where it is while the view grows, so that after a
    consolidation, which rewrites from its tile on, the blocks before it are still found.
    """
    ends = {at for at in (stable - 2, stable - 1) if at >= 0}
    anchor = (stable - 1) // ANCHOR * ANCHOR - 1
    return frozenset(ends | {anchor} if anchor >= 0 else ends)


_OPENAI_KEYS = frozenset({"tool_calls", "tool_call_id", "call_id", "function"})

_TOOL, _TOOLS = 60, 2_000
"""o200k tokens of the line of a tool, and of all lines together."""


def describe_tools(definitions: Sequence[Any]) -> list[str]:
    """Return a line for each tool, `name(argument, …): use`, from definitions of either API or of MCP.

    Raises InputError: an entry without a name.
    """
    lines = list[str]()
    for given in map(plain, definitions):
        tool = given.get("function", given) if isinstance(given, Mapping) else {}
        if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
            raise InputError(f"tool {len(lines) + 1} has no name: give definitions as Anthropic's or OpenAI's API do")
        names = next((tool[key].get("properties") or () for key in _SCHEMAS if isinstance(tool.get(key), Mapping)), ())
        about = f": {tool['description']}" if tool.get("description") else ""
        lines.append(" ".join(f"{tool['name']}({', '.join(map(str, names))}){about}".replace("()", "").split()))
    return [head(line, min(_TOOL, _TOOLS // len(lines))) for line in lines]


_HOW = (
    "an assistant's message is a text, a list of content blocks, or a message with content and tool_calls; "
    "give one of these"
)


def read_messages(native: object) -> list[Message]:
    """Decode a message, a list of messages, or an assistant's content blocks: SDK objects or JSON of either API.

    Raises InputError: something else.
    """
    given = plain(native)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        parts = [plain(part) for part in given]
        if any(isinstance(part, Mapping) and "role" in part for part in parts):
            return [message for part in parts for message in read_messages(part)]
        given = {"role": "assistant", "content": parts}
        if not parts or not all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in parts):
            raise InputError(_HOW)
    if not isinstance(given, Mapping) or not {"content", "tool_calls", "type"} & given.keys():
        raise InputError(_HOW)
    return list((OPENAI if _OPENAI_KEYS & given.keys() else ANTHROPIC).decode(given))
