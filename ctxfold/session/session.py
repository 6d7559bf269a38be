"""A session: the only mutable object. It opens a transaction, lets a pure applier or a recorder work in it, and commits. It renders, ranks and decides nothing.

A handle stands on one branch; two handles on one session, in one process or in two, are both live. Every method may be called from any thread.
Of a session that was deleted under its handle every method raises UnknownSession, whatever bears its name since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from ctxfold.decisions.fold.consolidate import due
from ctxfold.decisions.fold.embedded import Settings
from ctxfold.errors import InputError
from ctxfold.log.records import Origin
from ctxfold.log.refs import parse_ref, parse_step
from ctxfold.session import screenshots as pictures
from ctxfold.session import validate as given
from ctxfold.session.branch import Said, Wish, branched
from ctxfold.session.fold import DEFAULT_BUDGET, consolidated, folded, goal_set
from ctxfold.session.handle import Current
from ctxfold.session.history.branches import Move, check_name
from ctxfold.session.history.commit import head_of
from ctxfold.session.history.events import Event, history, shown
from ctxfold.session.history.redact import Redaction, redact
from ctxfold.session.history.tree import Topic, tree
from ctxfold.session.history.undo import redo, undo
from ctxfold.session.mending import Mending
from ctxfold.session.open import found, opened, store_of
from ctxfold.session.recall import Recalled, recall
from ctxfold.session.record import Draft, drafts, record
from ctxfold.session.search import Hit, search
from ctxfold.store.protocol import Store
from ctxfold.tokens import Budget
from ctxfold.view.render import View, render
from ctxfold.workspace.by import Decider
from ctxfold.workspace.intent import Intent
from ctxfold.workspace.workspace import Tile, Workspace

__all__ = ["Session"]


class Session(Mending):
    """A named, persisted unit of work: one log, one forest. Use `Session.open`.

    Args:
        name: its name.
        store: where it is kept; closed with the session.
        number: its row in the store.
        branch: the branch this handle stands on.
        created: whether this handle made it.
    """

    def __init__(self, name: str, store: Store, number: int, branch: int, created: bool) -> None:
        super().__init__(store, Current(number, branch))
        self.name = name
        self.created = created
        self._number = number
        self._settings = Settings()

    @classmethod
    def open(cls, name: str, goal: str | None = None, store: str | None = None, *, create: bool = True) -> Session:
        """Open a session, or begin one.

        Args:
            name: 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit.
            goal: what it is for. Where the branch on which the handle begins has another goal, a revision of it: branches that left it before keep theirs.
            store: a path, a URL or `:memory:`; None for the configured default.
            create: whether a session that is not there is begun.

        Raises:
            SessionNameError: the name is not one.
            UnknownSession: it is not there and `create` is off.
            InputError: a goal or store that is no text.
            StoreError: the store cannot be used.
        """
        check_name(name)
        words = (given.maybe_words(goal) or "").strip()
        kept = store_of(name, store, create)
        try:
            row, made = opened(kept, name) if create else (found(kept, name), False)
            session = cls(name, kept, row.id, row.current or 1, made)
            if words:
                with session._write() as tx:
                    goal_set(tx, session._now, words)
            return session
        except BaseException:
            kept.close()
            raise

    # What it is

    @property
    def goal(self) -> str:
        """What the session is for, as this branch says: its newest revision; empty when nothing was said. A branch takes along what stood where it left."""
        notes = self.workspace.notes
        return notes[-1].text if notes else ""

    @property
    def branch_name(self) -> str:
        """The branch this handle stands on."""
        with self._read() as tx:
            return head_of(tx, self._number, self._now.branch).name

    @property
    def tip(self) -> int:
        """The last step of this branch, 0 before the first."""
        with self._store.reading() as tx:
            return self._now.refresh(tx).tip

    @property
    def workspace(self) -> Workspace:
        """The working context as a frozen value."""
        with self._store.reading() as tx:
            return self._now.whole(tx)

    @property
    def intent(self) -> Intent:
        """The to-do of this branch, the session's constraints, and what was extracted last."""
        return self.workspace.intent

    @property
    def budget(self) -> int:
        """The o200k tokens its views take where none are said: what was noted last, by any process; 8,000 while nothing was."""
        with self._read() as tx:
            return tx.sessions.budget(self._number) or DEFAULT_BUDGET

    def set_budget(self, budget: int) -> None:
        """Note the tokens its views take where none are said. Raises BudgetError below the least."""
        limit = Budget.of(budget).tokens
        with self._write() as tx:
            self._now.look(tx)
            tx.sessions.keep_budget(self._number, limit)

    # Recording

    def record_turn(self, user: str) -> int:
        """A message of the user: opens a step, or joins the open one. Returns the step. Raises InputError for what is no text."""
        return self._record([Draft("user", "user", given.words_of(user))], fills=False)

    def record_step(
        self, explanation: str = "", calls: Sequence[Mapping[str, Any]] = (), results: Sequence[Mapping[str, Any]] = ()
    ) -> int:
        """What the assistant said, called and got.

        Args:
            explanation: what it said.
            calls: each `{"name", "args", "id"}`; an id may be left out where there is one call.
            results: each `{"id", "text"}`, and where wanted `"origin"` (`tool` or `page`) and `"shown"`, a compact form of the text for views.

        Returns:
            The step: the open one when the user's words opened it, else a new one.

        Raises:
            InputError: an explanation that is no text, or a call or result that is not of that shape.
            RefError: a result that answers no call of the step.
        """
        made = drafts(given.words_of(explanation), given.calls_of(calls), given.results_of(results))
        return self._record(made, fills=True)

    def record_reply(self, text: str) -> int:
        """The assistant's answer: a step without calls, which closes the turn. Returns the step. Raises InputError for what is no text."""
        return self._record([Draft("assistant", "model", given.words_of(text))], fills=True)

    def record_note(self, text: str, origin: Origin = "model") -> int:
        """Something worth keeping that nobody said to anybody: a decision, a conclusion. Returns the step it stands in. Raises InputError for no text or origin.

        Args:
            text: its words.
            origin: who it comes from: `user`, `model`, `tool` or `page`. What a tool or a page says is marked as untrusted in every view.
        """
        return self._record([Draft("note", given.origin_of(origin), given.words_of(text))], fills=False)

    def record_result(
        self,
        step: int,
        call_id: str,
        text: str,
        origin: Origin = "tool",
        shown: str | None = None,
        key: str | None = None,
    ) -> int:
        """A result that came after its step was recorded. Returns the step of the call.

        Args:
            step: the step of the call.
            call_id: the call's id in that step.
            text: the exact text.
            origin: `tool` or `page`.
            shown: a compact form of the text for views; None lets one be made.
            key: an idempotency key: the same key on the same step is taken once.

        Raises:
            RefError: no such step or call.
            InputError: a text or compact form that is no text, another origin, or an id or key that cannot be one.
        """
        number, key = parse_step(step), None if key is None else given.whole_words(key, "the key")
        result = given.results_of([{"id": call_id, "text": text, "origin": origin, "shown": shown}])[0]
        with self._write() as tx:
            self._now.arrived(tx, number, result, key)
        return number

    def _record(self, made: Sequence[Draft], *, fills: bool) -> int:
        with self._write() as tx:
            taken = record(tx, self._now.place(tx), made, fills=fills)
            self._now.took(taken)
            return taken.step.n

    # Deciding

    def fold(
        self,
        summary: str | None = None,
        first_step: int | None = None,
        last_step: int | None = None,
        decider: Decider = "host",
        cause: str = "directive",
    ) -> Tile:
        """Put a tile in place of steps.

        Args:
            summary: what replaces them; None lets the embedded folder write it.
            first_step: the first step; None for the last alone (a micro fold).
            last_step: the last step; None for the latest.
            decider: who decided.
            cause: why, in a few words for the history.

        Returns:
            The tile. The user's words in it, and facts that later lines point at, stay verbatim.

        Raises:
            FoldError, RefError: nothing to fold, a cut through a tile, or a summary longer than what it replaces; a step that is none.
            InputError: a summary or cause that is no text, or a decider there is not.
        """
        directive, said = given.directive_of(summary, first_step, last_step), given.said_of(decider, cause)
        with self._write() as tx:
            return folded(tx, self._now, directive, said, self._settings)

    def consolidate(
        self, budget: int = DEFAULT_BUDGET, model: str | None = None, cause: str = "high water"
    ) -> tuple[Tile, ...]:
        """Fold older steps into one tile, when the cover stands above its high-water mark (70% of the budget).

        Args:
            budget: tokens of the view it is for.
            model: the model those tokens are counted by; None for o200k.
            cause: why, in a few words for the history.

        Returns:
            The tiles made; empty below the mark.

        Raises:
            BudgetError, InputError: a budget below the least, or none; a model or cause that is no text.
        """
        limit, why = Budget.of(budget, model).tokens, given.words_of(cause)
        with self._store.reading() as tx:
            self._now.refresh(tx)
            if due(self._now.workspace, limit, self._settings) is None:
                return ()
        with self._write() as tx:
            return consolidated(tx, self._now, limit, self._settings, why)

    def branch(
        self,
        action: Wish = "auto",
        query: str | None = None,
        at: int | str | None = None,
        to: str | None = None,
        said: Said = ("host", ""),
    ) -> Move:
        """Go where a message belongs, or where one is told to. Call it before the message is recorded.

        Args:
            action: `auto` decides by `query`; `continue` stays; `create` forks at a step; `switch` goes to a branch of any topic; `new_topic`
                begins an empty path; `rename` gives this branch the name `to`.
            query: for `auto`, the message; None for the user's last words on this branch, which stay where they are.
            at: for `create`, the last step the new branch keeps; None for the current tip.
            to: the branch's name; None lets one be given (not for `switch` and `rename`).
            said: who decided, and why in a few words for the history.

        Raises:
            InputError: no such move, nothing to decide by, or a message, step or name that the move has no use for.
            SessionNameError, RefError: a new name, or a step, that is none.
            BranchError: an unknown or taken name, or a step that is not on this branch.
        """
        where, who = (
            (None if at is None else parse_step(at), given.maybe_words(to)),
            given.said_of(*given.pair_of(said)),
        )
        with self._write() as tx:
            return branched(tx, self._now, action, given.maybe_words(query), where, who)

    def undo(self) -> Event:
        """Void the newest decision of this branch; never a record. Returns the decision. Raises UndoError when none is left."""
        with self._write() as tx:
            head, event = undo(tx, self._number, self._now.place(tx).head)
            self._now.stand(head.id)
            return shown(tx, self._number, event, standing=False)

    def redo(self) -> Event:
        """Void the last undo. Returns the decision that stands again. Raises UndoError when there is none."""
        with self._write() as tx:
            head, event = redo(tx, self._number, self._now.place(tx).head)
            self._now.stand(head.id)
            return shown(tx, self._number, event, standing=True)

    # Reading

    def view(self, budget: int = DEFAULT_BUDGET, model: str | None = None) -> View:
        """The rendered context, never above the budget. Commits nothing.

        Args:
            budget: the most it may cost, in tokens of the model; at least `ctxfold.tokens.MIN_BUDGET` o200k tokens.
            model: the model that will read it; None counts o200k tokens.

        Raises:
            BudgetError, InputError: a budget below the least, or none; a model that is no text.
        """
        limit = Budget.of(budget, model)
        with self._store.reading() as tx:
            workspace = self._now.shown(tx, limit.tokens)
        return render(workspace, limit)

    @overload
    def recall(self, ref: str) -> Recalled: ...
    @overload
    def recall(self, ref: None = None, *, query: str, limit: int = 5) -> list[Hit]: ...

    def recall(self, ref: str | None = None, *, query: str | None = None, limit: int = 5) -> Recalled | list[Hit]:
        """The exact text of an address, or the places that hold some words.

        Args:
            ref: `s12`, `s12.2`, `s12.2:40-80`, `s4-s9` or `b7`.
            query: words to look for; give this or a ref.
            limit: how many places at most.

        Raises:
            RefError: not an address, or nothing recorded there.
            InputError: both or neither given, a query that is no text, or a limit that is no number.
        """
        if (ref is None) == (query is None):
            raise InputError("give either a ref such as s12.2 or a query")
        with self._read() as tx:
            if ref is not None:
                return recall(tx, self._number, parse_ref(ref), head_of(tx, self._number, self._now.branch).name)
            return search(tx, self._number, given.words_of(query), given.limit_of(limit, 100))

    def history(self, limit: int = 50) -> list[Event]:
        """What happened, newest first, at most so much. Raises InputError for a limit that is no whole number."""
        with self._read() as tx:
            return history(tx, self._number, given.limit_of(limit))

    def tree(self) -> list[Topic]:
        """The forest: topics and their branches."""
        with self._read() as tx:
            return tree(tx, self._number, self._now.branch)

    def picture(self, step: int, jpeg: bytes) -> None:
        """Keep a picture of a step's page beside the store, for a report: no record, and never in a view. A store in memory keeps none.

        Args:
            step: the step.
            jpeg: the picture, at most 60,000 bytes.

        Raises:
            RefError: a step that is none.
            InputError: it is no bytes, is larger, or cannot be written.
        """
        with self._read():
            pictures.keep(self._store.address, self.name, parse_step(step), jpeg)

    # Ending

    def redact(self, what: str) -> Redaction:
        """Replace bytes by a tombstone of their length, everywhere: log, tiles, ledger, search. The one exception to losslessness.

        The session's pictures go with it: what they show cannot be told.

        Args:
            what: a ref of a step, record or lines, or else a regular expression whose matches are replaced.

        Raises:
            RefError: a ref that names nothing.
            InputError: a pattern that is no regular expression, or matches nothing.
            StoreError: it is redacted, but the old bytes could not be taken out of the file yet; the message names the next move.
        """
        with self._write() as tx:
            done = redact(tx, self._number, self._now.place(tx).head, given.words_of(what))
            self._now.forget()
        pictures.forget(self._store.address, self.name)
        self._store.scrub()
        return done

    def close(self) -> None:
        """Give up the store. Closing twice is harmless."""
        self._store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
