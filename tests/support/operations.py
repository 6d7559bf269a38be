"""Random operations on a session beside a plain model of what must hold.

The model keeps each text ever recorded, each branch's path and nothing else; after every operation it checks the invariants that the operation could break.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import ctxfold
from ctxfold import Session, View
from ctxfold.decisions.refactor import OPERATORS
from ctxfold.errors import BranchError, FoldError, InputError, UndoError
from ctxfold.tokens import MIN_BUDGET, count
from tests.support.sessions import WIDE, common_prefix, copy_session, cover, events, stable, steps_addressed, texts
from tests.support.texts import FORGED, ODD
from tests.support.trust import unmarked


@dataclass
class Pending:
    """A call that still waits for its result."""

    step: int
    call: str


@dataclass
class Driver:
    """One session, the model beside it, and the operations on both.

    `store` is a path or `:memory:`; `sealed` are open steps that were folded or forked at: they may take no more words.
    """

    store: str
    goal: str = "Plan three days in Lisbon"
    log: dict[int, list[str]] = field(default_factory=dict)
    paths: dict[str, list[int]] = field(default_factory=dict)
    open_step: dict[str, int | None] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    sealed: set[int] = field(default_factory=set)
    left: dict[str, str] = field(default_factory=dict)
    kept: dict[int, list[str]] = field(default_factory=dict)
    stood_on: str = ""
    last: int = 0
    made: int = 0

    def __post_init__(self) -> None:
        self.session = Session.open("trip", goal=self.goal, store=self.store)
        self.paths[self.session.branch_name] = []
        self.open_step[self.session.branch_name] = None
        self.keep()

    @property
    def branch(self) -> str:
        """The branch the handle stands on."""
        return self.session.branch_name

    def _name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}-{self.made}"

    def _recorded(self, step: int, said: list[str], *, assistant: bool) -> None:
        """What every record must do: open or fill the right step, hold the exact texts, leave the bytes before it alone."""
        open_ = self.open_step[self.branch]
        expected = {self.last + 1} if open_ is None else {open_, self.last + 1} if open_ in self.sealed else {open_}
        assert step in expected, f"recorded as s{step}, expected one of {expected}"
        if step > self.last:
            self.last = step
            self.paths[self.branch].append(step)
        self.open_step[self.branch] = None if assistant else step
        self.log.setdefault(step, []).extend(said)
        self.check_step(step)

    def _appending(self, record: Callable[[], int]) -> int:
        """Record, and check that recording folded nothing and left every settled byte before it unchanged.

        Words of the user for an open step that was folded stand before its summary.
        """
        before, tiles = stable(self.session), cover(self.session)
        step = record()
        assert cover(self.session)[: len(tiles)] == tiles, "recording changed the cover"
        after = stable(self.session)
        assert after.startswith(before) or self.open_step[self.branch] in self.sealed, (
            f"recording changed bytes before it: {before[len(common_prefix(before, after)) :][:80]!r}"
        )
        return step

    # Records

    def turn(self, text: str) -> None:
        """A user message."""
        self._recorded(self._appending(lambda: self.session.record_turn(user=text).step), [text], assistant=False)

    def reply(self, text: str) -> None:
        """An assistant message without calls."""
        self._recorded(self._appending(lambda: self.session.record_reply(text).step), [text], assistant=True)

    def step(self, thought: str, results: list[str | None], origin: str, same_ids: bool) -> None:
        """An assistant step: one call for each item, answered now (a text) or later (None)."""
        ids = ["same" if same_ids else f"c{n}" for n in range(len(results))]
        calls = [{"name": f"tool_{n}", "args": {"n": n, "of": self.last}, "id": id_} for n, id_ in enumerate(ids)]
        answers = [
            {"id": id_, "text": text, "origin": origin}
            for id_, text in zip(ids, results, strict=True)
            if text is not None
        ]
        number = self._appending(
            lambda: self.session.record_step(explanation=thought, calls=calls, results=answers).step
        )
        self._recorded(number, [thought] * bool(thought) + [answer["text"] for answer in answers], assistant=True)
        self.pending += [Pending(number, id_) for id_, text in zip(ids, results, strict=True) if text is None]

    def late(self, which: int, text: str, key: str | None) -> None:
        """The result of a call that was left waiting, perhaps delivered twice under one key."""
        if not self.pending:
            return
        call = self.pending.pop(which % len(self.pending))
        before = len(texts(self.session, call.step))
        for _ in range(2 if key else 1):
            assert (
                self.session.record_result(
                    call.step, call.call, text, origin="page", key=key and f"{key}-{self.last}-{before}"
                ).step
                == call.step
            )
        assert len(texts(self.session, call.step)) == before + 1
        self.log[call.step].append(text)
        self.arrived()
        self.check_step(call.step)

    def arrived(self) -> None:
        """A late result whose place other branches share is shown in a step opened for it, on this branch or on another that asked."""
        tips = {branch.name: branch.tip for topic in self.session.tree() for branch in topic.branches}
        for name, tip in tips.items():
            if tip > self.last:
                assert tip == self.last + 1
                self.last = tip
                self.paths[name].append(tip)
                self.log[tip] = []
                self.open_step[name] = tip
                self.sealed.add(tip)

    def note(self, text: str, origin: Literal["user", "model"]) -> None:
        """A note: part of the log, never undone; like a user message it opens a step or joins the open one."""
        self._recorded(
            self._appending(lambda: self.session.record_note(text, origin=origin).step), [text], assistant=False
        )

    # Decisions

    def fold(self, summary: str | None, first: int | None, last: int | None) -> None:
        """A fold of any stretch by positions on the path: applied with a smaller view, or refused with nothing changed."""
        path = self.paths[self.branch]
        a = None if first is None or not path else path[first % len(path)]
        b = None if last is None or not path else path[last % len(path)]
        before, log, tiles = self.session.view(WIDE), len(events(self.session)), cover(self.session)
        try:
            tile = self.session.fold(summary=summary, first_step=a, last_step=b)
        except FoldError:
            self.unchanged(before.text, log)
        except InputError:
            assert not path or (a is not None and b is not None and path.index(a) > path.index(b))
            self.unchanged(before.text, log)
        else:
            after = self.session.view(WIDE)
            assert after.tokens <= before.tokens, f"a fold made the view larger: {before.tokens} to {after.tokens}"
            assert tuple(tile.steps) in cover(self.session)
            held = set(tile.steps)
            self.sealed |= held
            taken = [at for at, one in enumerate(tiles) if set(one) & held]
            assert [step for at in taken for step in tiles[at]] == list(tile.steps), "a fold cut through a tile"
            self.untouched(before, after, taken)
            self.undo_restores(before.text, after.text)

    def untouched(self, before: View, after: View, taken: list[int]) -> None:
        """A fold replaces the blocks it took by one and leaves every byte of the others."""
        old, new = ([block["text"] for block in view.messages[0]["content"][: view.stable]] for view in (before, after))
        first, last = taken[0] + 1, taken[-1] + 2  # the view's opening stands before the first tile
        assert new[:first] == old[:first], "bytes before the fold changed"
        assert new[first + 1 :] == old[last:], "bytes after the fold changed"

    def undo_restores(self, before: str, after: str) -> None:
        """Undo and redo of a decision just made: the very bytes before and after it."""
        self.session.undo()
        assert self.session.view(WIDE).text == before
        self.session.redo()
        assert self.session.view(WIDE).text == after

    def consolidate(self, budget: int) -> None:
        """The driver's call: nothing below high water, else smaller, the latest step raw."""
        before, tiles = self.session.view(WIDE), cover(self.session)
        log = len(events(self.session))
        made = self.session.consolidate(budget)
        after = self.session.view(WIDE)
        if not made:
            assert after.text == before.text
            assert len(events(self.session)) == log
            return
        assert after.tokens <= before.tokens
        assert before.tokens >= 0.6 * budget, f"consolidated at {before.tokens} of {budget}"
        if tiles[-1] == (self.session.tip,) and self.session.tip not in self.sealed:
            assert cover(self.session)[-1] == tiles[-1], "the latest step was taken"

    def refactor(self, operator: str, text: str | None) -> None:
        """Any operator with any text: applied with a view that can be taken back to the byte, or at most one event that changes nothing."""
        before, tiles, log = self.session.view(WIDE), cover(self.session), len(events(self.session))
        text = None if operator == "auto" else text
        would = self.session.refactor(operator, text, dry_run=True)
        assert self.session.view(WIDE).text == before.text
        done = self.session.refactor(operator, text)
        assert done == would, "a dry run said otherwise"
        assert len(events(self.session)) == log + (done.applied or operator != "auto")
        after = self.session.view(WIDE)
        if not done.applied:
            assert after.text == before.text
            return
        assert done.before != done.after
        if tiles[-1:] == [(self.session.tip,)]:
            assert cover(self.session)[-1:] == tiles[-1:], "the latest step was taken"
        if done.operator in ("path_prune", "noise_filter", "state_abstract"):
            assert after.tokens <= before.tokens, f"{done.operator} made the view larger"
        self.sealed |= set(done.steps)
        self.undo_restores(before.text, after.text)

    def create(self, at: int | None) -> None:
        """A fork at any step of the session, or here."""
        steps = sorted(self.log)
        step = None if at is None or not steps else steps[at % len(steps)]
        name = self._name("try")
        path = (
            self.paths[self.branch]
            if step is None
            else next(path[: path.index(step) + 1] for path in self.paths.values() if step in path)
        )
        try:
            moved = self.session.branch("create", at=step, to=name)
        except BranchError:
            assert not path, "a fork of an existing step was refused"
            return
        assert (moved.branch, moved.tip) == (name, path[-1] if path else 0)
        self.paths[name] = list(path)
        self.open_step[name] = None
        self.sealed |= set(path[-1:])

    def switch(self, which: int) -> None:
        """To any branch."""
        names = sorted(self.paths)
        name = names[which % len(names)]
        assert self.session.branch("switch", to=name).branch == name

    def topic(self) -> None:
        """A new root."""
        name = self._name("topic")
        moved = self.session.branch("new_topic", to=name)
        self.paths[moved.branch] = []
        self.open_step[moved.branch] = None

    def undo(self) -> None:
        """One decision back, if there is one: no record goes, no branch goes."""
        self.quietly(self.session.undo)

    def redo(self) -> None:
        """The last undo voided, if there is one."""
        self.quietly(self.session.redo)

    def plan(self, items: list[str], constraint: str) -> None:
        """A plan of any words."""
        self.session.plan(todo=items, constraints=[constraint] * bool(constraint))

    def extract(self, need: str) -> None:
        """An extraction of what any words need."""
        self.session.extract(need)

    def restore(self, which: int) -> None:
        """Back to any version: as it was then, with what was recorded since in full, or refused with nothing changed."""
        versions = sorted(self.kept)
        before, log = self.session.view(WIDE).text, len(events(self.session))
        try:
            self.session.restore(versions[which % len(versions)])
        except (BranchError, UndoError):
            self.unchanged(before, log)
        else:
            self.undo_restores(before, self.session.view(WIDE).text)

    def quietly(self, walk: Callable[[], object]) -> None:
        """Undo or redo: it works or there is nothing to do, and either way the records stay."""
        before, log = self.session.view(WIDE).text, len(events(self.session))
        try:
            walk()
        except UndoError:
            self.unchanged(before, log)

    # Looking and leaving

    def look(self, budget: int) -> None:
        """A view at any budget: within it, the same twice, committing nothing, every step shown or addressed, nothing untrusted unmarked."""
        log = len(events(self.session))
        shown = self.session.view(budget)
        assert count(shown.text) <= budget, f"{count(shown.text)} tokens at a budget of {budget}"
        assert shown.tokens <= budget
        assert self.session.view(budget) == shown
        assert len(events(self.session)) == log
        left_out = set(self.paths[self.branch]) - steps_addressed(shown.text)
        assert not left_out, f"no ref to steps {sorted(left_out)[:5]} at a budget of {budget}"
        assert not (bare := unmarked(shown.text)), f"unmarked: {bare[:3]}"

    def search(self, query: str) -> None:
        """Any words at all: hits open, and nothing breaks."""
        if query.strip():
            for hit in self.session.recall(query=query, limit=3):
                assert self.session.recall(hit.ref).text is not None

    def reopen(self) -> None:
        """Another process takes over: the same branch, the same bytes."""
        if self.store == ":memory:":
            return
        branch, shown, tiles = self.branch, self.session.view(WIDE).text, cover(self.session)
        self.session.close()
        self.session = Session.open("trip", store=self.store)
        assert not self.session.created
        assert self.branch in self.paths
        self.session.branch("switch", to=branch)
        assert self.session.view(WIDE).text == shown
        assert cover(self.session) == tiles

    def unchanged(self, shown: str, log: int) -> None:
        """A refusal leaves everything as it was."""
        assert self.session.view(WIDE).text == shown
        assert len(events(self.session)) == log

    # Invariants

    def check(self) -> None:
        """Tiling, after any operation."""
        assert self.branch in self.paths, f"on an unknown branch {self.branch}"
        tiled = [step for tile in cover(self.session) for step in tile]
        assert tiled == self.paths[self.branch], f"the cover holds {tiled}, the path is {self.paths[self.branch]}"
        assert self.session.tip == (tiled[-1] if tiled else 0)
        self.check_other_branches()
        self.check_fresh()
        self.keep()

    def keep(self) -> None:
        """Keep what this version shows."""
        newest = self.session.history(1)[0]
        if newest.branch == self.branch:
            self.kept.setdefault(newest.seq, [self.session.view(budget).text for budget in BUDGETS])

    def check_versions(self, session: Session) -> None:
        """Every version shows the bytes that it showed, and looking commits nothing."""
        for seq, shown in self.kept.items():
            for budget, text in zip(BUDGETS, shown, strict=True):
                now = session.view(budget, at=f"v{seq}").text
                assert now == text, f"v{seq} at {budget} differs at {now[len(common_prefix(now, text)) :][:80]!r}"
        assert len(events(session)) == len(events(self.session))

    def check_other_branches(self) -> None:
        """Coming back to a branch, every byte it showed when it was left still stands: nothing recorded elsewhere reached into it."""
        now = stable(self.session)
        if self.branch != self.stood_on and self.branch in self.left:
            before = self.left[self.branch]
            assert now.startswith(before), f"changed from elsewhere: {before[len(common_prefix(before, now)) :][:80]!r}"
        self.left[self.branch], self.stood_on = now, self.branch

    def check_fresh(self) -> None:
        """What a handle shows is what the store holds: one just opened shows the same bytes, large and small."""
        if self.store == ":memory:":
            return
        with Session.open("trip", store=self.store) as fresh:
            assert fresh.branch_name == self.branch
            for budget in (WIDE, 500):
                mine, theirs = self.session.view(budget).text, fresh.view(budget).text
                assert mine == theirs, (
                    f"two handles differ at {budget} from {mine[len(common_prefix(mine, theirs)) :][:80]!r}"
                )

    def check_step(self, step: int) -> None:
        """Lossless for one step: every text recorded in it comes back exactly, in order."""
        held = iter(texts(self.session, step))
        for text in self.log[step]:
            assert any(text == one for one in held), f"s{step} lost {text[:60]!r}"

    def check_all(self) -> None:
        """Lossless for every step there ever was, and each branch tiled."""
        self.check_versions(self.session)
        for step in self.log:
            self.check_step(step)
        for name in sorted(self.paths):
            self.session.branch("switch", to=name)
            self.check()
            self.look(MIN_BUDGET)

    def check_copy(self, folder: Path) -> None:
        """Export, import, export: the copy shows the same bytes and its export is byte-identical."""
        if self.store == ":memory:":
            return
        assert ctxfold.verify_session("trip", store=self.store) == len(events(self.session))
        shown = self.session.view(WIDE).text
        with Session.open("trip", store=str(copy_session(self.store, folder))) as copy:
            self.check_versions(copy)
            copy.branch("switch", to=self.branch)
            assert copy.view(WIDE).text == shown

    def close(self) -> None:
        """Leave the store."""
        self.session.close()


