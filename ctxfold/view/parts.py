"""`Parts`, the frozen value between a workspace and its text: the parts of a view in their order."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold.tokens import count
from ctxfold.view.elsewhere import NOTHING, ElsewhereText, refs_of
from ctxfold.view.show import Shown
from ctxfold.workspace.guidance import Guidance
from ctxfold.workspace.intent import Intent
from ctxfold.workspace.workspace import Older, spans

__all__ = ["Parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """The pieces of a view.

    Attributes:
        opening: legend and goal.
        older: stretches of which nothing but an address stands.
        blocks: the cover, each block as it is shown.
        closing: what the end says of the goal's revisions, the intent and guidance.
        now: the goal's revisions alone.
        intent: what `closing` is made of; None where nothing was ever planned or guided.
        guidance: the same.
        elsewhere: what stands elsewhere in the forest.
    """

    opening: str
    older: tuple[Older, ...]
    blocks: tuple[Shown, ...]
    closing: str
    now: str = ""
    intent: Intent | None = None
    guidance: Guidance | None = None
    elsewhere: ElsewhereText = NOTHING

    @property
    def end(self) -> str:
        """What changes at every step: what stands elsewhere, then the intent."""
        return "\n".join(part for part in (self.elsewhere.text, self.closing) if part)

    def texts(self) -> list[str]:
        """The text blocks of the view, in order."""
        front = [self.opening, *map(_bundle, self.older)]
        return [
            "\n".join(text for text in front if text),
            *(block.text for block in self.blocks),
            *([self.end] if self.end else []),
        ]

    @property
    def refs(self) -> tuple[str, ...]:
        """The addresses of steps that stand in it, in order."""
        path = (ref for block in self.blocks if block.steps for ref in spans(block.steps).split(", "))
        return (*map(_where, self.older), *path, *(refs_of(self.elsewhere.held) if self.elsewhere.text else ()))

    @property
    def fixed(self) -> int:
        """o200k tokens of all but the blocks, their seams included."""
        return (
            count(self.opening)
            + sum(count(_bundle(older)) for older in self.older)
            + count(self.closing)
            + self.elsewhere.tokens
            + 6
        )

    @property
    def tokens(self) -> int:
        """o200k tokens of all of it, never less than its text costs but for seams."""
        return self.fixed + sum(block.tokens for block in self.blocks)


def _where(older: Older) -> str:
    return f"s{older.first}" if older.first == older.last else f"s{older.first}-s{older.last}"


def _bundle(older: Older) -> str:
    """What stands for a long stretch of which nothing else stands."""
    return f"[{_where(older)} | {older.count} {'step' if older.count == 1 else 'steps'} | {older.raw} tok | recall {_where(older)}]"
