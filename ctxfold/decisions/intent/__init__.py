"""What a session is after, and what of its log serves that: U-Fold. Values here; deciders, rules and appliers in the files beside.

`values` the intent and its decisions, `apply` their appliers; `cues`, `likeness`, `evidence`, `register` and `planning` the embedded planner, `told` a to-do
from elsewhere; `selections` ranges that were chosen, `structured` paths into records, `choosing` the embedded extractor; `showing` the end of a view.
"""

from ctxfold.workspace.intent import Constraint, Extract, Extraction, Intent, IntentChange, Item, Said

__all__ = ["Constraint", "Extract", "Extraction", "Intent", "IntentChange", "Item", "Said"]
