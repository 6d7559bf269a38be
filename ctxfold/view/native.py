"""Renders a view as messages with real calls and results, for a loop that calls tools through a provider's API.

Steps shown raw become calls with their results; everything else is text on the user's side. The API's form spells out
arguments and names each call twice. If it breaks the budget, the oldest steps become text too, several at a time, so
that the messages before them seldom change.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.log.lines import AI, USER, Line
from ctxfold.messages import Call, Item, Message, Result, Text
from ctxfold.messages.apis import ANTHROPIC, CACHE_MARK, OPENAI, cache_marks
from ctxfold.prompts import prompt
from ctxfold.tokens import count, head
from ctxfold.view.fit import Parts, Shown

_AT_ONCE = 8
"""Steps become text in groups of so many, so that the border between text and calls seldom moves."""
_LEAST = 24
"""o200k tokens of an argument that is never cut."""
_OVERHEAD = 12
"""o200k tokens that the form of one call and its result costs, besides its words."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call as it was recorded, with the addresses of its results."""

    ref: str
    name: str
    args: Any
    results: tuple[str, ...] = ()


CallLog = Callable[[Sequence[int]], Mapping[int, Sequence[LoggedCall]]]
"""Reads the calls of steps from the log."""


def read_no_calls(_steps: Sequence[int]) -> Mapping[int, Sequence[LoggedCall]]:
    """The log of a view that has none: every step is text."""
    return {}


@dataclass(frozen=True, slots=True)
class Native:
    """What a view's messages are made of: its parts, the o200k tokens they may cost, and the log of calls."""

    parts: Parts
    room: int
    log: CallLog = read_no_calls


def as_anthropic(native: Native, say: str) -> list[dict[str, Any]]:
    """The view as messages of Anthropic's API, with marks for its prompt cache; `say` is the user's newest message."""
    stable, volatile = write_messages(native)
    encoded = ANTHROPIC.encode(_join_roles(_close([*stable, *volatile], say)))
    blocks = [block for message in encoded for block in message["content"]]
    for at in cache_marks(sum(len(message.items) for message in stable)):
        blocks[at].update(CACHE_MARK)
    return encoded


def as_openai(native: Native, say: str) -> list[dict[str, Any]]:
    """The view as messages of OpenAI's chat completions, each with one text; `say` is the user's newest message."""
    stable, volatile = write_messages(native)
    messages: list[Message] = []
    for message in _join_roles(_close([*stable, *volatile], say)):
        rest = (item for item in message.items if not isinstance(item, Text))
        messages.append(replace(message, items=(Text(message.text), *rest)))
    return OPENAI.encode(messages)


def write_messages(native: Native) -> tuple[list[Message], list[Message]]:
    """The messages of a view within its room: those that the next view repeats, and its changing end."""
    parts = native.parts
    logged = native.log([block.steps[0] for block in parts.blocks if _is_raw(block)])
    front, *texts = parts.texts()
    blocks = list(zip(parts.blocks, texts[: len(parts.blocks)], strict=True))
    written = [
        _write_step(block, text, logged.get(block.steps[0], ())) if _is_raw(block) else _say(text)
        for block, text in blocks
    ]
    end = _say(parts.end)
    costs = [_cost(messages) for messages in written]
    left = native.room - _cost([*_say(front), *end]) - sum(costs)
    for start in range(0, len(written), _AT_ONCE):
        if left >= 0:
            break
        for at in range(start, min(start + _AT_ONCE, len(written))):
            plain = _say(texts[at])
            left += costs[at] - _cost(plain)
            written[at] = plain
    return [*_say(front), *(message for messages in written for message in messages)], end


def _say(text: str) -> list[Message]:
    return [Message("user", (Text(text),))] if text.strip() else []


def _cost(messages: Iterable[Message]) -> int:
    """o200k tokens of messages."""
    return sum(2 + sum(map(_cost_item, message.items)) for message in messages)


