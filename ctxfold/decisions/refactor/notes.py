"""`attention_anchor`: what must not be overlooked, as the very last words of the view. It adds, and says nothing that stands nowhere.

Source: ACR's attention anchor: `[KEY INFO]` as the last content: task, constraints, what is open; no new facts.
"""

from __future__ import annotations

from ctxfold.decisions.refactor.loops import stuck
from ctxfold.decisions.refactor.values import Added, Case, Refactoring, Refusal
from ctxfold.prompts import prompt
from ctxfold.tokens import count, head
from ctxfold.workspace.guidance import Pin
from ctxfold.workspace.intent import Constraint
from ctxfold.workspace.workspace import Origin, Workspace

__all__ = ["AGO", "attention_anchor", "cognitive_boosting", "overlooked", "unheeded"]


AGO = 20
"""Steps after which the words of a constraint count as last shown long ago."""
_EACH, _MOST, _BOUND, _OPEN = 48, 300, 6, 3


def attention_anchor(case: Case, text: str | None, _origin: Origin) -> Refactoring | Refusal:
    """Add the key facts.

    Args:
        case: what is looked at.
        text: what they are; None takes the task, the constraints that hold and what is open, each in its own words.
        _origin: who wrote it, which makes no difference here.

    Returns:
        The note, or why there is nothing to say.
    """
    workspace = case.workspace
    if text is not None:
        outside = workspace.older is not None or any(
            line.untrusted for block in workspace.blocks for line in block.lines
        )
        pin = Pin("key_info", text, workspace.path_length, (), untrusted=outside)
    else:
        own = _own(workspace)
        if own is None:
            return Refusal("attention_anchor", "no goal, no constraint and no open item to point at; plan first")
        pin = own
    standing = workspace.guidance.key_info
    if standing is not None and standing.text == pin.text:
        return Refusal("attention_anchor", "these key facts stand already")
    return Refactoring(
        "attention_anchor", (Added(pin),), "what was last shown long ago" if text is None else "key facts"
    )


def overlooked(case: Case) -> bool:
    """Whether a constraint that holds was last shown long ago, and the key facts do not hold it."""
    workspace = case.workspace
    standing = workspace.guidance.key_info
    held = set() if standing is None else set(standing.refs)
    return any(each.ref not in held for each in _far(workspace)[:_BOUND])


def _far(workspace: Workspace) -> list[Constraint]:
    """The constraints that hold and whose words stand far back, or nowhere whole."""
    places: dict[int, int] = {}
    at = 0
    for block in reversed(workspace.blocks):
        for step in reversed(block.steps):
            places[step] = at
            at += 1
    if not workspace.intent.open and workspace.intent.items:
        return []
    return [each for each in workspace.intent.binding if places.get(_step(each.ref), at) >= AGO]


def _step(ref: str) -> int:
    number = ref.removeprefix("s").partition(".")[0]
    return int(number) if number.isdecimal() else 0


def _own(workspace: Workspace) -> Pin | None:
    """The task, what binds, and what is open, in words that stand in the session."""
    intent = workspace.intent
    goal = (workspace.revisions or (workspace.goal,))[-1]
    bound = [*_far(workspace), *(each for each in reversed(intent.binding) if each not in _far(workspace))][:_BOUND]
    parts = [prompt("refactor_key_task", text=_short(goal))] if goal else []
    parts += [prompt("refactor_key_bound", ref=each.ref, text=_short(each.text)) for each in bound]
    parts += [prompt("refactor_key_open", id=item.id, text=_short(item.text)) for item in intent.open[:_OPEN]]
    while parts and sum(count(part) for part in parts) > _MOST:
        parts.pop()
    if not parts:
        return None
    untrusted = any(item.untrusted for item in intent.open[:_OPEN])
    return Pin("key_info", "\n".join(parts), workspace.path_length, tuple(each.ref for each in bound), untrusted)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if count(flat) <= _EACH else f"{head(flat, _EACH)} …"


def cognitive_boosting(case: Case, text: str | None, _origin: Origin) -> Refactoring | Refusal:
    """Add a thought.

    Args:
        case: what is looked at.
        text: the thought; None says what failed again and again, or else what is open.
        _origin: who wrote it, which makes no difference here.

    Returns:
        The note, or why there is nothing to say.
    """
    pin = (
        _own_cognitive_boosting(case)
        if text is None
        else Pin("thought", text, case.workspace.path_length, (), untrusted=_outside(case))
    )
    if pin is None:
        return Refusal("cognitive_boosting", "nothing failed again and again, and no item of the to-do is open")
    standing = case.workspace.guidance.at(case.workspace.path_length).thought
    if standing is not None and standing.text == pin.text:
        return Refusal("cognitive_boosting", "this thought stands already")
    why = "the same call fails in the same way" if text is None and pin.refs and stuck(case) else "a thought"
    return Refactoring("cognitive_boosting", (Added(pin),), why)


def unheeded(case: Case) -> bool:
    """Whether a call fails again and again and no thought speaks of its last failure yet."""
    acts = stuck(case)
    standing = case.workspace.guidance.at(case.workspace.path_length).thought
    return bool(acts) and (standing is None or not set(standing.refs) & {act.result for act in acts})


def _own_cognitive_boosting(case: Case) -> Pin | None:
    acts = stuck(case)
    if acts:
        refs = tuple(act.result for act in acts)
        words = prompt("refactor_thought_stuck", refs=" and ".join(refs[-2:]))
        return Pin("thought", words, case.workspace.path_length, refs[-2:])
    items = case.workspace.intent.open
    if not items:
        return None
    words = prompt("refactor_thought_open", item=items[0].id, text=" ".join(items[0].text.split()))
    refs = (items[0].ref,) if items[0].ref else ()
    return Pin("thought", words, case.workspace.path_length, refs, untrusted=items[0].untrusted)


def _outside(case: Case) -> bool:
    """Whether what is told from outside may derive from a tool or a page."""
    workspace = case.workspace
    return workspace.older is not None or any(line.untrusted for block in workspace.blocks for line in block.lines)
