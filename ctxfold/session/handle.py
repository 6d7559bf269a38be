"""`Handle`: a branch of a session as one reader and writer sees it, with its newest revision and workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ctxfold.decisions.fold import SETTINGS, FoldSettings
from ctxfold.decisions.refactor import Call, Case
from ctxfold.decisions.refactor.embedded import call_of
from ctxfold.decisions.register import Source, holds_name
from ctxfold.errors import RefError, UnknownSession
from ctxfold.log import RecordRef, Step, parse_ref
from ctxfold.log.lines import followed, text_of
from ctxfold.log.page import page_of
from ctxfold.session.branches import OtherBranches
from ctxfold.session.commits import GENESIS, head_of, state_of
from ctxfold.session.load import REACH, lines_at, load, reached, waiting_at
from ctxfold.session.recall import ranked
from ctxfold.session.record import Branch, Result, Taken, arrive
from ctxfold.session.register import guidance_of, intent_of
from ctxfold.store.rows import HeadRow, Reading, State, StoredRecord, Writing
from ctxfold.store.sqlite import Store
from ctxfold.text.words import is_common
from ctxfold.workspace import HEADER, Block, ForestView, Intent, RawStep, Workspace

Place = tuple[int, int]
"""Where a record stands: its step, and its place in that."""
_LINE_END = "\\n"
"""Stands in the JSON of a call that brings text over several lines: it is more than the question its result answers."""
_LOOKED = 12
_QUERY = 300


def end_of(tx: Reading, session: int, tip: int) -> Place:
    """The last record of a path that ends with a step."""
    return (tip, max((record.k for record in tx.log.records(session, [tip])), default=0)) if tip else (0, 0)


@dataclass(frozen=True)
class Sources:
    """The log of a session, as plans and extractions read it."""

    tx: Reading
    session: int

    def of(self, step: int) -> list[Source]:
        """The records of a step in order."""
        return [self._source(record) for record in self.tx.log.records(self.session, [step])] if step else []

    def quoting(self, text: str) -> Source | None:
        """A record that holds a text, one of the user's before others, those of tools and pages before the assistant's."""
        plain, found = " ".join(text.split()).casefold(), list[tuple[int, StoredRecord]]()
        for row, _ in self.tx.search.ranked(self.session, plain[:_QUERY], _LOOKED):
            record = self.tx.log.record_by_id(row)
            if record is not None and plain in " ".join(self.tx.log.text(record.entry).split()).casefold():
                found.append(
                    (("user", "result").index(record.kind) if record.kind in ("user", "result") else 2, record)
                )
        return self._source(min(found, key=lambda each: (each[0], each[1].id))[1]) if found else None

    def found(self, queries: Sequence[str], most: int, *, whole: bool) -> list[Source]:
        """Results, notes and telling calls that hold words of any query, the newest first. A query may bring `most`; to read long records `whole` takes some tenths of a second for tens of megabytes."""
        rows: dict[int, StoredRecord] = {}
        for asked in queries:
            telling = " ".join(word for word in asked.split() if not is_common(word.strip(".,:;!?"))) or asked
            hits = (
                ranked(self.tx, self.session, telling, most)
                if whole
                else self.tx.search.ranked(self.session, telling, most)
            )
            for row, _ in hits:
                record = self.tx.log.record_by_id(row)
                if record is not None and record.kind in ("result", "call", "note"):
                    rows[row] = record
        newest = sorted(rows.values(), key=lambda record: -record.id)[: 2 * most]
        sources = [self._source(record) for record in newest]
        return [source for source in sources if source.kind != "call" or _LINE_END in source.text]

    def holds(self, name: str, upto: Place) -> bool:
        """Whether a record up to a place, said by no user, holds a value."""
        for row in self.tx.search.holding(self.session, name, _LOOKED):
            record = self.tx.log.record_by_id(row)
            if record is None or record.kind == "user" or (record.step, record.k) > upto:
                continue
            if holds_name(self.tx.log.text(record.entry), name):
                return True
        return False

    def _source(self, record: StoredRecord) -> Source:
        text = self.tx.log.text(record.entry)
        return Source(record.step, record.k, record.kind, text, record.origin in ("tool", "page"))


_CHUNK = 256
_GROWING = 2
"""Steps at the end of a path that may still take records."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a step shows: its calls, whether the user spoke in it, and the notes a model wrote in it."""

    calls: tuple[Call, ...] = ()
    spoken: bool = False
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Trail:
    """What was read of a session's steps so far, and which of them may have taken records since."""

    seen: dict[int, _Seen] = field(default_factory=dict)
    growing: set[int] = field(default_factory=set)

    def case(
        self, tx: Reading, session: int, workspace: Workspace, budget: int, settings: FoldSettings, named: bool = False
    ) -> Case:
        """A workspace with the evidence of the steps that stand in it. It may read through `tx` as long as that is open."""
        steps = [step for block in workspace.blocks for step in block.steps]
        self._read(tx, session, steps)
        seen = [(step, self.seen[step]) for step in steps]
        return Case(
            workspace,
            tuple(call for _, each in seen for call in each.calls),
            frozenset(step for step, each in seen if each.spoken),
            budget,
            settings,
            tx.cover.next_tile(session),
            frozenset(note for _, each in seen for note in each.notes),
            named,
            lambda: log_of(tx, session, steps),
            lambda ref: _text(tx, session, ref),
        )

    def _read(self, tx: Reading, session: int, steps: Sequence[int]) -> None:
        """Read the steps that are new, those that may have grown, and those that late results came to."""
        fresh = {step for step in steps if step not in self.seen} | self.growing.intersection(steps)
        self.growing |= set(steps[-_GROWING:])
        wanted = sorted(fresh)
        for at in range(0, len(wanted), _CHUNK):
            fresh |= {record.step for record in tx.log.records(session, wanted[at : at + _CHUNK], late=True)}
        wanted = sorted(fresh)
        for at in range(0, len(wanted), _CHUNK):
            part = wanted[at : at + _CHUNK]
            by_step: dict[int, list[StoredRecord]] = {step: [] for step in part}
            for record in tx.log.records(session, part):
                by_step[record.step].append(record)
            self.seen.update((step, _seen(tx, found)) for step, found in by_step.items())
        self.growing -= set(steps[:-_GROWING])


