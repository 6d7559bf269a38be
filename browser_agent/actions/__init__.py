"""The actions on a page, their outcomes, and `perform`, which does an action and returns its outcome."""

from browser_agent.actions.outcome import ActionResult, Outcome, OutcomeKind
from browser_agent.actions.perform import perform
from browser_agent.actions.union import (
    ACTION,
    Action,
    Answer,
    Back,
    Check,
    Click,
    Dialog,
    Download,
    Drag,
    Extract,
    FieldValue,
    FillForm,
    Find,
    GiveUp,
    Hover,
    Navigate,
    PageAction,
    Press,
    Read,
    Scroll,
    Select,
    Tab,
    Terminal,
    Type,
    Upload,
    WaitFor,
)

__all__ = [
    "ACTION", "Action", "ActionResult", "Answer", "Back", "Check", "Click", "Dialog", "Download", "Drag", "Extract", "FieldValue",
    "FillForm", "Find", "GiveUp", "Hover", "Navigate", "Outcome", "OutcomeKind", "PageAction", "Press", "Read", "Scroll",
    "Select", "Tab", "Terminal", "Type", "Upload", "WaitFor", "perform",
]  # fmt: skip
