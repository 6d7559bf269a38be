"""The part of a session that minds its intent: plan, extract, attend. `Session` is the one class made of it; it decides nothing and renders nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ctxfold.decisions.intent.triggers import Trigger
from ctxfold.session.attend import attended, triggers
from ctxfold.session.fold import DEFAULT_BUDGET
from ctxfold.session.handle import Current, writing
from ctxfold.session.intent import Selections, Todo, Wanted, extracted, plan
from ctxfold.session.validate import maybe_words, number_of, said_of
from ctxfold.store.protocol import Reading, Store, Writing
from ctxfold.tokens import Budget
from ctxfold.workspace.by import Decider
from ctxfold.workspace.intent import Extraction, Intent

__all__ = ["Minding"]


class Minding:
    """A handle on one branch of a session, and what concerns its intent. Use `Session`.

    Args:
        store: where it is kept.
        now: the branch as this handle knows it.
    """

    def __init__(self, store: Store, now: Current) -> None:
        self._store = store
        self._now = now

    def plan(
        self, summary: str | None = None, todo: Todo | None = None, decider: Decider = "host", cause: str = ""
    ) -> Intent:
        """Set what the session is after (U-Fold's intent).

        Args:
            summary: the dialogue so far, in words; None leaves what there is.
            todo: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`; what is left out stays. None decides it from the user's words and the calls since.
            decider: who wrote what is given.
            cause: why, in a few words for the history; empty lets it be said.

        Raises:
            InputError: a summary that is empty or no text, a to-do that cannot be read, an unknown item, a state that nothing shows, or a decider there
                is not.
        """
        by, why = said_of(decider, cause)
        with self._write() as tx:
            return plan(tx, self._now, maybe_words(summary), todo, by, why)

    def extract(
        self,
        need: str | None = None,
        selections: Selections | None = None,
        budget: int = 400,
        decider: Decider = "host",
        cause: str = "",
    ) -> Extraction:
        """Put lines of the log at the end of the view (U-Fold's extraction).

        Args:
            need: what is wanted, in words; None for what the to-do, the latest message and the constraints are about.
            selections: `{"ref": "s12:40-80", "why"?, "todo"?, "path"?, "facts"?}`, the most wanted first; None lets the log be searched.
            budget: o200k tokens that all of it may cost.
            decider: who chose.
            cause: the trigger that calls for it: what stands in the view is left out then. Empty where somebody asks.

        Raises:
            InputError: selections that cannot be read or of which none names lines that are there, a budget below 16, or another argument that is none
                of its kind. Nothing is changed then.
        """
        (by, why), most = said_of(decider, cause), number_of(budget, "the budget of an extraction")
        with self._write() as tx:
            return extracted(tx, self._now, Wanted(maybe_words(need), selections, most, why), by)

    def attend(self, budget: int = DEFAULT_BUDGET, model: str | None = None, act: bool = True) -> tuple[Trigger, ...]:
        """Plan and extract where a trigger calls for it: the driver's call after it records; it seldom does anything. Returns the triggers.

        Args:
            budget: tokens of the view it is for, at least the least; counted by `model`, None for o200k.
            model: the model that reads the view.
            act: off, only the triggers are named, each once: the caller sees to them.

        Raises:
            BudgetError: a budget below the least, or none.
            InputError: a model that is no text.
        """
        limit = Budget.of(budget, model).tokens
        with self._store.reading() as tx:
            due_now = triggers(tx, self._now, limit, taken=not act)
        if not (due_now and act):
            return due_now
        with self._write() as tx:
            return attended(tx, self._now, limit)

    @contextmanager
    def _read(self) -> Iterator[Reading]:
        """A snapshot in which the session is there, for what does not refresh the branch: that looks for itself. Raises UnknownSession."""
        with self._store.reading() as tx:
            self._now.look(tx)
            yield tx

    def _write(self) -> AbstractContextManager[Writing]:
        return writing(self._store, self._now)