def _seen(tx: Reading, records: Sequence[StoredRecord]) -> _Seen:
    """What the records of a step show; each call with its first result."""
    results: dict[str | None, list[StoredRecord]] = {}
    for record in records:
        if record.kind == "result":
            results.setdefault(record.call_id, []).append(record)
    calls: list[Call] = []
    for record in records:
        if record.kind == "call":
            came = results.get(record.call_id, [])
            result = came.pop(0) if came else None
            text = None if result is None else tx.log.text(result.entry)
            page = result is not None and result.origin == "page"
            calls.append(call_of(record.step, tx.log.text(record.entry), text, page))
    notes = tuple(f"s{each.step}.{each.k}" for each in records if each.kind == "note" and each.origin == "model")
    return _Seen(tuple(calls), any(record.kind == "user" for record in records), notes)


def log_of(tx: Reading, session: int, steps: Sequence[int]) -> list[str]:
    """Every record of some steps, and of late results that stand there: its exact text; of a page its reading form too, of a call its line."""
    parts: list[str] = []
    for at in range(0, len(steps), _CHUNK):
        found = {
            record.id: record
            for late in (False, True)
            for record in tx.log.records(session, steps[at : at + _CHUNK], late=late)
        }
        for record in found.values():
            parts.append(tx.log.text(record.entry))
            parts += filter(None, [page_of(parts[-1], record.origin)])
            if record.shown is not None or record.kind == "call":
                parts.append(text_of(lines_at(tx, record)))
    return parts


def _text(tx: Reading, session: int, ref: str) -> str:
    """The exact text of a record; empty where there is none."""
    try:
        named = parse_ref(ref)
    except RefError:
        return ""
    if not isinstance(named, RecordRef):
        return ""
    found = [record for record in tx.log.records(session, [named.step]) if record.k == named.record]
    return tx.log.text(found[0].entry) if found else ""


DEFAULT_BUDGET = 8000
"""o200k tokens of a view when nobody said how many."""


