"""The part of a session that mends its history: refactor, compare. `Session` is the one class made of it; it decides nothing and renders nothing."""

from __future__ import annotations

from ctxfold.decisions.refactor.values import Refactored
from ctxfold.session.minding import Minding
from ctxfold.session.refactor import ASKED, Forked, considered, forked, refactored, wish_of
from ctxfold.session.validate import number_of, said_of, words_of
from ctxfold.tokens import Budget
from ctxfold.workspace.by import Decider

__all__ = ["Mending"]


class Mending(Minding):
    """A handle on one branch of a session, and what concerns histories that went bad. Use `Session`."""

    def refactor(
        self,
        operator: str = "auto",
        text: object = None,
        decider: Decider = "host",
        cause: str = ASKED,
        dry_run: bool = False,
        budget: int | None = None,
    ) -> Refactored:
        """Mend a history that went bad (ACR): the view alone, never the log. What does not pass its checks is not applied, and the result says why.

        Args:
            operator: state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting or attention_anchor; `auto` lets the router choose, or
                none; `none` notes that a router of the caller's own saw nothing.
            text: what the operator puts in place; None for the embedded rules. For fact_rectify corrections, one a line: `OLD => NEW (s12.2)`.
            decider: who wrote it.
            cause: why, in a few words for the history, where a router of the caller's own chose.
            dry_run: only say what would become of it.
            budget: o200k tokens of the view it is for, by which a router says that it is full; None for the session's own.

        Raises:
            InputError: no such operator or decider, or a cause that is no text.
            BudgetError: a budget below the least, or none.
        """
        limit = None if budget is None else Budget.of(budget).tokens
        wish = wish_of(words_of(operator), text, said_of(decider, cause), limit)
        if dry_run:
            with self._store.reading() as tx:
                return considered(tx, self._now, wish).result
        with self._write() as tx:
            return refactored(tx, self._now, wish)

    def compare(self, event: int | None = None) -> Forked:
        """Fork at a refactoring: a branch as if it had not been, and one right after it. This handle stays where it stands.

        Args:
            event: its number in the history; None for the newest that stands on this branch.

        Raises:
            BranchError: there is no such refactoring, or it was forked at before.
            InputError: an event that is no number.
        """
        wanted = None if event is None else number_of(event, "an event")
        with self._write() as tx:
            return forked(tx, self._now, wanted)
