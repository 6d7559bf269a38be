"""Reads the `<context>` block of a model's reply: the fold and the memory that it wrote without a tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from ctxfold.decisions.fold import FoldDirective, find_stretch
from ctxfold.errors import FoldError, InputError
from ctxfold.text.json import parse_strictly
from ctxfold.workspace import MemoryParts, Workspace

LONGEST = 32_000
"""Characters of a block at most."""
THOUGHT = re.compile(r"\A.*</think>|<think>.*\Z", re.DOTALL)
"""A model's thinking. Its opening tag may be in the prompt."""
FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
"""Fenced code (CommonMark, section 4.5); a fence left open runs to the end."""
_BLOCK = re.compile(r"(?<!`)<context>\s*(\{.*?)(?:</context>|\Z)", re.DOTALL)
"""A block that is used; where words follow the tag, it is talked about."""
_FORM = (
    'write <context>{"fold": {"summary": "...", "first_step": 4, "last_step": 9}, "memory": {"wanted": "..."}}'
    f"</context> with strict JSON, either or both; the parts of a memory are {', '.join(MemoryParts.model_fields)}"
)


class _Context(BaseModel, extra="forbid", strict=True, frozen=True):
    """What a block may hold. `latest` repeats the step, which is recorded from the reply itself."""

    fold: FoldDirective | None = None
    memory: MemoryParts | None = None
    latest: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply, read.

    Attributes:
        directive: the fold that fits the workspace.
        memory: the memory that the reply writes.
        text: the reply as its user may see it, without blocks.
        reason: why a block that was tried cannot be applied, and what to write.
    """

    directive: FoldDirective | None = None
    memory: MemoryParts | None = None
    text: str = ""
    reason: str | None = None


def parse(reply: str, workspace: Workspace) -> Parsed:
    """Read the last well-formed `<context>` block of a reply, outside code and thinking, for a workspace.

        parse(reply, session.workspace).directive

    Never raises: a block that cannot be read or applied leaves its reason.
    """
    hidden = FENCED.sub(_blank, THOUGHT.sub(_blank, reply))
    blocks = list(_BLOCK.finditer(hidden))
    if not blocks:
        return Parsed(text=reply)
    bodies = [parse_strictly(reply[slice(*block.span(1))]) if len(block[1]) <= LONGEST else None for block in blocks]
    body = next((body for body in reversed(bodies) if isinstance(body, dict)), None)
    ends = [0, *(end for block in blocks for end in block.span()), len(reply)]
    text = "\n".join(filter(None, (reply[ends[at] : ends[at + 1]].strip() for at in range(0, len(ends), 2))))
    try:
        context = _Context.model_validate(body)
        directive = None if context.fold is None else _find_fold(context.fold, workspace)
    except ValidationError:
        return Parsed(text=text, reason=f"the context block cannot be read; {_FORM}")
    except InputError as error:
        return Parsed(text=text, reason=str(error))
    return Parsed(directive, context.memory, text)


def _blank(code: re.Match[str]) -> str:
    return " " * len(code[0])


def _find_fold(fold: FoldDirective, workspace: Workspace) -> FoldDirective:
    """Return a fold with its first and last step. Raises FoldError: no text, or steps that cannot be folded."""
    stretch = find_stretch(workspace, fold.first_step, fold.last_step)
    if not (fold.summary or "").strip():
        raise FoldError("the summary is empty; say what was done, found and decided")
    return fold.model_copy(update={"first_step": stretch[0].steps[0], "last_step": stretch[-1].steps[-1]})
