"""The arguments of a tool out of a reply in words, for models without tools: one form, read strictly. It validates no decision and guesses nothing.

The form is that of the released AgentFold code and of the common local runtimes::

    <tool_call>{"name": "decide", "arguments": {…}}</tool_call>

The last such block outside thinking and outside fenced code counts. Where there is none, a reply that is one JSON object and nothing else is the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ctxfold.errors import InputError
from ctxfold.strict_json import strictly

__all__ = ["spoken"]

_THOUGHT = re.compile(r"\A.*</think>|<think>.*\Z", re.DOTALL)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_LONGEST = 64_000


def spoken(text: str, tool: str) -> Mapping[str, Any]:
    """The arguments that a reply in words gives a tool.

    Args:
        text: the reply.
        tool: the tool's name.

    Raises:
        InputError: it gives none that can be read, with what to write instead.
    """
    said = _THOUGHT.sub("", text[:_LONGEST])
    blocks = _BLOCK.findall(_FENCED.sub("", said))
    if blocks:
        call = _object(blocks[-1])
        if call is None or call.keys() != {"name", "arguments"} or not isinstance(call["arguments"], dict):
            raise InputError(_how(tool, "the last tool_call block is not one"))
        if call["name"] != tool:
            raise InputError(_how(tool, f"the last tool_call block names no `{tool}`"))
        arguments: Mapping[str, Any] = call["arguments"]
        return arguments
    whole = _object(said.strip())
    if whole is None:
        raise InputError(_how(tool, "the reply was words alone"))
    return whole


def _how(tool: str, fault: str) -> str:
    form = f'<tool_call>{{"name": "{tool}", "arguments": {{...}}}}</tool_call>'
    return f"- {fault}: decide by calling `{tool}`; without tools, write {form} with strict JSON inside"


def _object(text: str) -> dict[str, Any] | None:
    """The one JSON object a text is; None where it is anything else."""
    found = strictly(text)
    return found if isinstance(found, dict) else None
