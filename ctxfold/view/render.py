"""Renders a workspace as a view that never costs more than its budget.

The parts that every step reads come first and only grow at their end, so that a provider's prompt cache stays valid.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ctxfold.log import place_of
from ctxfold.log.lines import GOAL, USER, Line, unposed
from ctxfold.prompts import prompt
from ctxfold.tokens import Budget, count
from ctxfold.view.ends import write_ends
from ctxfold.view.fit import Parts, Shown, demote_lifted, fit, join_older, query_of, show
from ctxfold.view.native import CallLog, Native, as_anthropic, as_openai, read_no_calls
from ctxfold.view.trail import drop_repeats
from ctxfold.workspace import Tile, Workspace


@dataclass(frozen=True, slots=True)
class View:
    """The rendered context for a model.

    Attributes:
        text: all that a model reads.
        messages: the same as Messages API content, one text block for each block of the view; adapters add cache marks.
        stable: how many of those text blocks, from the first, change only when something is folded.
        tokens: o200k tokens of `text`.
        refs: the refs in it, in order.
        budget: its limit, in tokens of the model that was named.
        unfolded: o200k tokens that the whole path would have cost raw.
        native: the parts of its form for a native tool loop.
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
        """The view as messages of Anthropic's API, with cache marks: raw steps as calls and results, tiles as text.

        Args:
            say: the user's newest message, if it is not recorded yet.

        Returns:
            Messages that begin and end on the user's side, within the budget but for `say`. The request must define
            `tools`: the API needs them for calls.
        """
        return as_anthropic(self.native, say)

    def as_openai(self, say: str = "") -> list[dict[str, Any]]:
        """The view as messages of OpenAI's chat completions: raw steps as calls and results, tiles as text.

        Args:
            say: the user's newest message, if it is not recorded yet.
        """
        return as_openai(self.native, say)


_REACH = 4
"""Times its budget that a view looks back over blocks. A larger block counts as one budget: no more can be shown."""
_WORDS = 60
"""Messages of the user, and findings, that are kept of blocks too far back."""


def render(workspace: Workspace, budget: Budget, log: CallLog = read_no_calls) -> View:
    """Render a workspace within a budget.

    Args:
        workspace: the working context.
        budget: the most the view may cost.
        log: reads calls for the native form.

    Returns:
        The view; `tokens` is at most `budget.tokens`. Whatever is left out can be recalled by a ref in it.
    """
    query = query_of(workspace)
    workspace = narrow_blocks(workspace, budget.tokens)
    aim = budget.tokens
    whole = _build_parts(replace(workspace, blocks=drop_repeats(workspace.blocks)))
    if whole.tokens > aim:  # a result named as shown whole may be shortened
        whole = _build_parts(workspace)
    parts = fit(whole, aim, query)
    while (tokens := parts.count()) > budget.tokens:
        aim -= tokens - budget.tokens + 4
        parts = fit(whole, aim, query)
    texts = parts.texts()
    messages = [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}]
    stable, native = len(texts) - bool(parts.end), Native(parts, budget.tokens, log)
    return View("\n".join(texts), messages, stable, tokens, parts.refs, budget.limit, workspace.unfolded, native)


def narrow_blocks(workspace: Workspace, budget: int) -> Workspace:
    """Keep the newest blocks within reach of a budget; of those before them the summaries, the user's words and
    findings. Pure.
    """
    at, left = len(workspace.blocks), _REACH * budget
    while at > 0 and left > 0:
        at -= 1
        left -= min(workspace.blocks[at].tokens, budget)
    if at == 0:
        return workspace
    before = workspace.blocks[:at]
    summaries = tuple(
        _keep_summary(each) for each in before if isinstance(each, Tile) and (each.summary or each.memory)
    )
    gone = [block for block in before if not (isinstance(block, Tile) and (block.summary or block.memory))]
    words = (*workspace.words, *(line for block in gone for line in block.standing))
    older = join_older((workspace.older,) if workspace.older else (), gone) if gone else workspace.older
    return replace(workspace, older=older, words=words[-_WORDS:], blocks=(*summaries, *workspace.blocks[at:]))


def _keep_summary(tile: Tile) -> Tile:
    """A tile with its summary, and of its lines the user's words and findings."""
    kept = replace(tile, lines=tile.standing, whole=False)
    return replace(kept, tokens=show(kept).tokens)


def _build_parts(workspace: Workspace) -> Parts:
    """All parts of a view, nothing shortened."""
    goal = unposed(f"{GOAL} {workspace.goal}") if workspace.goal else ""
    opening = "\n".join(text for text in (prompt("legend").strip(), goal) if text)
    lifted = workspace.intent.lifted
    words = [Shown((), 0, "", (line,), None, False, whole=True) for line in demote_lifted(workspace.words, lifted)]
    blocks = (*words, *(_drop_goal(show(block, lifted), workspace.goal) for block in workspace.blocks))
    if not workspace.goal:
        request, blocks = _take_first_request(workspace, blocks)
        opening = "\n".join(filter(None, (opening, request)))
    end = write_ends(workspace, [block.text for block in blocks])
    return Parts(workspace, opening, () if workspace.older is None else (workspace.older,), blocks, end)


def _take_first_request(workspace: Workspace, blocks: tuple[Shown, ...]) -> tuple[str, tuple[Shown, ...]]:
    """The user's first words as the goal of a path whose first step is folded, and the blocks without them."""
    oldest = workspace.blocks[0] if workspace.blocks else None
    first = workspace.older.first if workspace.older else oldest.steps[0] if isinstance(oldest, Tile) else 0
    for line in blocks[0].lines if first else ():
        if line.kind == "user" and place_of(line.ref)[0] == first:
            rest = replace(blocks[0], lines=tuple(each for each in blocks[0].lines if each is not line))
            request = f"{GOAL} {line.text.removeprefix(USER).strip()} ({line.ref}, the first request)"
            return unposed(request), (rest, *blocks[1:])
    return "", blocks


def _drop_goal(block: Shown, goal: str) -> Shown:
    """A block in which a message of the user that begins with the goal names it: the goal is shown in full above all
    blocks.
    """
    lines = tuple(
        line._replace(text=text, tokens=count(text)) if (text := _name_goal(line, goal)) != line.text else line
        for line in block.lines
    )
    return block if lines == block.lines else replace(block, lines=lines)


def _name_goal(line: Line, goal: str) -> str:
    speaker, _, words = line.text.partition(" ")
    again = line.kind == "user" and goal and (words == goal or words.startswith(f"{goal}\n"))
    return f"{speaker} (the goal){words[len(goal) :]}" if again else line.text
