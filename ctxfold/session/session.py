"""`Session`: the public object through which everything of a session is recorded, decided, viewed and recalled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import overload

from ctxfold.decisions.branch import Move, Wish
from ctxfold.decisions.fold import SETTINGS, FoldSettings
from ctxfold.decisions.intent.dropped import Dropped
from ctxfold.decisions.memory import due
from ctxfold.decisions.refactor import Refactored
from ctxfold.decisions.register import Trigger
from ctxfold.errors import InputError
from ctxfold.log import Origin, RecordRef, Ref, StepRef, parse_ref, parse_step
from ctxfold.session import handover
from ctxfold.session import open as screenshots
from ctxfold.session import validate as check
from ctxfold.session.branches import Topic, check_name, tree
from ctxfold.session.calls import read_calls
from ctxfold.session.commits import head_of
from ctxfold.session.compactions import dropped, named, restored
from ctxfold.session.decide import (
    Selections,
    Statements,
    Todo,
    Wanted,
    branched,
    considered,
    consolidated,
    extracted,
    folded,
    goal_set,
    maintained,
    plan,
    plan_given,
    refactored,
    triggers,
    wish_of,
)
from ctxfold.session.handle import Handle
from ctxfold.session.open import handle_of
from ctxfold.session.recall import Hit, Recalled, recall, search
from ctxfold.session.record import Draft, drafts, record
from ctxfold.session.redact import Redaction, redact
from ctxfold.session.register import put_refused
from ctxfold.session.telling import Event, history, shown
from ctxfold.session.tools import SessionTool, session_tools
from ctxfold.session.transcripts.record import record_entries
from ctxfold.session.transcripts.values import Entry
from ctxfold.session.undo import redo, undo
from ctxfold.store.rows import Reading
from ctxfold.tokens import Budget
from ctxfold.view.render import View, render
from ctxfold.workspace import By, Extraction, Intent, Tile, Workspace

__all__ = ["Session"]

_HOST = By()
_HIGH_WATER = By("embedded", "high water")


class Session:
    """A named, persisted unit of work: one log, one forest. Use `Session.open`.

    A handle stands on one branch; two handles on one session, in one process or in two, are both live, and every method may be called from any
    thread. Of a session that was deleted under its handle every method raises UnknownSession. Where a budget is not said, it is the session's own;
    budgets are tokens of `model`, o200k tokens where none is named, and one below the least raises BudgetError. Arguments of a wrong type raise
    InputError, what is no address RefError.

    Args:
        name: its name.
        handle: its branch in its store, and when and how far it folds; the store is closed with the session.
        created: whether this handle made it.
    """

    def __init__(self, name: str, handle: Handle, created: bool) -> None:
        self.name: str = name
        self.created = created
        self.settings = handle.settings
        self._at = handle

    @classmethod
    def open(
        cls,
        name: str,
        goal: str | None = None,
        store: str | None = None,
        *,
        create: bool = True,
        settings: FoldSettings = SETTINGS,
    ) -> Session:
        """Open a session, or begin one.

        Args:
            name: 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit.
            goal: what it is for; a revision where the branch on which the handle begins has another.
            store: a path, a URL or `:memory:`; None for the configured default.
            create: whether a session that is not there is begun.
            settings: when and how far this handle folds.

        Raises:
            SessionNameError: the name is not one.
            UnknownSession: it is not there and `create` is off.
            StoreError: the store cannot be used.
        """
        handle, made = handle_of(
            check_name(name), check.as_text_or_none(goal), store, create, check.as_settings(settings)
        )
        return cls(name, handle, made)

    # What it is

    @property
    def goal(self) -> str:
        """What the session is for, as this branch says: its newest revision; empty when nothing was said."""
        notes = self.workspace.notes
        return notes[-1].text if notes else ""

    @property
    def branch_name(self) -> str:
        """The branch this handle stands on."""
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
            return self._at.whole(tx)

    @property
    def intent(self) -> Intent:
        """The to-do of this branch, the session's constraints, and what was extracted last."""
        return self.workspace.intent

    @property
    def budget(self) -> int:
        """The o200k tokens its views take where none are said: what was set last, by any process; 8,000 while nothing was."""
        with self._at.reading() as tx:
            return self._at.budget(tx)

    def set_budget(self, budget: int) -> None:
        """Set the o200k tokens its views take where none are said."""
        limit = Budget.of(budget).tokens
        with self._at.writing() as tx:
            self._at.look(tx)
            tx.sessions.keep_budget(self._at.session, limit)

    # Recording: commits, returns a ref, never folds

    def record_turn(self, user: str) -> RecordRef:
        """Record a message of the user: it opens a step, or joins the open one."""
        return self._record_one(Draft("user", "user", check.as_text(user)), fills=False)

    def record_step(
        self,
        explanation: object = "",
        calls: Sequence[object] = (),
        results: Sequence[object] = (),
        found: str = "",
    ) -> StepRef:
        """Record what the assistant said, called and got: in the step that the user's words opened, else in a new one.

        Args:
            explanation: what it said: a text, or the message of Anthropic's or OpenAI's SDK with the calls in it.
            calls: each `{"name", "args", "id"}`, or as those SDKs have them; an id may be left out where there is one call.
            results: each `{"id", "text"}`, and where wanted `"origin"` (`tool` or `page`) and `"shown"`, a compact form of the text for views; or the
                `tool_result` blocks and `tool` messages that are sent to those APIs.
            found: what was learned in it and is to stand in every view, in a line or a few: a note of the step.

        Raises:
            RefError: a result that answers no call of the step.
        """
        said, called = check.as_message(explanation)
        wanted = check.as_calls(called) + check.as_calls(calls)
        made = drafts(said, wanted, check.as_results(results), check.as_text(found))
        with self._at.writing() as tx:
            taken = record(tx, self._at.place(tx), made, fills=True)
            self._at.took(taken)
            return StepRef(taken.step.n)

    def record_reply(self, text: str) -> RecordRef:
        """Record the assistant's answer: a step without calls, which closes the turn."""
        return self._record_one(Draft("assistant", "model", check.as_text(text)), fills=True)

    def record_note(self, text: str, origin: Origin = "model") -> RecordRef:
        """Record a finding, something worth keeping that nobody said to anybody: it stands in every view until it is lifted (`plan`). What comes from a `tool` or `page` is marked untrusted in every view."""
        return self._record_one(Draft("note", check.as_origin(origin), check.as_text(text)), fills=False)

    def record_result(
        self,
        step: int | str | Ref,
        call_id: str,
        text: str,
        origin: Origin = "tool",
        shown: str | None = None,
        key: str | None = None,
    ) -> RecordRef:
        """Record a result that came after its step was recorded.

        Args:
            step: the step of the call.
            call_id: the call's id in that step.
            text: the exact text.
            origin: `tool` or `page`.
            shown: a compact form of the text for views; None lets one be made.
            key: an idempotency key: the same key on the same step is recorded once.

        Raises:
            RefError: no such step or call.
        """
        number, once = parse_step(step), None if key is None else check.as_utf8(key, "the key")
        result = check.as_results([{"id": call_id, "text": text, "origin": origin, "shown": shown}])[0]
        with self._at.writing() as tx:
            return self._at.arrived(tx, number, result, once)

    def record_transcript(self, entries: Iterable[Entry]) -> dict[RecordRef, bool]:
        """Record of a host's own transcript what the log does not hold yet, in one commit; an entry is known by its id. Returns the records of the entries, in their order, each with whether it is new. Raises InputError: what is no entry."""
        given = tuple(check.as_entries(entries))
        with self._at.writing() as tx:
            return record_entries(tx, self._at, given)

    def _record_one(self, draft: Draft, *, fills: bool) -> RecordRef:
        with self._at.writing() as tx:
            taken = record(tx, self._at.place(tx), [draft], fills=fills)
            self._at.took(taken)
            return RecordRef(taken.step.n, taken.last)

    # Deciding: each a committed event

    def fold(
        self,
        summary: str | None = None,
        first_step: int | str | Ref | None = None,
        last_step: int | str | Ref | None = None,
        by: By = _HOST,
    ) -> Tile:
        """Put a tile in place of steps. The user's words in it, and facts that later lines point at, stay verbatim.

        Args:
            summary: what replaces them; None lets the embedded folder write it.
            first_step: the first step; None for the last alone (a micro fold).
            last_step: the last step; None for the latest.
            by: who decided, and why.

        Raises:
            FoldError, RefError: nothing to fold, a cut through a tile, or a summary longer than what it replaces; a step that is none.
        """
        directive, who = check.as_directive(summary, first_step, last_step), check.as_by(by)
        with self._at.writing() as tx:
            return folded(tx, self._at, directive, who)

    def consolidate(
        self, budget: int | None = None, model: str | None = None, by: By = _HIGH_WATER, summary: str | None = None
    ) -> tuple[Tile, ...]:
        """Fold older steps in a batch when the cover stands above the budget's high-water mark: the driver's call. Returns the tiles made, none below.

        A `summary` of at most the settings' `front` of the budget stands in front of what is chosen of the steps, in place of the one before. Raises FoldError where it is
        longer, or holds what their log does not.
        """
        who, front = check.as_by(by), check.as_text_or_none(summary)
        with self._at.reading() as tx:
            limit = self._limit(tx, budget, model).tokens
            self._at.refresh(tx)
            if due(self._at.workspace, limit, self._at.settings) is None:
                return ()
        with self._at.writing() as tx:
            return consolidated(tx, self._at, limit, who, front)

    def plan(
        self,
        summary: str | None = None,
        todo: Todo | None = None,
        constraints: Statements | None = None,
        decisions: Statements | None = None,
        by: By = _HOST,
        trigger: Trigger | None = None,
        goal: str | None = None,
    ) -> Intent:
        """Write the register: what the session is after (U-Fold's intent). What is left out stays; with nothing given, nothing is committed.

        Args:
            summary: the dialogue so far, in words; None leaves what there is.
            todo: texts, or `{"id"?, "text"?, "state"?, "evidence"?}` with a state of open, done or dropped; evidence is refs such as `s12`.
            constraints: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}` with a state of holds or lifted. They hold on every branch.
            decisions: the same, of this branch.
            by: who decided, and why.
            trigger: what called for it; None where somebody asked.
            goal: what the session is for; a revision where it has another.

        Raises:
            InputError: an empty summary, entries that cannot be read, an unknown id, or a ref where nothing is recorded.
        """
        who = check.as_by(by)
        given = plan_given(check.as_text_or_none(summary), todo, constraints, decisions, check.as_text_or_none(goal))
        with self._at.writing() as tx:
            goal_set(tx, self._at, given.goal, who.decider)
            return plan(tx, self._at, given, who, check.as_trigger(trigger))

    def extract(
        self,
        need: str | None = None,
        selections: Selections | None = None,
        budget: int = 400,
        by: By = _HOST,
        trigger: Trigger | None = None,
    ) -> Extraction:
        """Put lines of the log at the end of the view (U-Fold's extraction).

        Args:
            need: what is wanted, in words; None for what the to-do, the latest message and the constraints are about.
            selections: `{"ref": "s12:40-80", "why"?, "todo"?, "path"?, "facts"?}`, the most wanted first; None lets the log be searched.
            budget: o200k tokens that all of it may cost, at least 16.
            by: who decided, and why.
            trigger: what called for it, then what stands in the view is left out; None where somebody asked.

        Raises:
            InputError: selections that cannot be read or of which none names lines that are there. Nothing is changed then.
        """
        who, cause = check.as_by(by), check.as_trigger(trigger)
        most = check.as_number(budget, "the budget of an extraction")
        with self._at.writing() as tx:
            return extracted(tx, self._at, Wanted(check.as_text_or_none(need), selections, most, cause), who)

    def maintain(self, budget: int | None = None, model: str | None = None, act: bool = True) -> tuple[Trigger, ...]:
        """Extract where a trigger calls for it: the driver's call after it records; it seldom does anything. Returns the triggers.

        Args:
            budget: tokens of the view it is for.
            model: the model that reads the view.
            act: off, only the triggers are named, each once: the caller acts on them.
        """
        with self._at.reading() as tx:
            limit = self._limit(tx, budget, model).tokens
            due_now = triggers(tx, self._at, limit, taken=not act)
        if not (due_now and act):
            return due_now
        with self._at.writing() as tx:
            return maintained(tx, self._at, limit)

    def restore(self, compaction: int = 0, budget: int = 2_000, by: By = _HOST) -> Extraction:
        """Put what a compaction dropped (as of `dropped`) at the end of the view, as exact lines of the log that cost at most `budget` o200k tokens.

        Raises InputError where there is none of that number, or it dropped nothing that is in use.
        """
        who, most = check.as_by(by), check.as_number(budget, "the budget of what is put back")
        with self._at.writing() as tx:
            return restored(tx, self._at, check.as_number(compaction, "the number of a compaction"), most, who)

    def refactor(
        self,
        operator: str = "auto",
        text: object = None,
        by: By = _HOST,
        dry_run: bool = False,
        budget: int | None = None,
    ) -> Refactored:
        """Mend a history that went bad (ACR): the view alone, never the log. What does not pass its checks is not applied, and the result says why.

        Args:
            operator: state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting or attention_anchor; `auto` lets the router choose, which
                looks for exact repetition and the high-water mark: a healthy history is left alone, and nothing is committed.
            text: what the operator puts in place; None for the embedded rules. For fact_rectify corrections, one a line: `OLD => NEW (s12.2)`.
            by: who decided, and why.
            dry_run: only say what would become of it.
            budget: o200k tokens of the view it is for.

        Raises:
            InputError: no such operator, or a text without one.
        """
        limit = None if budget is None else Budget.of(budget).tokens
        wish = wish_of(check.as_text(operator), text, check.as_by(by), limit)
        if dry_run:
            with self._at.reading() as tx:
                return considered(tx, self._at, wish).result
        with self._at.writing() as tx:
            return refactored(tx, self._at, wish)

    def branch(
        self,
        action: Wish = "auto",
        query: str | None = None,
        at: int | str | Ref | None = None,
        to: str | None = None,
        by: By = _HOST,
    ) -> Move:
        """Go to a branch or topic, or begin one. Call it before the message is recorded.

        Args:
            action: `auto` stays too, and ranks the branches by how alike they are to `query`: `Move.ranked`; `continue`
                stays; `create` forks at a step; `switch` goes to a branch of any topic; `new_topic` begins an empty path; `rename` gives this branch the name `to`.
            query: for `auto`, the message; None for the user's last words on this branch.
            at: for `create`, the last step the new branch keeps; None for the current tip.
            to: the branch's name; None lets one be given (not for `switch` and `rename`).
            by: who decided, and why.

        Raises:
            InputError: no such move, nothing to compare, or a message, step or name that the move has no use for.
            SessionNameError, RefError: a new name, or a step, that is none.
            BranchError: an unknown or taken name, or a step that is not on this branch.
        """
        where = (None if at is None else parse_step(at), check.as_text_or_none(to))
        who = check.as_by(by)
        with self._at.writing() as tx:
            return branched(tx, self._at, action, check.as_text_or_none(query), where, who)

    def tools(self) -> list[SessionTool]:
        """`recall`, `fold`, `plan` and `note` as tools of this session: callables with schemas, for any loop that calls tools."""
        return session_tools(self)

    def undo(self) -> Event:
        """Void the newest decision of this branch; never a record. Returns the decision. Raises UndoError when none is left."""
        with self._at.writing() as tx:
            head, event = undo(tx, self._at.session, self._at.place(tx).head)
            self._at.stand(head.id)
            return shown(tx, self._at.session, event, standing=False)

    def redo(self) -> Event:
        """Void the last undo. Returns the decision that stands again. Raises UndoError when there is none."""
        with self._at.writing() as tx:
            head, event = redo(tx, self._at.session, self._at.place(tx).head)
            self._at.stand(head.id)
            return shown(tx, self._at.session, event, standing=True)

    def keep_refused(self, what: str, replies: Sequence[tuple[str, str]]) -> None:
        """Keep what a model wrote for a decision (`what`) and nobody could apply, each with its fault: `Event.refused` shows it, to mend the prompt by."""
        kept = [(check.as_text(text), check.as_text(why)) for text, why in check.as_pairs(replies)]
        with self._at.writing() as tx:
            place = self._at.place(tx)
            self._at.became(put_refused(tx, place, check.as_text(what), kept), place.workspace, 0)

    # Reading: commits nothing

    def view(self, budget: int | None = None, model: str | None = None) -> View:
        """The rendered context, never above the budget, which is at least `ctxfold.tokens.MIN_BUDGET` o200k tokens."""
        with self._at.reading() as tx:
            limit = self._limit(tx, budget, model)
            workspace = self._at.shown(tx, limit.tokens)
        return render(workspace, limit, partial(read_calls, self._at))

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
        """The exact text of an address, or the places that hold some words.

        Args:
            ref: `s12`, `s12.2`, `s12.2:40-80`, `s4-s9`, `b7`, or what recording returned.
            query: words to look for; give this or a ref.
            limit: how many places at most.
            skip: how many of the best are passed over.
            reading: whether pages come in the form in which a person reads them.

        Raises:
            InputError, RefError: both or neither given; not an address, or nothing recorded there.
        """
        if (ref is None) == (query is None):
            raise InputError("give either a ref such as s12.2 or a query")
        with self._at.reading() as tx:
            if ref is not None:
                here = head_of(tx, self._at.session, self._at.branch).name
                return recall(tx, self._at.session, parse_ref(ref), here, reading)
            first = max(check.as_number(skip, "how many hits to pass over"), 0)
            return search(tx, self._at.session, check.as_text(query), first + check.as_limit(limit, 100))[first:]

    def dropped(self, compaction: int = 0) -> Dropped:
        """What a compaction of the host (its number, 0 for the newest) left out: the user's words, values in use, files. InputError: there is none."""
        with self._at.reading() as tx:
            return dropped(tx, self._at, check.as_number(compaction, "the number of a compaction"))

    def named(self, besides: str, room: int) -> tuple[str, ...]:
        """The ids, paths and numbers that calls named and a text leaves out: those named often and lately, as many as `room` characters hold."""
        with self._at.reading() as tx:
            return named(tx, self._at, check.as_text(besides), check.as_number(room, "the room for names"))

    def history(self, limit: int = 50) -> list[Event]:
        """What happened, newest first, at most `limit` events."""
        with self._at.reading() as tx:
            return history(tx, self._at.session, check.as_limit(limit))

    def tree(self) -> list[Topic]:
        """The forest: topics and their branches."""
        with self._at.reading() as tx:
            return tree(tx, self._at.session, self._at.branch)

    def picture(self, step: int | str | Ref, jpeg: bytes) -> None:
        """Keep a picture of a step's page beside the store, for a report; at most 60,000 bytes, and never in a view."""
        with self._at.reading():
            screenshots.keep(self._at.store.address, self.name, parse_step(step), jpeg)

    # Ending

    def redact(self, what: str, *, names: bool = True) -> Redaction:
        """Replace bytes by a tombstone of their length, everywhere, and drop the session's pictures. The one exception to losslessness.

        Args:
            what: a ref of a step, record or lines, or else a regular expression whose matches are replaced, in common encodings too.
            names: also call a branch, a topic and the session otherwise where its name tells of it.

        Raises:
            RefError: a ref that names nothing.
            InputError: a pattern that is no regular expression, or matches nothing.
            StoreError: it is redacted, but the old bytes could not be taken out of the file yet; the message names the next move.
        """
        with self._at.writing() as tx:
            done = redact(
                tx, self._at.session, self._at.place(tx).head, check.as_text(what), self.name if names else None
            )
            self._at.forget()
        screenshots.forget(self._at.store.address, self.name)
        handover.forget(self._at.store.address, self.name)
        self.name = done.session or self.name
        self._at.store.scrub()
        return done

    def close(self) -> None:
        """Give up the store. Closing twice is harmless."""
        self._at.store.close()

    def _limit(self, tx: Reading, budget: int | None, model: str | None) -> Budget:
        """A budget that was said in tokens of a model, or the session's own in o200k tokens."""
        return Budget.of(self._at.budget(tx)) if budget is None else Budget.of(budget, model)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
