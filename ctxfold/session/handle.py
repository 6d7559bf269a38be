"""`Handle`: a branch of a session as one reader and writer sees it, with its newest revision and workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ctxfold.decisions.fold.settings import SETTINGS, FoldSettings
from ctxfold.errors import UnknownSession
from ctxfold.log.form import followed
from ctxfold.log.records import Step
from ctxfold.log.refs import RecordRef
from ctxfold.session.evidence import Trail
from ctxfold.session.history.commit import GENESIS, head_of, state_of
from ctxfold.session.history.elsewhere import OtherBranches
from ctxfold.session.history.intents import intent_of
from ctxfold.session.history.load import REACH, load, waiting_at
from ctxfold.session.history.refactorings import guidance_of
from ctxfold.session.record import Branch, Result, Taken, arrive
from ctxfold.store.sqlite import Reading, Store, Writing
from ctxfold.store.values import HeadRow, State
from ctxfold.workspace.forest import ForestView
from ctxfold.workspace.intent import Intent
from ctxfold.workspace.workspace import HEADER, RawStep, Workspace

__all__ = ["DEFAULT_BUDGET", "Handle"]

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
        """See that the session is still there; the number of its newest event.

        A redaction since the last look, made on whatever branch, leaves nothing of what was read before it.

        Raises:
            UnknownSession: it was deleted.
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
            self._loaded < 3 * reach or (upto is not None and self._workspace.holding(upto) is None)
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
            self._waiting = taken.waiting
        if not step.open:
            for at in range(len(blocks) - 1, max(-1, len(blocks) - 8), -1):
                block = blocks[at]
                if isinstance(block, RawStep) and not block.settled:
                    told = followed(block.lines)
                    tokens = HEADER + sum(line.tokens for line in told)
                    blocks[at] = replace(block, lines=told, tokens=tokens, settled=True)
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
        """Record a late result where it is shown, and take it in where that is here. Returns its ref, also where its key was recorded before.

        Raises:
            RefError: no such step, or no such call in it.
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
