"""`Handle`: one branch of a session as its reader and writer holds it, with the newest revision and workspace; and
`check` for the arguments of those who call it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, wraps
from inspect import isfunction, signature
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from ctxfold.config import SETTINGS, FoldSettings
from ctxfold.errors import InputError, UnknownSession
from ctxfold.log import RecordRef
from ctxfold.log.lines import followed
from ctxfold.messages import Result
from ctxfold.session.branches import OtherBranches
from ctxfold.session.commits import GENESIS, PastReading, find_version, head_of, state_of
from ctxfold.session.load import REACH, count_reach, count_waiting, load
from ctxfold.session.record import Branch, NewRecord, Taken, arrive, is_on_path, read_calls, record
from ctxfold.session.register import load_guidance_at, load_intent, make_adapter
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.sqlite import Store
from ctxfold.store.tables import HeadRow, State
from ctxfold.tokens import DEFAULT_BUDGET
from ctxfold.view.native import LoggedCall
from ctxfold.workspace import HEADER, Block, ForestView, Intent, RawStep, Workspace

_REACH = 4
"""A view may show this many times its budget in blocks, shortened: so many tokens are loaded for it."""
_EXCESS = 3
"""Blocks that grew to this many times the tokens of the last load are loaded anew, so that memory stays bounded."""
_SETTLING = 7
"""The newest blocks that a reply may settle: calls older than that have answers."""


class Handle:
    """A branch of a session as one reader and writer holds it.

    Attributes:
        settings: when and how far it folds.
        seen: the latest step that this handle has shown.
        noticed: the last step of the memory that it has called due.
        workspace: that of the last refresh, without the other branches: recording and folding need none of them.
    """

    def __init__(self, store: Store, session: int, branch: int, settings: FoldSettings = SETTINGS, at: int = 0) -> None:
        self.store, self.session, self.settings = store, session, settings
        self._at = at  # the event after which it reads the session; 0 for now
        self.branch: int = branch
        self.seen: int = 0
        self.noticed: int = 0
        self._state: State | None = None
        self._head: HeadRow | None = None
        self.workspace: Workspace = Workspace()
        self._loaded = 0  # o200k tokens of the loaded blocks
        self._most = 0  # o200k tokens of loaded blocks above which they are loaded anew
        self._planned = 0  # the event of the intent in the workspace
        self._waiting = 0  # calls of the tip without a result
        self._newest = 0  # the newest event that was seen
        self._redacted = 0  # the newest redaction that was seen
        self._others = OtherBranches(session)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Open a snapshot of the store that has the session. Raises UnknownSession."""
        with self.store.reading() as tx:
            self.look(tx)
            yield PastReading(tx, self.session, self._at) if self._at else tx

    def make_past_handle(self, at: int | str) -> Handle:
        """Return a handle, for reading alone, on the branch of an event (12 or `v12`) as it was after it.

        Raises RefError: no such event.
        """
        with self.reading() as tx:
            version = find_version(tx, self.session, at)
        return Handle(self.store, self.session, version.head, self.settings, version.seq)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Open a write transaction; after a failure the handle loads its branch anew."""
        try:
            with self.store.writing() as tx:
                yield tx
        except BaseException:
            self.forget()
            raise

    def budget(self, tx: Reading) -> int:
        """Return the session's own budget in o200k tokens."""
        return tx.sessions.budget(self.session) or DEFAULT_BUDGET

    def load_whole(self, tx: Reading, reach: int = 0) -> Workspace:
        """Return the workspace with the other branches, as a view shows it; `reach` as in `refresh`."""
        state = self.refresh(tx, reach)
        others = self._others.of(tx, self.branch, state)
        return self.workspace if others.empty else replace(self.workspace, elsewhere=others)

    def load_shown(self, tx: Reading, reach: int) -> Workspace:
        """Return the workspace for a view of `reach` o200k tokens, and remember its last step as shown."""
        workspace = self.load_whole(tx, reach)
        self.seen = (self._state or GENESIS).tip
        return workspace

    def read_calls(self, steps: Sequence[int]) -> Mapping[int, Sequence[LoggedCall]]:
        """Return the calls of steps, for a view in its native form."""
        with self.reading() as tx:
            return read_calls(tx, self.session, steps)

    def forest(self, tx: Reading) -> ForestView:
        """Return the forest as a decider is shown it."""
        return self._others.forest(tx, self.branch, self.refresh(tx))

    def look(self, tx: Reading) -> int:
        """Return the number of the session's newest event. Raises UnknownSession: the session was deleted.

        After a redaction on any branch, everything that was read before it is dropped.
        """
        events = tx.sessions.newest(self.session)
        if events is None:
            raise UnknownSession("this session was deleted after it was opened; open it again to begin it anew")
        newest, redacted = events
        if redacted != self._redacted:
            self._drop()
            self._others = OtherBranches(self.session)
            self._redacted = redacted
        return newest

    def refresh(self, tx: Reading, reach: int = 0, upto: int | None = None) -> State:
        """Return the branch's revision, with its workspace loaded. Raises UnknownSession: the session was deleted.

        `reach`: o200k tokens of the view that is wanted; `upto`: a step that must be among the blocks.
        """
        newest = self.look(tx)
        is_other_reach = self._lacks_blocks(reach, upto) or self._loaded > self._most
        if self._state is not None and self._head is not None and self._newest == newest and not is_other_reach:
            self._head = replace(self._head, seq=self._state.seq)
            return self._state
        self._newest, self._head = newest, head_of(tx, self.session, self.branch)
        state = state_of(tx, self.session, self._head)
        if self._state is None or self._state.seq != state.seq or is_other_reach:
            wanted = max(REACH, _REACH * reach)
            loaded = load(tx, self.session, state, wanted, upto)
            self.workspace = replace(loaded, guidance=load_guidance_at(tx, self.session, state.guide))
            self._loaded = self.workspace.tokens
            self._most = _EXCESS * max(self._loaded, wanted)
            self._state, self._planned = state, 0
            in_time = (each for each in tx.log.records(self.session, [state.tip]) if each.at == each.step)
            self._waiting = count_waiting(in_time)[state.tip]
            self.seen = self.seen or state.tip
        planned = tx.forest.newest_intent(self.session) or state.intent
        if planned != self._planned:
            self.workspace = replace(self.workspace, intent=load_intent(tx, self.session, state.intent))
            self._planned = planned
        return state

    def _lacks_blocks(self, reach: int, upto: int | None) -> bool:
        """Whether older blocks are needed that are not loaded."""
        workspace, wanted = self.workspace, _REACH * reach
        if workspace.older is None:
            return False
        return count_reach(workspace.blocks, wanted) < wanted or (upto is not None and workspace.holding(upto) is None)

    def place(self, tx: Reading, upto: int | None = None) -> Branch:
        """Return where recording and deciding happen now; `upto` is a step that must be loaded."""
        state = self.refresh(tx, upto=upto)
        return Branch(self.session, self._head or head_of(tx, self.session, self.branch), state, self.workspace)

    def place_of(self, tx: Reading, step: int) -> Branch:
        """Return where a late result of a step is shown: here if it is on this path, else on its newest branch."""
        here = self.place(tx)
        old = tx.log.step(self.session, step)
        if old is None or is_on_path(tx, self.session, here.state.tip, old):
            return here
        for head in sorted(tx.forest.heads(self.session), key=lambda head: -head.seq):
            state = state_of(tx, self.session, head)
            if is_on_path(tx, self.session, state.tip, old):
                return Branch(self.session, head, state, load(tx, self.session, state))
        return here

    def take_in(self, taken: Taken) -> None:
        """Add recorded lines to the workspace; where they changed a tile, load it anew."""
        if taken.step.n != taken.state.tip or (self._state is not None and self._state.cover != taken.state.cover):
            self.forget()
            return
        step, blocks = taken.step, list(self.workspace.blocks)
        lines = taken.lines
        if blocks and isinstance(last := blocks[-1], RawStep) and last.n == step.n:
            blocks.pop()
            lines = last.lines + lines
            self._waiting += taken.waiting
        else:
            if self._waiting > 0 and blocks:
                blocks[-1] = _mark_waiting(blocks[-1])
            self._waiting = taken.waiting
        if not step.open:
            blocks[-_SETTLING:] = map(_settle, blocks[-_SETTLING:])
        tokens = HEADER + sum(line.tokens for line in lines)
        blocks.append(RawStep(step.n, lines, step.raw, tokens, not step.open and self._waiting <= 0))
        workspace = replace(self.workspace, path_length=step.depth, blocks=tuple(blocks), unfolded=step.raw_upto)
        self.take_decision(taken.state, workspace, -sum(line.tokens for line in taken.lines))
        self.seen = taken.state.tip

    def take_decision(self, state: State, workspace: Workspace, freed: int = 0) -> None:
        """Continue at a revision that was made here; `freed`: o200k tokens that it took off the cover."""
        self._state, self._newest = state, state.seq
        self.workspace = workspace
        self._loaded -= freed

    def take_intent(self, state: State, intent: Intent) -> None:
        """Continue at a plan or an extraction that was just made here."""
        self.take_decision(state, replace(self.workspace, intent=intent))
        self._planned = state.intent

    def record(self, tx: Writing, records: Sequence[NewRecord], *, fills: bool) -> Taken:
        """Record them where recording happens now. `fills`: the assistant made them; they close the step."""
        taken = record(tx, self.place(tx), records, fills=fills)
        self.take_in(taken)
        return taken

    def record_late(self, tx: Writing, step: int, result: Result, key: str | None) -> RecordRef:
        """Record a late result where it is shown. Returns its ref, also if its key was recorded before.

        Raises RefError: no such step, or no such call in it.
        """
        there = self.place_of(tx, step)
        taken = arrive(tx, there, step, result, key)
        if isinstance(taken, RecordRef):
            return taken
        if there.head.id == self.branch:
            self.take_in(taken)
        return RecordRef(step, taken.last)

    def go_to(self, branch: int) -> None:
        """Continue on another branch."""
        self.branch = branch
        self.forget()

    def forget(self) -> None:
        """Load the branch anew at the next call."""
        self._drop()
        self.seen, self.noticed = 0, 0

    def _drop(self) -> None:
        self._state, self.workspace, self._loaded = None, Workspace(), 0


