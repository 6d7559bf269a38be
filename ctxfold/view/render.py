"""Renders a workspace as a view that never costs more than its budget.

What is read at every step stands first and only grows at its end, so that a provider's prompt cache stays valid; what changes stands last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxfold.log.lines import GOAL, GOAL_NOW, unposed
from ctxfold.prompts import prompt
from ctxfold.tokens import Budget, count, count_lines
from ctxfold.view.ends import ElsewhereText
from ctxfold.view.fit import Parts, Shown, closed, fit, show, unkept
from ctxfold.view.native import CallLog, Native, as_anthropic, as_openai, read_no_calls
from ctxfold.view.trail import without_repeats
from ctxfold.workspace import Block, Older, Tile, Workspace

__all__ = ["View", "query_of", "render"]


@dataclass(frozen=True, slots=True)
class View:
    """The rendered context for a model.

    Attributes:
        text: all that a model reads.
        messages: the same as Messages API content, one text block a block of the view; marks for the cache are the adapter's.
        stable: how many of those text blocks, from the first, only change when something is folded.
        tokens: o200k tokens of `text`.
        refs: the addresses that stand in it, in order.
        budget: what it had to fit, in tokens of the model named.
        unfolded: o200k tokens the whole path would have cost raw.
        native: what its form for a native tool loop is made of.
    """

    text: str
    messages: list[dict[str, Any]]
    stable: int
    tokens: int
    refs: tuple[str, ...]
    budget: int
    unfolded: int
    native: Native = field(repr=False, compare=False)

    def as_anthropic(self, say: str = "") -> list[dict[str, Any]]:
        """The view as messages of Anthropic's API: steps that stand raw as `tool_use` and `tool_result`, tiles as text of the user's side, cache marks.

        Args:
            say: the user's newest message, where it is not recorded yet.

        Returns:
            Messages that begin and end on the user's side, within the budget but for `say`. The request must define `tools`: the API wants them
            beside calls.
        """
        return as_anthropic(self.native, say)

    def as_openai(self, say: str = "") -> list[dict[str, Any]]:
        """The view as messages of OpenAI's chat completions: steps that stand raw as `tool_calls` and `tool` messages, tiles as text of the user's side.

        Args:
            say: the user's newest message, where it is not recorded yet.
        """
        return as_openai(self.native, say)


def query_of(workspace: Workspace) -> list[str]:
    """Texts that say what the session is about now: the goal and its revisions, the open to-do, the user's newest words, the latest step."""
    said = [line.text for block in workspace.blocks[-8:] for line in block.said]
    latest = workspace.latest
    calls = [line.text for line in latest.lines if line.kind in ("call", "say")] if latest else []
    return [workspace.goal, *workspace.revisions, *(item.text for item in workspace.intent.open), *said[-2:], *calls]


def render(workspace: Workspace, budget: Budget, log: CallLog = read_no_calls) -> View:
    """Render a workspace within a budget.

    Args:
        workspace: what is shown.
        budget: the most the view may cost.
        log: where calls are read for the native form.

    Returns:
        The view; `tokens` never exceeds `budget.tokens`. Whatever it leaves out is at the end of a ref.
    """
    query = query_of(workspace)
    workspace = narrowed(workspace, budget.tokens)
    aim = budget.tokens
    settled = _settled(replace(workspace, blocks=without_repeats(workspace.blocks)))
    if settled.tokens > aim:  # what is named as standing whole may be shortened
        settled = _settled(workspace)
    parts = fit(settled, aim, query)
    while (tokens := count_lines(texts := parts.texts())) > budget.tokens:
        aim -= tokens - budget.tokens + 4
        parts = fit(settled, aim, query)
    messages = [{"role": "user", "content": [{"type": "text", "text": piece} for piece in texts]}]
    refs = parts.refs
    return View(
        "\n".join(texts),
        messages,
        len(texts) - bool(parts.end),
        tokens,
        refs,
        budget.limit,
        workspace.unfolded,
        Native(parts, budget.tokens, log),
    )


REACH = 4
"""Times its budget a view looks back over blocks; one that is larger than the budget counts as one budget, since no more of it can stand."""


def narrowed(workspace: Workspace, budget: int) -> Workspace:
    """The newest blocks within reach of a budget; what lies before them as one stretch, the summaries, the user's words and the findings in it kept. Pure."""
    at, left = len(workspace.blocks), REACH * budget
    while at > 0 and left > 0:
        at -= 1
        left -= min(workspace.blocks[at].tokens, budget)
    if at == 0:
        return workspace
    written = tuple(
        _summary_alone(block) for block in workspace.blocks[:at] if isinstance(block, Tile) and block.summary
    )
    gone = [block for block in workspace.blocks[:at] if not (isinstance(block, Tile) and block.summary)]
    older = _joined(workspace.older, gone) if gone else workspace.older
    words = tuple(line for block in gone for line in block.standing)
    blocks = (*written, *workspace.blocks[at:])
    return replace(workspace, older=older, words=(*workspace.words, *words)[-WORDS:], blocks=blocks)


def _joined(before: Older | None, gone: Sequence[Block]) -> Older:
    """One stretch for what lay too far back already and for blocks behind it."""
    return Older(
        before.first if before else gone[0].steps[0],
        gone[-1].steps[-1],
        sum(len(block.steps) for block in gone) + (before.count if before else 0),
        sum(block.raw for block in gone) + (before.raw if before else 0),
    )


def _summary_alone(tile: Tile) -> Tile:
    """A tile with its summary, and of its lines what outlives what surrounds it."""
    made = replace(tile, lines=tile.standing, whole=False)
    return replace(made, tokens=show(made).tokens)


WORDS = 60
"""Messages of the user, and findings, that outlive the blocks they stood in."""


def _goal_once(block: Shown, goal: str) -> Shown:
    """A block in which the user's words do not say the goal again, which stands before all blocks word for word."""
    said = tuple(
        line._replace(text=text, tokens=count(text))
        if line.kind == "user" and goal and (text := _short_of(line.text, goal)) != line.text
        else line
        for line in block.lines
    )
    return block if said == block.lines else replace(block, lines=said)


def _short_of(said: str, goal: str) -> str:
    """What the user said, with a word for the goal where it begins with that, whole."""
    speaker, _, words = said.partition(" ")
    again = words == goal or words.startswith(f"{goal}\n")
    return f"{speaker} (the goal){words[len(goal) :]}" if again else said


def _settled(workspace: Workspace) -> Parts:
    """Everything in its settled form."""
    goal = unposed(f"{GOAL} {workspace.goal}") if workspace.goal else ""
    opening = "\n".join(text for text in (prompt("legend").strip(), goal) if text)
    older = () if workspace.older is None else (workspace.older,)
    lifted = workspace.intent.lifted
    words = [Shown((), 0, "", (line,), None, False, whole=True) for line in unkept(workspace.words, lifted)]
    blocks = (*words, *(_goal_once(show(block, lifted), workspace.goal) for block in workspace.blocks))
    now = "\n".join(unposed(f"{GOAL_NOW} {text}") for text in workspace.revisions)
    parts = Parts(opening, older, blocks, now, now)
    if not workspace.elsewhere.empty:
        parts = replace(parts, elsewhere=ElsewhereText.of(workspace.elsewhere))
    guidance = workspace.guidance.at(workspace.path_length)
    if workspace.intent.empty and guidance.silent:
        return parts
    return closed(replace(parts, intent=workspace.intent, guidance=guidance), 0)