class Handle:
    """A branch of a session as one reader and writer of it sees it.

    Attributes:
        settings: when and how far it folds.
        seen: the latest step this handle has shown.
        looked: the record up to which it looked for what changes the intent.
        pressed: the last folded step it has extracted after.
        trail: what it has read of the path's calls and facts.
    """

    def __init__(self, store: Store, session: int, branch: int, settings: FoldSettings = SETTINGS) -> None:
        self.store, self.settings = store, settings
        self.branch: int = branch
        self.seen: int = 0
        self.looked: tuple[int, int] = (0, 0)
        self.pressed: int = 0
        self.trail: Trail = Trail()
        self.session = session
        self._state: State | None = None
        self._workspace = Workspace()
        self._loaded = 0
        self._floor = (0, 0)
        self._planned = 0
        self._waiting = 0
        self._head: HeadRow | None = None
        self._newest = 0
        self._redacted = 0
        self._around = OtherBranches(session)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A snapshot of the store, in which the session is there. Raises UnknownSession."""
        with self.store.reading() as tx:
            self.look(tx)
            yield tx

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """The right to write for the length of the block; after a failure the handle looks anew."""
        try:
            with self.store.writing() as tx:
                yield tx
        except BaseException:
            self.forget()
            raise

    def budget(self, tx: Reading) -> int:
        """The o200k tokens that the session's views take where none are said."""
        return tx.sessions.budget(self.session) or DEFAULT_BUDGET

    @property
    def workspace(self) -> Workspace:
        """The workspace as of the last refresh, without what stands on other branches: recording and folding need none of it."""
        return self._workspace

    def whole(self, tx: Reading, reach: int = 0) -> Workspace:
        """The workspace with what stands on other branches and topics, as a view shows it; `reach` as in `refresh`."""
        state = self.refresh(tx, reach)
        around = self._around.of(tx, self.branch, state)
        return self._workspace if around.empty else replace(self._workspace, elsewhere=around)

    def forest(self, tx: Reading) -> ForestView:
        """The forest as a decider is shown it."""
        return self._around.forest(tx, self.branch, self.refresh(tx))

    def look(self, tx: Reading) -> int:
        """See that the session is still there; the number of its newest event. Raises UnknownSession: it was deleted.

        A redaction since the last look, made on whatever branch, leaves nothing of what was read before it.
        """
        found = tx.sessions.newest(self.session)
        if found is None:
            raise UnknownSession("this session was deleted after it was opened; open it again to begin it anew")
        newest, redacted = found
        if redacted != self._redacted:
            self._drop()
            self._around = OtherBranches(self.session)
            self._redacted = redacted
        return newest

    def refresh(self, tx: Reading, reach: int = 0, upto: int | None = None) -> State:
        """Look at the branch again; load its workspace where another handle has moved it on, or where more of it is needed. `reach`: o200k tokens of a view that is wanted; `upto`: a step that must be loaded.

        Raises:
            UnknownSession: the session was deleted.
        """
        newest = self.look(tx)
        older = self._workspace.older
        short = older is not None and (
            reached(self._workspace.blocks, 4 * reach) < 4 * reach
            or (upto is not None and self._workspace.holding(upto) is None)
        )
        wanted, (asked, least) = max(REACH, 4 * reach), self._floor
        other = short or (self._loaded > 3 * max(REACH, 3 * reach) and (asked > wanted or self._loaded > 2 * least))
        if self._state is not None and self._head is not None and self._newest == newest and not other:
            self._head = replace(self._head, seq=self._state.seq)
            return self._state
        self._newest, self._head = newest, head_of(tx, self.session, self.branch)
        state = state_of(tx, self.session, self._head)
        if self._state is None or self._state.seq != state.seq or other:
            loaded = load(tx, self.session, state, wanted, upto)
            self._workspace = replace(loaded, guidance=guidance_of(tx, self.session, state.guide))
            self._loaded = self._workspace.tokens
            self._floor = (wanted, self._loaded)  # long steps are many at once: what was just loaded is not loaded anew
            self._state = state
            self._around.forget()
            self._planned = 0
            self._waiting = waiting_at(tx, self.session, state.tip)
            self.seen = self.seen or state.tip
        planned = tx.forest.newest_intent(self.session) or state.intent
        if planned != self._planned:
            self._workspace = replace(self._workspace, intent=intent_of(tx, self.session, state.intent, state.tip))
            self._planned = planned
        return state

    def place(self, tx: Reading, upto: int | None = None) -> Branch:
        """Where recording and deciding happen now; `upto` is a step that must be loaded."""
        state = self.refresh(tx, upto=upto)
        return Branch(self.session, self._head or head_of(tx, self.session, self.branch), state, self._workspace)

    def place_of(self, tx: Reading, step: int) -> Branch:
        """Where a late result of a step is shown: on this branch when the step lies on its path, else on the branch last moved that holds it."""
        here = self.place(tx)
        old = tx.log.step(self.session, step)
        if old is None or _holds_step(tx, self.session, here.state, old):
            return here
        for head in sorted(tx.forest.heads(self.session), key=lambda head: -head.seq):
            state = state_of(tx, self.session, head)
            if _holds_step(tx, self.session, state, old):
                workspace = load(tx, self.session, state)
                return Branch(self.session, head, state, workspace)
        return here

    def took(self, taken: Taken) -> None:
        """Take in what was recorded; of what is shown on another branch, nothing."""
        if taken.step.n != taken.state.tip or (self._state is not None and self._state.cover != taken.state.cover):
            self.forget()
            return
        step, blocks = taken.step, list(self._workspace.blocks)
        lines = taken.lines
        if blocks and isinstance(last := blocks[-1], RawStep) and last.n == step.n:
            blocks.pop()
            lines = last.lines + lines
            self._waiting += taken.waiting
        else:
            if self._waiting > 0 and blocks:
                blocks[-1] = _followed(blocks[-1])
            self._waiting = taken.waiting
        if not step.open:
            for at in range(len(blocks) - 1, max(-1, len(blocks) - 8), -1):
                block = blocks[at]
                if isinstance(block, RawStep) and not block.settled:
                    blocks[at] = replace(block, settled=True)
        tokens = HEADER + sum(line.tokens for line in lines)
        blocks.append(RawStep(step.n, lines, step.raw, tokens, not step.open and self._waiting <= 0))
        self._workspace = replace(self._workspace, path_length=step.depth, blocks=tuple(blocks), unfolded=step.raw_upto)
        self._loaded += sum(line.tokens for line in taken.lines)
        self._stands(taken.state)
        self.seen = taken.state.tip

    def became(self, state: State, workspace: Workspace, freed: int) -> None:
        """Take in a fold or a refactoring, and how many o200k tokens it took off the cover."""
        self._stands(state)
        self._workspace = workspace
        self._loaded -= freed

    def intends(self, state: State, intent: Intent) -> None:
        """Take in a plan or an extraction; there is none newer."""
        self._stands(state)
        self._workspace, self._planned = replace(self._workspace, intent=intent), state.intent

    def _stands(self, state: State) -> None:
        """Stand at a revision that was just made here: its event is the session's newest."""
        self._state, self._newest = state, state.seq

    def arrived(self, tx: Writing, step: int, result: Result, key: str | None) -> RecordRef:
        """Record a late result where it is shown, and take it in where that is here; its ref, also where its key was recorded before.

        Raises RefError: no such step, or no such call in it.
        """
        there = self.place_of(tx, step)
        taken = arrive(tx, there, step, result, key)
        if isinstance(taken, RecordRef):
            return taken
        if there.head.id == self.branch:
            self.took(taken)
        return RecordRef(step, taken.last)

    def shown(self, tx: Reading, reach: int) -> Workspace:
        """The workspace for a view of `reach` o200k tokens; its last step is from now on the latest this handle has shown."""
        workspace = self.whole(tx, reach)
        self.seen = (self._state or GENESIS).tip
        return workspace

    def stand(self, branch: int) -> None:
        """Go to another branch."""
        self.branch = branch
        self.forget()

    def forget(self) -> None:
        """Look anew at the next call."""
        self._drop()
        self._around.forget()
        self.seen, self.looked, self.pressed = 0, (0, 0), 0

    def _drop(self) -> None:
        """Keep no text that was read of this branch."""
        self._state, self._workspace, self._loaded = None, Workspace(), 0
        self.trail = Trail()


def _holds_step(tx: Reading, session: int, state: State, step: Step) -> bool:
    return any(lane == step.lane and step.depth <= depth for lane, depth in tx.log.path(session, state.tip))


def _followed(block: Block) -> Block:
    """The newest block, whose calls were not all answered, as it stands before another step."""
    if not isinstance(block, RawStep):
        return block
    lines = followed(block.lines)
    return replace(block, lines=lines, tokens=HEADER + sum(line.tokens for line in lines))