def _settle(block: Block) -> Block:
    return replace(block, settled=True) if isinstance(block, RawStep) else block


def _mark_waiting(block: Block) -> Block:
    """A block as later views show it, once it is not the newest: calls without a result say so."""
    if not isinstance(block, RawStep):
        return block
    lines = followed(block.lines)
    return replace(block, lines=lines, tokens=HEADER + sum(line.tokens for line in lines))


P = ParamSpec("P")
T = TypeVar("T")
LARGEST_NUMBER = 2**31
"""The largest whole number that is taken as an argument; no session holds as many of anything."""
_SHOWN = 40
"""Characters of a wrong argument that its error shows."""


def check(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function check its arguments against its annotations. Raises InputError: an argument of another type."""

    @cache
    def read_types() -> tuple[Any, dict[str, Any]]:
        return signature(function), get_type_hints(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        form, hints = read_types()
        for name, value in form.bind(*args, **kwargs).arguments.items():
            if name in hints and not is_of_type(value, hints[name]):
                given = repr(value) if isinstance(value, str) and len(value) <= _SHOWN else type(value).__name__
                raise InputError(f"{name} must be {_describe_type(hints[name])}, not {given}")
        return function(*args, **kwargs)

    return call


def check_methods(checked: type[T]) -> type[T]:
    """Make each public method of a class check its arguments."""
    for name, method in list(vars(checked).items()):
        if isfunction(method) and not name.startswith("_"):
            setattr(checked, name, check(method))
    return checked


def is_of_type(value: object, hint: Any) -> bool:
    """Return whether a value is of an annotated type, and no number beyond `LARGEST_NUMBER`."""
    try:
        make_adapter(hint).validate_python(value, strict=True)
    except ValidationError:
        return False
    return not (isinstance(value, int) and abs(value) > LARGEST_NUMBER)


def _describe_type(hint: Any) -> str:
    """An annotated type in words."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_describe_type, get_args(hint)))
    if origin is Literal:
        return f"one of {', '.join(get_args(hint))}"
    names: dict[Any, str] = {str: "text", NoneType: "None", Sequence: "a list"}
    return names.get(origin or hint) or str(getattr(hint, "__name__", hint))