BUDGETS = (WIDE, 600, MIN_BUDGET)
"""What each version is kept at."""
WORDS = "copper delta ember falcon harbor island 42 3.50 W1001 BK-77 river room view night".split()


def random_text(chance: random.Random, odd: list[str]) -> str:
    """Prose, JSON that repeats and changes facts, or something odd."""
    kind = chance.random()
    if kind < 0.45:
        return " ".join(chance.choices(WORDS, k=chance.randrange(1, 220)))
    if kind < 0.75:
        rows = [
            {"id": f"L{chance.randrange(6)}", "price": chance.randrange(4) * 10.5, "open": chance.random() < 0.5}
            for _ in range(chance.randrange(8))
        ]
        return json.dumps({"page": chance.randrange(3), "rows": rows})
    return chance.choice(odd)


def random_run(driver: Driver, seed: int, operations: int) -> None:
    """Do that many random operations, checking after each. A failure names the seed and the operations done."""
    chance = random.Random(seed)
    trusted = [text for text in ODD if FORGED not in text]

    def text() -> str:
        return random_text(chance, ODD)

    def said() -> str:
        return random_text(chance, trusted)

    def maybe(high: int) -> int | None:
        return None if chance.random() < 0.3 else chance.randrange(high)

    def step() -> None:
        results = [text() if chance.random() < 0.8 else None for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))]
        driver.step(said(), results, chance.choice(["page", "tool"]), chance.random() < 0.2)

    def refactor() -> None:
        texts = [None, None, None, said(), "Went on.", "", "a => b (s1.1)"]
        driver.refactor(chance.choice(["auto", *OPERATORS]), chance.choice(texts))

    moves: dict[str, tuple[int, Callable[[], None]]] = {
        "turn": (5, lambda: driver.turn(said() or "hm")),
        "step": (12, step),
        "reply": (4, lambda: driver.reply(said() or "ok")),
        "late": (3, lambda: driver.late(chance.randrange(9), text(), chance.choice([None, "k"]))),
        "note": (1, lambda: driver.note(" ".join(chance.choices(WORDS, k=9)), chance.choice(["user", "model"]))),
        "fold": (5, lambda: driver.fold(chance.choice([None, "", "Folded.", said()]), maybe(30), maybe(30))),
        "refactor": (4, refactor),
        "consolidate": (4, lambda: driver.consolidate(chance.choice([256, 400, 1_000, 3_000]))),
        "undo": (3, driver.undo),
        "redo": (2, driver.redo),
        "create": (2, lambda: driver.create(maybe(30))),
        "switch": (2, lambda: driver.switch(chance.randrange(9))),
        "topic": (1, driver.topic),
        "plan": (2, lambda: driver.plan([said()[:90] or "go on"], chance.choice(["", "No flights."]))),
        "extract": (1, lambda: driver.extract(" ".join(chance.choices(WORDS, k=4)))),
        "restore": (2, lambda: driver.restore(chance.randrange(30))),
        "look": (4, lambda: driver.look(chance.choice([256, 257, 300, 500, 1_000, 4_000]))),
        "search": (1, lambda: driver.search(text()[:200])),
        "reopen": (1, driver.reopen),
    }
    names = chance.choices(list(moves), weights=[weight for weight, _ in moves.values()], k=operations)
    for at, name in enumerate(names):
        try:
            moves[name][1]()
            driver.check()
        except Exception as error:
            raise AssertionError(f"seed {seed}, after {', '.join(names[: at + 1])}: {error}") from error
