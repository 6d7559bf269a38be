"""How each host spells a call, a replaced result and text for the model in its hooks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SPELLINGS", "HookCall", "Spelling"]


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
