"""`SessionReader`: the half of a session's handle that changes nothing: view, recall, search, history, tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ctxfold.decisions.extraction import Material
from ctxfold.errors import InputError
from ctxfold.log import Ref, parse_ref
from ctxfold.session import decide, record
from ctxfold.session.branches import Topic, read_tree
from ctxfold.session.commits import head_of
from ctxfold.session.handle import Handle, check_methods
from ctxfold.session.memory import fill_view
from ctxfold.session.recall import Hit, Recalled, list_named, recall, search
from ctxfold.session.sources import list_path, read_evidence, read_records
from ctxfold.session.telling import Event, read_history
from ctxfold.store.rows import Reading
from ctxfold.tokens import Budget
from ctxfold.view.render import View, render
from ctxfold.workspace import Intent, Workspace

_HITS = 100  # the most hits of one search


@check_methods
class SessionReader:
    """Reads a session. `Session` adds what records and decides; budgets, branches and errors are as it says."""

    _at: Handle

    @property
    def goal(self) -> str:
        """The newest revision of this branch's goal; empty without one."""
        goals = self.workspace.goals
        return goals[-1] if goals else ""

    @property
    def branch_name(self) -> str:
        """The branch this handle is on."""
        with self._at.reading() as tx:
            return head_of(tx, self._at.session, self._at.branch).name

    @property
    def tip(self) -> int:
        """The last step of this branch, 0 before the first."""
        with self._at.reading() as tx:
            return self._at.refresh(tx).tip

    @property
    def workspace(self) -> Workspace:
        """The working context as a frozen value."""
        with self._at.reading() as tx:
            return self._at.load_whole(tx)

    @property
    def intent(self) -> Intent:
        """The register: the to-do and decisions of this branch, the session's constraints, the newest extraction."""
        return self.workspace.intent

    @property
    def known_tools(self) -> tuple[str, ...]:
        """The agent's tools, a line each: `name(argument, …): use`; as any process set them last."""
        with self._at.reading() as tx:
            return tuple(tx.cover.newest_note(self._at.session, "tools").splitlines())

    @property
    def budget(self) -> int:
        """The session's own budget in o200k tokens, as any process set it last; 8,000 by default."""
        with self._at.reading() as tx:
            return self._at.budget(tx)

    def list_material(self, need: str | None = None) -> Material:
        """Return the lines for a model that extracts: all since the last extraction, older ones near the need."""
        with self._at.reading() as tx:
            return decide.list_material(tx, self._at, need or "")

    def mark(self, texts: Sequence[str], steps: Sequence[int] = ()) -> list[tuple[str, tuple[str, ...]]]:
        """Return texts with `[not in the log]` after values that the log of steps (all if none) lacks, and these."""
        with self._at.reading() as tx:
            return list(map(read_evidence(tx, self._at.place(tx), steps).mark, texts))

    def list_steps(self, after: int = 0) -> list[int]:
        """Return the steps of this branch's path that come after a step, in path order."""
        with self._at.reading() as tx:
            return list_path(tx, self._at.session, self._at.refresh(tx).tip, after)

    def read_records(self, steps: Sequence[int], *, reading: bool = False, most: int = 0) -> list[Recalled]:
        """Return the records of steps in order, each as `recall` returns it. Of steps with more than `most` characters
        the newest are returned; a record counts for an eighth of that at most. The session is free between two steps.
        """
        return read_records(self._at, steps, reading, most)

    def view(
        self, budget: int | None = None, model: str | None = None, fill: bool = False, at: int | str | None = None
    ) -> View:
        """Render the context, never above the budget, which is at least `ctxfold.tokens.MIN_BUDGET` o200k tokens.

        With `fill`, the past is chosen anew from the log, so that the view takes all of its budget; without, it stays
        the same from view to view, as the last fold left it, and is read from a provider's prompt cache. `at` is an
        event of the history, 12 or `v12`: the view after it, of its branch. Raises RefError: no such event.
        """
        now = self._at if at is None else self._at.make_past_handle(at)
        with now.reading() as tx:
            limit = self._limit(tx, budget, model)
            workspace = now.load_shown(tx, limit.tokens)
            if fill:
                return fill_view(tx, now, workspace, limit, now.read_calls)
        return render(workspace, limit, now.read_calls)

    @overload
    def recall(self, ref: str | Ref, *, reading: bool = False) -> Recalled: ...

    @overload
    def recall(self, ref: None = None, *, query: str, limit: int = 5, skip: int = 0) -> list[Hit]: ...

    def recall(
        self,
        ref: str | Ref | None = None,
        *,
        query: str | None = None,
        limit: int = 5,
        skip: int = 0,
        reading: bool = False,
    ) -> Recalled | list[Hit]:
        """Return the exact text of a ref, or the places that hold the words of a query, best first.

        A ref is `s12`, `s12.2`, `s12.2:40-80`, `s4-s9`, `b7`, or what recording returned; with `reading`, pages come
        as a person reads them. Of the places, `limit` are returned after `skip` better ones. Raises InputError: both or
        neither of ref and query; RefError: not an address, or nothing is recorded there.
        """
        if (ref is None) == (query is None):
            raise InputError("give either a ref such as s12.2 or a query")
        with self._at.reading() as tx:
            if ref is not None:
                here = head_of(tx, self._at.session, self._at.branch).name
                return recall(tx, self._at.session, parse_ref(ref), here, reading)
            skip = max(skip, 0)
            most, workspace = skip + max(1, min(limit, _HITS)), self._at.place(tx).workspace
            return search(tx, self._at.session, query or "", most, lambda _: workspace)[skip:]

    def list_named(self, besides: str, room: int) -> tuple[str, ...]:
        """Return the ids, paths and numbers that calls named and a text does not show, in at most `room` characters."""
        with self._at.reading() as tx:
            return list_named(tx, self._at.session, besides, room)

    def is_view_due(self) -> bool:
        """Return whether the host compacted the conversation after the user's last message."""
        with self._at.reading() as tx:
            return record.is_compacted(tx, self._at.session)

    def history(self, limit: int = 50) -> list[Event]:
        """Return the newest events, newest first, at most `limit`."""
        with self._at.reading() as tx:
            return read_history(tx, self._at.session, max(1, limit))

    def tree(self) -> list[Topic]:
        """Return the forest: topics and their branches."""
        with self._at.reading() as tx:
            return read_tree(tx, self._at.session, self._at.branch)

    def _limit(self, tx: Reading, budget: int | None, model: str | None) -> Budget:
        return Budget.of(self._at.budget(tx)) if budget is None else Budget.of(budget, model)
