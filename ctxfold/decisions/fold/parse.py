"""Reads a fold out of a reply in words, for models without tools.

Two forms are known. AgentFold's blog form, with the blocks to fold as addresses of steps (`"s4"`, `"s4-s9"`) or numbers of tiles (`7`, `"b7"`)::

    <context>{"fold": {"type": "deep_consolidation", "target": {"ids": ["s4-s9", "s10"]}, "summary_text": "…"}, "latest": {…}}</context>

and that of the released code, with the steps::

    <compress>{"compress_range": [4, 10], "compress_text": "…"}</compress>

The last well-formed block outside code and outside thinking is the directive: closed, nothing nested, one JSON object. What is said of `latest` is
checked and not used: the log has it. Whatever else is wrong with that block, nothing is folded and the reason says why.
Source: AgentFold (arXiv 2510.24699), section 3 and its released inference code; the blog's serialisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.decisions.fold.directive import FoldDirective
from ctxfold.decisions.fold.request import wanted
from ctxfold.decisions.fold.tags import Marked, marked
from ctxfold.errors import InputError
from ctxfold.workspace.workspace import Workspace

__all__ = ["Compliance", "Parsed", "parse"]


@dataclass(frozen=True, slots=True)
class Compliance:
    """How well a model keeps to the form; those of several replies add up.

    Attributes:
        replies: replies read.
        folds: those that held a directive which can be applied.
        silent: those that asked for no fold.
        refused: those whose directive, or attempts at one, cannot be applied.
        malformed: blocks passed over because they are not well-formed.
    """

    replies: int = 0
    folds: int = 0
    silent: int = 0
    refused: int = 0
    malformed: int = 0

    def __add__(self, other: Compliance) -> Compliance:
        return Compliance(
            self.replies + other.replies,
            self.folds + other.folds,
            self.silent + other.silent,
            self.refused + other.refused,
            self.malformed + other.malformed,
        )

    @property
    def rate(self) -> float:
        """The share of attempts that can be applied, from 0 to 1; 1 where nothing was tried."""
        tried = self.folds + self.refused
        return self.folds / tried if tried else 1.0


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply, read: the directive in it that fits the workspace, if any, and the text as its user may see it, directives taken out.

    `reason`: why there is no directive although one was tried; `compliance`: what this reply adds to the count.
    """

    directive: FoldDirective | None
    text: str
    reason: str | None
    compliance: Compliance


def parse(reply: object, workspace: Workspace) -> Parsed:
    """Read what a model wrote, for a workspace that its directive would be applied to. Nothing a model writes makes it raise."""
    if not isinstance(reply, str):
        return Parsed(None, "", "the reply is not text", Compliance(replies=1, refused=1))
    blocks = marked(reply)
    visible = _without(reply, [block for block in blocks if not block.prose])
    good = [block for block in blocks if block.fault is None]
    malformed = len(blocks) - len(good)
    if good:
        try:
            directive = wanted(good[-1].tag, good[-1].body, workspace)
        except InputError as error:
            return Parsed(None, visible, str(error), Compliance(replies=1, refused=1, malformed=malformed))
        folds = directive is not None
        return Parsed(directive, visible, None, Compliance(1, int(folds), int(not folds), malformed=malformed))
    if blocks:
        return Parsed(None, visible, blocks[-1].fault, Compliance(replies=1, refused=1, malformed=malformed))
    return Parsed(None, visible, None, Compliance(replies=1, silent=1))


def _without(reply: str, blocks: Sequence[Marked]) -> str:
    """A reply without some blocks, and without the blank lines they would leave."""
    if not blocks:
        return reply
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept.append(reply[at : block.start].rstrip() if not kept else reply[at : block.start].strip())
        at = block.end
    return "\n".join(part for part in (*kept, reply[at:].strip()) if part)
