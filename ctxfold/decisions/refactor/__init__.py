"""Refactoring, ACR's six operators on a history: `values`, the `embedded` router and operators, those with a `written` text, `checks`, and `apply`."""

from ctxfold.decisions.refactor.values import OPERATORS, Operator, Refactored, Refactoring, Refusal

__all__ = ["OPERATORS", "Operator", "Refactored", "Refactoring", "Refusal"]
