"""`cognitive_boosting`: one thought that says what to do differently, at the end of the view. It adds, and changes nothing that stands.

Source: ACR's cognitive boosting: `[Thought]`, one or two sentences that can be acted on, just before the latest situation.
"""

from __future__ import annotations

from ctxfold.guidance import Pin
from ctxfold.prompts import prompt
from ctxfold.refactoring.loops import stuck
from ctxfold.refactoring.values import Added, Case, Refactoring, Refusal
from ctxfold.workspace import Origin

__all__ = ["cognitive_boosting", "unheeded"]


def cognitive_boosting(case: Case, text: str | None, _origin: Origin) -> Refactoring | Refusal:
    """Add a thought.

    Args:
        case: what is looked at.
        text: the thought; None says what failed again and again, or else what is open.
        _origin: who wrote it, which makes no difference here.

    Returns:
        The note, or why there is nothing to say.
    """
    pin = _own(case) if text is None else Pin("thought", text, case.workspace.path_length, (), untrusted=_outside(case))
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


def _own(case: Case) -> Pin | None:
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
