"""The refactor decision: six operators that mend a view that went bad.

Source: ACR.
"""

from ctxfold.decisions.refactor.values import OPERATORS, Operator, Refactored, Refactoring, Refusal

__all__ = ["OPERATORS", "Operator", "Refactored", "Refactoring", "Refusal"]
