"""Replies of models that do not fit: what any decision may get in place of its arguments, in words and through its tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ctxfold.models import Reply

__all__ = ["malformed"]


def malformed(good: Mapping[str, Any], tool: str, wrong: Mapping[str, Any]) -> list[Reply]:
    """Sixty replies or more of which none may be applied.

    Args:
        good: arguments that would do.
        tool: the tool's name.
        wrong: for each argument that must be there, a value of another type.
    """
    inputs: list[Any] = [
        {},
        {"words": "x"},
        {"error": "declined"},
        {"": 1},
        {tool: 1},
        {"$ref": "#"},
        {"arguments": dict(good)},
        {tool: dict(good)},
        {**good, "more": 1},
    ]
    for name in wrong:
        inputs += [{key: value for key, value in good.items() if key != name}, {**good, name.upper(): 1}]
        inputs += [{**good, name: bad} for bad in (None, [], {}, [good[name], None], {"is": good[name]}, wrong[name])]
    texts = _in_words(json.dumps(good), tool)
    found = [Reply(each) for each in inputs]
    found += [Reply({}, fault="- the reply was words alone", words=text) for text in texts]
    found += [Reply({}, fault=f"- {fault}") for fault in ("it was cut off", "it was declined", "called twice")]
    assert len(found) >= 60, len(found)
    return found


def _in_words(good: str, tool: str) -> list[str]:
    call = f'<tool_call>{{"name": "{tool}", "arguments": {good}}}</tool_call>'
    plain = [
        "",
        " ",
        "none",
        "null",
        "true",
        "7",
        '"x"',
        "[]",
        "I would rather not.",
        "Done!",
        "```",
        "<think>hm",
        "\x00",
    ]
    objects = [
        f"[{good}]", good[:-1], good[1:], good + good, f"{good}\n{good}", f"Here it is: {good}", f"{good} That is all.",
        f"```json\n{good}\n```", good.replace('"', "'"), f"{good[:-1]},}}", f"// so\n{good}", f"{{{good}}}", "[" * 5_000,
        '{"a":' * 3_000, "\ud800" + good, f"{good[:-1]}, {good[1:]}", f"<answer>{good}</answer>",
    ]  # fmt: skip
    calls = [
        call.replace(tool, "burn", 1), call.replace("</tool_call>", ""), call.replace('"arguments"', '"input"'),
        f"<tool_call>{good}</tool_call>", f"<tool_call>{call}</tool_call>", call.replace("{", "[", 1),
        f"{call}<tool_call></tool_call>", f'<tool_call>{{"name": "{tool}"}}</tool_call>', f"```\n{call}\n```",
        f'<tool_call>{{"name": "{tool}", "arguments": "all"}}</tool_call>', f"<think>{call}</think>", f"<think>{call}",
    ]  # fmt: skip
    return plain + objects + calls