def _cost_item(item: Item) -> int:
    if isinstance(item, Call):
        return count(item.name) + count(json.dumps(item.args, ensure_ascii=False)) + _OVERHEAD
    return count(item.text) + isinstance(item, Result)


def _close(messages: Sequence[Message], say: str) -> list[Message]:
    """The messages with the user's newest one at the end. If the assistant spoke last, the user tells it to go on."""
    if say.strip():
        return [*messages, *_say(say)]
    return [*messages, *_say(prompt("go_on"))] if messages and messages[-1].role == "assistant" else [*messages]


def _join_roles(messages: Iterable[Message]) -> list[Message]:
    """The messages with neighbours of one role joined: both APIs want roles to alternate."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            joined[-1] = replace(joined[-1], items=(*joined[-1].items, *message.items))
        else:
            joined.append(message)
    return joined


def _is_raw(block: Shown) -> bool:
    """Whether a block is one step in full, or shortened by a view alone, or folded alone without a summary."""
    return len(block.steps) == 1 and not block.summary


def _write_step(block: Shown, text: str, calls: Sequence[LoggedCall]) -> list[Message]:
    """A raw step as messages: its text, its calls and their results."""
    answers = {ref: call.ref for call in calls for ref in call.results}
    called = frozenset(call.ref for call in calls)
    shown: dict[str, list[Line]] = defaultdict(list)  # the lines of each call's results, of each speaker, and the rest
    for line in block.lines:
        if line.ref in answers and line.kind in ("data", "text"):
            shown[answers[line.ref]].append(line)
        elif line.ref not in called:
            shown[line.kind if line.kind in ("user", "say") else "rest"].append(line)
    messages = _say("\n".join(_drop_marker(line.text, USER) for line in shown["user"]))
    speech = "\n".join(_drop_marker(line.text, AI) for line in shown["say"]).strip()
    acts = [Call(call.name, _cut_arguments(call, block), _call_id(call.ref)) for call in calls]
    if speech or acts:
        messages.append(Message("assistant", (Text(speech), *acts) if speech else (*acts,)))
    if calls:
        results = (Result(_call_id(call.ref), _result_text(call, shown[call.ref])) for call in calls)
        messages.append(Message("user", tuple(results)))
    messages += _say("\n".join(_address_lines(shown["rest"])))
    return messages or _say(text)


def _call_id(ref: str) -> str:
    """A call's id: its address, which no other call has; hosts use their own ids twice."""
    return ref.replace(".", "_")


def _cut_arguments(call: LoggedCall, block: Shown) -> dict[str, Any]:
    """A call's arguments: whole if its step is, else with long texts cut to the room that the view gave the call."""
    args = call.args if isinstance(call.args, dict) else {"value": call.args}
    if block.whole:
        return args
    room = max(sum(line.tokens for line in block.lines if line.ref == call.ref), _LEAST)
    cut: dict[str, Any] = {}
    for key, value in args.items():
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        cut[key] = value if count(words) <= room else f"{head(words, room)} … ({call.ref})"
    return cut


def _result_text(call: LoggedCall, lines: Sequence[Line]) -> str:
    """The result of a call after its address, as much of it as the view shows."""
    if lines:
        return "\n".join(_address_lines(lines))
    return f"[left out; recall {call.results[0]}]" if call.results else "[no result]"


def _address_lines(lines: Iterable[Line]) -> list[str]:
    """The texts of lines without their marks, the first of each record after its address."""
    addressed: list[str] = []
    ref = ""
    for line in lines:
        text = _MARK.sub("", line.text)
        addressed.append(text if line.ref == ref else f"{line.ref} {text}")
        ref = line.ref
    return addressed


_MARK = re.compile(r"^< ", re.MULTILINE)


def _drop_marker(text: str, marker: str) -> str:
    return text.removeprefix(marker).removeprefix(" ")
