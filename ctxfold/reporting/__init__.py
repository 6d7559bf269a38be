"""A session as one page that a person opens: its forest, what its views cost, each step and block. It reads a session and changes nothing."""

from ctxfold.reporting.values import Chapter, Curve, Piece, Report, StepShown, TileShown
from ctxfold.reporting.writing import report_session

__all__ = ["Chapter", "Curve", "Piece", "Report", "StepShown", "TileShown", "report_session"]
