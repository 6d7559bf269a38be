"""Refactoring: six operators on a history that went bad, the router that picks one or none, the checks, and the one applier. It stores nothing and calls no model.

`values` the decision and what it is made from, `apply` its applier; one operator a file; `evidence`, `loops`, `contradictions` and `distil` what they look
at; `router` the choice, `checks` and `grounding` what every result must pass, `parsing` the replies of models, `features` a history as numbers.
"""

from ctxfold.decisions.refactor.values import OPERATORS, Operator, Refactored, Refactoring, Refusal, Route

__all__ = ["OPERATORS", "Operator", "Refactored", "Refactoring", "Refusal", "Route"]
