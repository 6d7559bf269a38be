"""Bounds the result of a call in the shape that it came in; what is replaced is committed first."""

from __future__ import annotations

import json
from typing import Any

from ctxfold import Called, Session, ToolAnswered
from ctxfold.session.transcripts import Entry
from ctxfold.tokens import count
from ctxfold.view.bounded import LEAST, NOWHERE, Result, bounded
from mcp_server.hooks.spelling import HookCall
from mcp_server.prompts import fill_prompt

__all__ = ["BUDGET", "bound_result"]

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
