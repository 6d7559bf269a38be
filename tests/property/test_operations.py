"""Invariants 1 to 9 under random operations, hostile text included: a plain model of the log stands beside each session."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.support.operations import Driver, random_run


class Operations(RuleBasedStateMachine):
    """The driver, its chances drawn by hypothesis so that a failure shrinks to a few calls."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="ctxfold-test-"))
        self.driver: Any = None

    @initialize(memory=st.booleans())
    def begin(self, memory: bool) -> None:
        self.driver = Driver(":memory:" if memory else str(self.folder / "store.db"))

    @rule(text=_SAID)
    def turn(self, text: str) -> None:
        self.driver.turn(text)

    @rule(text=_SAID)
    def reply(self, text: str) -> None:
        self.driver.reply(text)

    @rule(
        thought=said,
        results=st.lists(st.none() | hostile, max_size=3),
        origin=st.sampled_from(["page", "tool"]),
        same=st.booleans(),
    )
    def step(self, thought: str, results: list[str | None], origin: str, same: bool) -> None:
        self.driver.step(thought, results, origin, same)

    @rule(which=st.integers(0, 9), text=hostile, key=st.sampled_from([None, "k"]))
    def late(self, which: int, text: str, key: str | None) -> None:
        self.driver.late(which, text, key)

    @rule(text=st.sampled_from(["Bring coins.", "The strike is on Friday."]), origin=st.sampled_from(["user", "model"]))
    def note(self, text: str, origin: str) -> None:
        self.driver.note(text, origin)

    @rule(summary=_WORDS, first=st.none() | st.integers(0, 30), last=st.none() | st.integers(0, 30))
    def fold(self, summary: str | None, first: int | None, last: int | None) -> None:
        self.driver.fold(summary, first, last)

    @rule(operator=st.sampled_from(["auto", *OPERATORS]), text=_WORDS)
    def refactor(self, operator: str, text: str | None) -> None:
        self.driver.refactor(operator, text)

    @rule(budget=st.sampled_from([256, 400, 1_000, 4_000]))
    def consolidate(self, budget: int) -> None:
        self.driver.consolidate(budget)

    @rule()
    def undo(self) -> None:
        self.driver.undo()

    @rule()
    def redo(self) -> None:
        self.driver.redo()

    @rule(at=st.none() | st.integers(0, 30))
    def create(self, at: int | None) -> None:
        self.driver.create(at)

    @rule(which=st.integers(0, 9))
    def switch(self, which: int) -> None:
        self.driver.switch(which)

    @rule()
    def topic(self) -> None:
        self.driver.topic()

    @rule(budget=st.integers(256, 5_000))
    def look(self, budget: int) -> None:
        self.driver.look(budget)

    @rule(query=hostile)
    def search(self, query: str) -> None:
        self.driver.search(query[:300])

    @rule()
    def reopen(self) -> None:
        self.driver.reopen()

    @invariant()
    def tiled(self) -> None:
        if self.driver is not None:
            self.driver.check()

    def teardown(self) -> None:
        try:
            if self.driver is not None:
                self.driver.check_copy(self.folder)
                self.driver.check_all()
                self.driver.close()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


TestOperations = Operations.TestCase
TestOperations.settings = settings(max_examples=25, stateful_step_count=12)


@pytest.mark.long
def test_one_long_run_holds_every_invariant(tmp_path: Path) -> None:
    with closing(Driver(str(tmp_path / "store.db"))) as driver:
        random_run(driver, 20_26, 200)
        driver.check_copy(tmp_path)
        driver.check_all()
