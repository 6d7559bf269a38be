"""`Session`: the public object that records, decides, views and recalls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, overload

from ctxfold.config import FoldSettings, fold_settings, rules_file
from ctxfold.decisions.fold import FoldDirective
from ctxfold.decisions.memory import MemoryDue, choose_batch, find_due, read_memory
from ctxfold.decisions.refactor import OPERATORS, Refactored, read_operator
from ctxfold.decisions.register import Statements, Todo, read_plan
from ctxfold.errors import InputError
from ctxfold.log import Origin, RecordRef, Ref, StepRef, parse_ref, parse_step
from ctxfold.messages import Message
from ctxfold.session import decide, record
from ctxfold.session.branches import Move, Topic, Wish, read_tree
from ctxfold.session.commits import head_of, void_decision
from ctxfold.session.decide import RefactorWanted, Selections
from ctxfold.session.handle import Handle, check, check_methods
from ctxfold.session.memory import consolidate, fill_view, fold_steps, put_memory
from ctxfold.session.open import check_path, check_utf8, forget_pictures, keep_picture, open_handle
from ctxfold.session.recall import Hit, Recalled, list_named, recall, recall_records, search
from ctxfold.session.record import NewRecord
from ctxfold.session.redact import Redaction, redact
from ctxfold.session.register import put_refused
from ctxfold.session.sources import read_evidence
from ctxfold.session.telling import Event, describe_event, read_history
from ctxfold.session.tools import SessionTool, make_tools
from ctxfold.session.transfer import hand_off
from ctxfold.store.rows import Reading
from ctxfold.tokens import Budget
from ctxfold.view.native import LoggedCall
from ctxfold.view.render import View, render
from ctxfold.workspace import By, Extraction, Intent, Memory, Tile, Workspace

Step = int | str | Ref
"""A step as callers name it: its number, `s12`, or the ref that recording returned."""
_HOST = By()
_HIGH_WATER = By("embedded", "high water")
_HITS = 100  # the most hits of one search


@check_methods
class Session:
    """A named, persisted unit of work: one log, one forest. Use `Session.open`.

        session = Session.open("paris-trip", goal="book a hotel")
        session.record_turn("Under 100 EUR, please.")
        print(session.view(2_000).text)

    A handle is on one branch. Several handles on one session, in one process or in many, work side by side, and every
    method may be called from any thread. Budgets are tokens of `model` (o200k tokens if none is named); None means the
    session's own. `by` says who decided, and why. Every method may raise UnknownSession (the session was deleted),
    InputError (an argument of a wrong type), RefError (not an address) and BudgetError (a budget below the least).
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
        settings: FoldSettings | None = None,
        rules: str | os.PathLike[str] | None = None,
    ) -> Session:
        """Open a session, or create it.

        A `name` is 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit. A `goal` revises another one of the
        branch. The `store` is a path, a URL or `:memory:`, None for the configured default; `settings` say when and how
        far this handle folds, None for the table `fold` of the settings file. The bullets and paragraphs of the file
        `rules` are kept as constraints with their source, once; None for those of CTXFOLD_RULES.

        Raises: SessionNameError: not a name. UnknownSession: it does not exist and `create` is off. StoreError: the
            store cannot be used.
        """
        settings = fold_settings() if settings is None else settings
        standing = check_path(rules) if rules is not None else rules_file() if create else None
        return cls(name, *check(open_handle)(name, goal, store, create, settings, standing))

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
    def budget(self) -> int:
        """The session's own budget in o200k tokens, as any process set it last; 8,000 by default."""
        with self._at.reading() as tx:
            return self._at.budget(tx)

    def set_budget(self, budget: int) -> None:
        """Set the session's own budget in o200k tokens."""
        limit = Budget.of(budget).tokens
        with self._at.writing() as tx:
            self._at.look(tx)
            tx.sessions.change(self._at.session, "budget", limit)

    def record(self, messages: Iterable[Message], *, known: bool = False) -> list[RecordRef]:
        """Record messages in one commit, an assistant's words, calls and results as one step. Returns the new records.

            session.record(ctxfold.read_messages([{"role": "user", "content": "Under 100 EUR, please."}]))

        A message with an id is recorded once, so a transcript may be read again as it grows. A late result joins the
        step of its call. System messages and results of unknown calls are left out. `known` also returns the records
        that the log held before. A host's own summary of all before it becomes the memory of these steps.
        """
        given = tuple(messages)
        for message in given:
            if not isinstance(message, Message):
                raise InputError(f"a message is wanted, not {type(message).__name__}; use ctxfold.read_messages")
        with self._at.writing() as tx:
            recorded = record.record_messages(tx, self._at, given)
            summaries = [made for made, is_new in recorded if is_new and (made.key or "").startswith(record.COMPACTION)]
            if summaries and (summary := summaries[-1]).ref is not None:
                memory, step, limit = Memory(report=summary.text), summary.ref.step, self._at.budget(tx)
                put_memory(tx, self._at, limit, memory, step, step, By("host", "compaction"))
            return [made.ref for made, is_new in recorded if made.ref is not None and (is_new or known)]

    def record_turn(self, user: str) -> RecordRef:
        """Record a message of the user. It opens a step, or joins the open one."""
        return self._record_one(NewRecord("user", "user", user), fills=False)

    def record_step(
        self, explanation: object = "", calls: Sequence[object] = (), results: Sequence[object] = (), found: str = ""
    ) -> StepRef:
        """Record the assistant's words, calls and results, in the step that the user's message opened or in a new one.

        An `explanation` is a text, or a message of Anthropic's or OpenAI's SDK with its calls. Each call is `{"name",
        "args", "id"}`, each result `{"id", "text", "origin"?, "shown"?}`, or as those SDKs have them; one call alone
        needs no id, an origin is `tool` or `page`, `shown` is a short form for views. `found` is a finding that every
        view shows: a note of the step. Raises RefError: a result that answers no call of the step.
        """
        records = record.list_new_records(record.read_step(explanation, calls, results))
        records += [NewRecord("note", "model", found)] if found.strip() else []
        with self._at.writing() as tx:
            return StepRef(self._at.record(tx, records, fills=True).step.n)

    def record_reply(self, text: str) -> RecordRef:
        """Record the assistant's answer: a step without calls, which closes the turn."""
        return self._record_one(NewRecord("assistant", "model", text), fills=True)

    def record_note(self, text: str, origin: Origin = "model") -> RecordRef:
        """Record a finding. Every view shows it until `plan` lifts it; of a `tool` or `page` it is marked untrusted."""
        return self._record_one(NewRecord("note", origin, text), fills=False)

    def record_result(
        self,
        step: Step,
        call_id: str,
        text: str,
        origin: Origin = "tool",
        shown: str | None = None,
        key: str | None = None,
    ) -> RecordRef:
        """Record a result that came after its step was recorded. Raises RefError: no such step, or no such call in it.

        `origin` is `tool` or `page`; `shown` is a short form of the text for views, None lets one be made; the same
        `key` on the same step is recorded once.
        """
        number, once = parse_step(step), None if key is None else check_utf8(key, "the key")
        result = record.read_result({"id": call_id, "text": text, "origin": origin, "shown": shown}, "c1")
        with self._at.writing() as tx:
            return self._at.record_late(tx, number, result, once)

    def _record_one(self, new: NewRecord, *, fills: bool) -> RecordRef:
        with self._at.writing() as tx:
            taken = self._at.record(tx, [new], fills=fills)
            return RecordRef(taken.step.n, taken.last)

    def fold(
        self, summary: str | None = None, first_step: Step | None = None, last_step: Step | None = None, by: By = _HOST
    ) -> Tile:
        """Replace steps by a tile. The user's words and the facts in use stay verbatim.

        Without a `summary` the embedded folder writes it; without a `first_step` the last step is folded alone; without
        a `last_step` all up to the latest. Raises FoldError: nothing to fold, a cut through a tile, or a summary longer
        than its steps.
        """
        first, last = (None if step is None else parse_step(step) for step in (first_step, last_step))
        directive = FoldDirective(summary=summary, first_step=first, last_step=last)
        with self._at.writing() as tx:
            return fold_steps(tx, self._at, directive, by)

    def consolidate(
        self,
        budget: int | None = None,
        model: str | None = None,
        by: By = _HIGH_WATER,
        memory: Mapping[str, str] | None = None,
        as_of: int | None = None,
    ) -> tuple[Tile, ...]:
        """Fold older steps if the cover is above the budget's high-water mark: the driver's call.

        A `memory`, as in `remember`, takes the place of the one there is; `as_of`: the latest step that its author had
        read. Returns the tile that was made, if any. Raises StaleDecision: the path has left that step.
        """
        with self._at.reading() as tx:
            limit = self._limit(tx, budget, model).tokens
            self._at.refresh(tx)
            if choose_batch(self._at.workspace, limit, self._at.settings) is None:
                return ()
        with self._at.writing() as tx:
            return consolidate(tx, self._at, limit, by, None if memory is None else read_memory(memory), as_of)

    def remember(
        self,
        memory: Mapping[str, str] | str,
        upto: int | str | None = None,
        budget: int | None = None,
        model: str | None = None,
        by: By = _HOST,
    ) -> Tile:
        """Put a memory in place of the older steps (deep consolidation; AgentFold).

        A `memory` has the parts `wanted`, `laid_down`, `state`, `decided`, `failed`, `said`, `facts`, `open`, `next`,
        as of the latest step that this handle has shown; or it is a report in one text. It replaces the steps up to
        `upto`, by default the last one that `find_due` named, else the one before the latest. Raises InputError: an
        unknown part, or no text at all. FoldError: no step to replace.
        """
        written, last = read_memory(memory), self._at.noticed or None if upto is None else parse_step(upto)
        with self._at.writing() as tx:
            limit = self._limit(tx, budget, model).tokens
            return put_memory(tx, self._at, limit, written, last, None, by)

    def find_due(self, budget: int | None = None, model: str | None = None) -> MemoryDue | None:
        """Return the memory to write now, once for each fold that calls for one; else None."""
        with self._at.reading() as tx:
            limit = self._limit(tx, budget, model).tokens
            self._at.refresh(tx)
            due = find_due(self._at.workspace, limit)
        if due is None or due.steps[-1] == self._at.noticed:
            return None
        self._at.noticed = due.steps[-1]
        return due

    def plan(
        self,
        summary: str | None = None,
        todo: Todo | None = None,
        constraints: Statements | None = None,
        decisions: Statements | None = None,
        by: By = _HOST,
        goal: str | None = None,
    ) -> Intent:
        """Write the register (U-Fold's intent). What is left out stays; without a change nothing is committed.

        Args:
            summary: the dialogue so far, in words.
            todo: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`: open, done or dropped; evidence is refs as `s12`.
            constraints: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}` with a state of holds or lifted.
                They hold on every branch.
            decisions: the same, for this branch.
            by: who decided, and why.
            goal: the purpose of the session; it revises another goal.

        Raises InputError: an empty summary, entries that cannot be read, an unknown id, or a ref of nothing.
        """
        given = read_plan(summary, todo, constraints, decisions, goal)
        with self._at.writing() as tx:
            return decide.set_plan(tx, self._at, given, by)

    def extract(
        self, need: str | None = None, selections: Selections | None = None, budget: int = 400, by: By = _HOST
    ) -> Extraction:
        """Put lines of the log at the end of the view (U-Fold's extraction).

        The log is searched for a `need` in words, by default the to-do, the latest message and the constraints; or
        `selections` name the lines, the most wanted first: `{"ref": "s12:40-80", "why"?, "todo"?, "facts"?}`. All of it
        may cost `budget` o200k tokens, at least 16.

        Raises InputError: selections that cannot be read, or of which none names lines of the log; nothing is changed.
        """
        with self._at.writing() as tx:
            return decide.extract_lines(tx, self._at, need, selections, budget, by)

    def mark(self, texts: Sequence[str], steps: Sequence[int] = ()) -> list[tuple[str, tuple[str, ...]]]:
        """Return texts with `[not in the log]` after values that the log of steps (all if none) lacks, and these."""
        with self._at.reading() as tx:
            return list(map(read_evidence(tx, self._at.place(tx), steps).mark, texts))

    def read_records(self, steps: Sequence[int], *, reading: bool = False, most: int = 0) -> list[Recalled]:
        """Return the records of steps in order, each as `recall` returns it. Of steps with more than `most` characters
        the newest are returned; a record counts for an eighth of that at most. The session is free between two steps.
        """
        newest_first: list[list[Recalled]] = []
        left = most
        for step in reversed(steps):
            with self._at.reading() as tx:
                newest_first.append(recall_records(tx, self._at.session, [step], reading))
            left -= sum(min(len(each.text), most // 8) for each in newest_first[-1])
            if left < 0:
                break
        return [each for records in reversed(newest_first) for each in records]

    def refactor(
        self,
        operator: str = "auto",
        text: object = None,
        by: By = _HOST,
        dry_run: bool = False,
        budget: int | None = None,
    ) -> Refactored:
        """Mend the view where it went bad (ACR); the log stays. A refactoring that fails its checks is not applied.

        The operators are state_abstract, noise_filter, fact_rectify, path_prune, cognitive_boosting and
        attention_anchor; `auto` lets the router choose, which leaves a healthy history alone. The operator puts `text`
        in place, for fact_rectify corrections, one a line: `OLD => NEW (s12.2)`; None for the embedded rules. A
        `dry_run` only returns what would change in a view of `budget`. Raises InputError: no such operator, or a text
        for `auto`.
        """
        limit = None if budget is None else Budget.of(budget).tokens
        if operator == "auto" and text is not None:
            raise InputError(f"a text needs an operator; name one of {', '.join(OPERATORS)}")
        wanted = RefactorWanted(read_operator(operator), text, by, limit)
        if dry_run:
            with self._at.reading() as tx:
                return decide.consider_refactoring(tx, self._at, wanted).result
        with self._at.writing() as tx:
            return decide.apply_refactoring(tx, self._at, wanted)

    def branch(
        self,
        action: Wish = "auto",
        query: str | None = None,
        at: Step | None = None,
        to: str | None = None,
        by: By = _HOST,
    ) -> Move:
        """Go to a branch or topic, or begin one, before the message is recorded.

        `auto` stays, and ranks the branches by likeness to `query`, by default the user's last words; `continue` stays;
        `create` forks after the step `at`, by default the tip; `switch` goes to a branch of any topic; `new_topic`
        begins an empty path; `rename` names this one. `to` is the branch's name; None makes one up for a new branch.

        Raises: InputError: nothing to compare, or an argument that the move ignores. SessionNameError: not a name.
            BranchError: an unknown or taken name, or a step that is on no branch.
        """
        step = None if at is None else parse_step(at)
        with self._at.writing() as tx:
            return decide.move_branch(tx, self._at, action, query, step, to, by)

    def tools(self) -> list[SessionTool]:
        """Return `recall`, `fold`, `plan` and `note` as callables with schemas, for any loop that calls tools."""
        return make_tools(self)

    def undo(self) -> Event:
        """Void the newest decision of this branch, never a record. Returns it. Raises UndoError: none is left."""
        return self._void_decision("undo")

    def redo(self) -> Event:
        """Void the last undo. Returns the decision that holds again. Raises UndoError: nothing was undone."""
        return self._void_decision("redo")

    def _void_decision(self, by: Literal["undo", "redo"]) -> Event:
        with self._at.writing() as tx:
            head, event = void_decision(tx, self._at.session, self._at.place(tx).head, by)
            self._at.go_to(head.id)
            return describe_event(tx, self._at.session, event, holds=by == "redo")

    def keep_refused(self, what: str, replies: Sequence[tuple[str, str]]) -> None:
        """Keep the replies of a model that could not be applied for a decision `what`, each with its fault."""
        with self._at.writing() as tx:
            place = self._at.place(tx)
            self._at.take_decision(put_refused(tx, place, what, replies), place.workspace)

    def view(self, budget: int | None = None, model: str | None = None, fill: bool = False) -> View:
        """Render the context, never above the budget, which is at least `ctxfold.tokens.MIN_BUDGET` o200k tokens.

        With `fill`, the past is chosen anew from the log, so that the view takes all of its budget; without, it stays
        the same from view to view, as the last fold left it, and is read from a provider's prompt cache.
        """
        with self._at.reading() as tx:
            limit = self._limit(tx, budget, model)
            workspace = self._at.load_shown(tx, limit.tokens)
            if fill:
                return fill_view(tx, self._at, workspace, limit, self._read_calls)
        return render(workspace, limit, self._read_calls)

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

    def hand_off(self, to: str) -> bool:
        """Begin the session `to` with the memory, goal and register of this one. Returns False if it has steps already.

        The store is this one's; a store in memory holds one session alone.
        """
        with Session.open(to, store=self._at.store.address) as new:
            return hand_off(self, new)

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

    def picture(self, step: Step, jpeg: bytes) -> None:
        """Keep a picture of a step's page for a report; at most 60,000 bytes, and never in a view."""
        with self._at.reading():
            keep_picture(self._at.store.address, self.name, parse_step(step), jpeg)

    def redact(self, what: str, *, names: bool = True) -> Redaction:
        """Blank bytes everywhere, keeping their length, and drop the session's pictures. The one loss there is.

        `what` is a ref of a step, record or lines, or a regular expression, which is searched in common encodings too.
        With `names`, a branch, a topic and the session get other names if theirs hold it. Raises RefError: a ref of
        nothing. InputError: not a regular expression, or one that matches nothing. StoreError: redacted, but the old
        bytes are still in the file; the message names the next move.
        """
        with self._at.writing() as tx:
            head = self._at.place(tx).head
            done = redact(tx, self._at.session, head, what, self.name if names else None)
            self._at.forget()
        forget_pictures(self._at.store.address, self.name)
        self.name = done.session or self.name
        self._at.store.scrub()
        return done

    def close(self) -> None:
        """Close the store. Closing twice is harmless."""
        self._at.store.close()

    def _read_calls(self, steps: Sequence[int]) -> Mapping[int, Sequence[LoggedCall]]:
        with self._at.reading() as tx:
            return record.read_calls(tx, self._at.session, steps)

    def _limit(self, tx: Reading, budget: int | None, model: str | None) -> Budget:
        return Budget.of(self._at.budget(tx)) if budget is None else Budget.of(budget, model)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
