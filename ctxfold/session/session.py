"""`Session`: the public object that records, decides, views and recalls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ctxfold.config import FoldSettings, fold_settings, rules_file
from ctxfold.decisions.extraction import Material
from ctxfold.decisions.fold import FoldDirective, SubTask
from ctxfold.decisions.memory import MemoryDue, choose_batch, find_due, read_memory
from ctxfold.decisions.refactor import OPERATORS, Refactored, read_operator
from ctxfold.decisions.register import Statements, Todo, read_plan
from ctxfold.errors import InputError
from ctxfold.log import Origin, RecordRef, Ref, StepRef, parse_step, spans
from ctxfold.messages import Message
from ctxfold.session import decide, record
from ctxfold.session.branches import Move, Wish
from ctxfold.session.commits import restore_version, void_decision
from ctxfold.session.decide import RefactorWanted, Selections
from ctxfold.session.handle import Handle, check, check_methods
from ctxfold.session.memory import condense_steps, consolidate, fold_steps, put_memory
from ctxfold.session.open import check_path, check_utf8, forget_pictures, keep_picture, open_handle
from ctxfold.session.reader import SessionReader
from ctxfold.session.record import NewRecord
from ctxfold.session.redact import Redaction, redact
from ctxfold.session.register import put_refused
from ctxfold.session.telling import Event, describe_event, read_history
from ctxfold.session.tools import SessionTool, make_tools
from ctxfold.session.transfer import hand_off
from ctxfold.tokens import Budget
from ctxfold.workspace import By, Extraction, Intent, Memory, Status, Tile

Step = int | str | Ref
"""A step as callers name it: its number, `s12`, or the ref that recording returned."""
_HOST = By()
_HIGH_WATER = By("embedded", "high water")


@check_methods
class Session(SessionReader):
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
        tools: Sequence[Any] | None = None,
        rules: str | os.PathLike[str] | None = None,
    ) -> Session:
        """Open a session, or create it.

        A `name` is 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit. A `goal` revises another one of the
        branch. The `store` is a path, a URL or `:memory:`, None for the configured default; `settings` say when and how
        far this handle folds, None for the table `fold` of the settings file; `tools` are those of `set_tools`. The
        bullets and paragraphs of the file `rules` are kept as constraints with their source, once; None for those of
        CTXFOLD_RULES.

        Raises: SessionNameError: not a name. UnknownSession: it does not exist and `create` is off. StoreError: the
            store cannot be used.
        """
        settings = fold_settings() if settings is None else settings
        standing = check_path(rules) if rules is not None else rules_file() if create else None
        return cls(name, *check(open_handle)(name, goal, store, create, settings, tools, standing))

    def set_tools(self, tools: Sequence[Any]) -> None:
        """Set the agent's tools, which planner and reader are shown: definitions of Anthropic's or OpenAI's API."""
        with self._at.writing() as tx:
            decide.set_tools(tx, self._at, tools)

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

    # fmt: off
    def fold(  # noqa: PLR0913 - a sub-task has four parts
        self, summary: str | None = None, first_step: Step | None = None, last_step: Step | None = None, by: By = _HOST,
        *, status: Status | None = None, goal: str | None = None, outcome: str | None = None, todo: str | None = None,
    ) -> Tile:
        # fmt: on
        """Replace steps by a tile. The user's words and the facts in use stay verbatim.

        Without a `summary` the embedded folder writes it; without a `first_step` the last step is folded alone; without
        a `last_step` all up to the latest. Of the sub-task (its `status`, `goal`, `outcome` in a sentence, `todo` item)
        the to-do and the last result say what is left out. Raises FoldError: nothing to fold, a cut through a tile, no
        such item, or a summary longer than its steps.
        """
        first, last = (None if step is None else parse_step(step) for step in (first_step, last_step))
        sub_task = SubTask(status=status, goal=goal, outcome=outcome, todo=todo)
        directive = FoldDirective(summary=summary, first_step=first, last_step=last, **sub_task.told)
        with self._at.writing() as tx:
            return fold_steps(tx, self._at, directive, by)

    def condense(self, last: int = 10, by: By = _HOST, texts: Mapping[int, str] | None = None) -> tuple[Tile, ...]:
        """Fold each of the last steps alone: its time, its calls, what came of it in 50 tokens (the AgentFold skill).

        `texts`: what somebody wrote instead, by step. A step that is folded, not settled or no shorter so stays as it
        is. Returns the tiles that were made.
        """
        with self._at.writing() as tx:
            return condense_steps(tx, self._at, max(last, 1), texts, by)

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
        read: tuple[int, int] | None = None,
    ) -> Intent:
        """Write the register (U-Fold's intent). What is left out stays; without a change nothing is committed.

        Args:
            summary: the dialogue so far, in words.
            todo: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`: open, done or dropped; evidence is refs as `s12`.
                An item comes before those that are listed after it.
            constraints: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}` with a state of holds or lifted.
                They hold on every branch.
            decisions: the same, for this branch.
            by: who decided, and why.
            goal: the purpose of the session; it revises another goal.
            read: the last record that the author was shown, as (step, number in it); None for the newest.

        Raises InputError: an empty summary, entries that cannot be read, an unknown id, or a ref of nothing.
        """
        given = read_plan(summary, todo, constraints, decisions, goal)
        with self._at.writing() as tx:
            return decide.set_plan(tx, self._at, given, by, read)

    def extract(
        self,
        need: str | None = None,
        selections: Selections | None = None,
        budget: int = 400,
        by: By = _HOST,
        hint: str = "",
        material: Material | None = None,
    ) -> Extraction:
        """Put lines of the log at the end of the view, in place of those before (U-Fold's extraction).

        The log is searched for a `need` in words, by default the to-do, the latest message and the constraints; or
        `selections` name the lines, the most wanted first: `{"ref": "s12:40-80", "why"?, "todo"?, "facts"?,
        "constraints"?}`; an empty list takes all lines away. All of it may cost `budget` o200k tokens, at least 16. A
        `hint` for the next act ends the view. `material`: the lines that its author has read, from `list_material`.

        Raises InputError: selections that cannot be read, or of which none names lines of the log; nothing is changed.
        """
        read = material or Material()
        asked = Extraction((), need or "", hint, read=read.read, unread=spans(read.unread))
        with self._at.writing() as tx:
            return decide.extract_lines(tx, self._at, asked, selections, budget, by)

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

    def restore(self, at: int | str, by: By = _HOST) -> Event:
        """Go back to an older version of this branch, as one decision that `undo` takes back. Returns it.

        Folds, to-do, decisions, refactorings and goal are those after the event `at`, 12 or `v12`; steps recorded since
        stay, raw, and so do the session's constraints. Raises RefError: no such event; BranchError: it happened on
        another branch; UndoError: all of that is in force already.
        """
        with self._at.writing() as tx:
            restore_version(tx, self._at.session, self._at.place(tx).head, at, by)
            self._at.forget()
            return read_history(tx, self._at.session, 1)[0]

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

    def hand_off(self, to: str) -> bool:
        """Begin the session `to` with the memory, goal and register of this one. Returns False if it has steps already.

        Raises InputError: its own name, or a store in memory, which holds one session alone.
        """
        if to == self.name or self._at.store.address == ":memory:":
            raise InputError("a session is handed over to another one, in a store that is kept; give a new name")
        with Session.open(to, store=self._at.store.address) as new:
            return hand_off(self, new)

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

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
