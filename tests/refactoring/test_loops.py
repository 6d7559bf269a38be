"""What counts as going in circles, and what does not."""

import pytest

from ctxfold import Session
from ctxfold.decisions.refactor.abstract import body
from ctxfold.decisions.refactor.evidence import act, answered
from ctxfold.decisions.refactor.values import Act
from tests.support.faults import called, failing, visited
from tests.support.sessions import settled


@pytest.fixture
def session():
    """A request."""
    with Session.open("trip", goal="Refund", store=":memory:") as opened:
        opened.record_turn(user="Refund W-2003.")
        yield opened


def done(args: str, result: str) -> Act:
    """A call with what came back."""
    return answered(act(1, "s1.1", f'{{"name": "search", "args": {args}}}'), "s1.2", result, page=False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"q": "Flights to Rome"}', '{"q": "  flights   to rome "}'),
        ('{"q": "x", "page": null}', '{"q": "x"}'),
        ('{"a": 1, "b": [2]}', '{"b": [2], "a": 1}'),
        ('{"q": "x", "tags": []}', '{"q": "x", "tags": [""]}'.replace('[""]', "[]")),
    ],
)
def test_arguments_that_mean_the_same_are_one_call(one: str, other: str):
    assert done(one, "ok").key == done(other, "ok").key


@pytest.mark.parametrize(
    ("one", "other"), [('{"q": "x"}', '{"q": "y"}'), ('{"n": 1}', '{"n": 2}'), ('{"q": "x"}', '{"p": "x"}')]
)
def test_arguments_that_differ_are_two_calls(one: str, other: str):
    assert done(one, "ok").key != done(other, "ok").key


@pytest.mark.parametrize(
    "text",
    [
        "Error: no seats",
        '{"error": "no seats"}',
        '{"status": "failed"}',
        "Traceback (most recent call last): boom",
        "ran 3 tests\nCommand exited with code 1",
        "make: nothing\nexit status 2",
        '{"stdout": "", "stderr": "no such file", "exit_code": 2}',
        '{"output": "killed", "returncode": -9}',
        '{"output": "1 failed", "metadata": {"exitCode": "1", "seconds": 0.1}}',
    ],
)
def test_what_failed_is_known_by_its_structure_or_its_words(text: str):
    assert done("{}", text).failure
    assert done("{}", text).failure == done("{}", text).failure


def test_errors_that_differ_in_numbers_alone_are_one_class():
    assert done("{}", "Error: timeout after 3001 ms").failure == done("{}", "Error: timeout after 2999 ms").failure
    assert done("{}", "Error: no seats").failure != done("{}", "Error: no such flight").failure


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        '{"id": 7, "error": null}',
        "exited with code 0",
        "no errors were found",
        '{"stdout": "done", "exit_code": 0}',
        '{"output": "", "metadata": {"exit_code": "0"}}',
        '{"output": "", "returncode": null}',
        '{"status": 404, "body": "no such page"}',
        '{"status": 2, "code": 51, "order": "A-1"}',
        '{"jobs": [{"name": "lint", "exit_code": 1}]}',
    ],
)
def test_what_succeeded_is_no_failure(text: str):
    assert not done("{}", text).failure


def test_two_failures_are_no_loop_and_three_are(session: Session):
    failing(session, 2)
    assert session.refactor().operator == "none"
    failing(session, 1)
    assert session.refactor().operator == "path_prune"


def test_a_failure_that_was_overcome_in_between_is_no_loop(session: Session):
    for at in range(3):
        called(session, "refund", {"order": "W-2003"}, "Error: locked")
        called(session, "unlock", {"order": "W-2003"}, f"unlocked, token U-{at}77")
    called(session, "refund", {"order": "W-2003"}, "refunded, see R-1")
    assert session.refactor().operator == "none"


def test_a_failing_call_among_others_gets_a_thought_instead_of_a_prune(session: Session):
    for at in range(4):
        called(session, "refund", {"order": "W-2003"}, "Error: the amount does not add up")
        called(session, "calculate", {"sum": f"{at} + 1"}, f"{at + 1}.5")
    called(session, "refund", {"order": "W-2003"}, "Error: the amount does not add up")
    result = session.refactor()
    assert (result.operator, result.applied) == ("cognitive_boosting", True)
    assert "failed alike: do not repeat that call." in settled(session)
    assert "[Thought]:" in settled(session)
    assert session.refactor().operator == "none"
    for page in "abcdefgh":
        visited(session, page)
    assert "[Thought]" not in settled(session)


def test_empty_searches_with_other_words_each_are_no_loop(session: Session):
    for at in range(5):
        called(session, "search", {"q": f"flat {at}"}, "[]")
    assert session.refactor().operator == "none"


def test_the_same_empty_search_again_and_again_is_one(session: Session):
    for _ in range(4):
        called(session, "search", {"q": "flat in Porto with a view of the sea"}, "[]")
    assert session.refactor().operator == "path_prune"


def test_pressing_a_key_that_answers_nothing_is_no_loop(session: Session):
    for _ in range(5):
        called(session, "press", {"key": "ArrowDown"}, "")
    assert session.refactor().operator == "none"


def test_a_new_page_each_time_is_no_loop(session: Session):
    for page in "abcdefgh":
        visited(session, page)
    assert session.refactor().operator == "none"


def test_a_third_page_in_the_round_is_found_too(session: Session):
    for _ in range(2):
        for page in ("lisboa", "setubal", "sines"):
            visited(session, page)
    result = session.refactor()
    assert result.operator == "path_prune"
    assert all(f"HB-{page}-22" in settled(session) for page in ("lisboa", "setubal", "sines"))


def test_a_loop_in_the_past_is_pruned_too_and_what_came_after_stays(session: Session):
    steps = failing(session, 4)
    visited(session, "lisboa")
    last = settled(session)
    result = session.refactor()
    assert result.steps == tuple(steps)
    assert settled(session).endswith(last[last.index(f"s{steps[-1] + 1} ") :])


def test_a_value_told_only_in_the_loop_survives(session: Session):
    for at in range(5):
        called(session, "refund", {"order": "W-2003"}, f"Error: locked by clerk, ticket T-88{at}")
    assert session.refactor().applied
    assert all(f"T-88{at}" in settled(session) for at in range(5))


def test_pruning_goes_on_as_the_loop_does_and_stays_bounded(session: Session):
    for _ in range(40):
        failing(session, 1)
        session.refactor()
    assert len(session.workspace.blocks) <= 20
    assert session.workspace.guidance.made <= 8 + 40 // 4


def test_what_a_step_took_in_after_it_was_looked_at_counts():
    """The user's words were looked at before the first call filled their step; results came late."""
    with Session.open("trip", store=":memory:") as session:
        session.record_turn(user="Refund W-2003.")
        assert session.refactor().operator == "none"
        failing(session, 3)
        slow = session.record_step("Asking.", [{"name": "refund", "args": {"order": "W-2004"}, "id": "c1"}]).step
        visited(session, "lisboa")
        assert session.refactor().steps == (1, 2, 3)
        visited(session, "porto")
        session.record_result(slow, "c1", '{"error": "locked"}')
        visited(session, "sines")
        assert session.refactor().operator == "none"
        assert [act.failure != "" for act in session._at.trail.seen[slow].acts] == [True]


def test_the_body_of_a_line_is_what_it_says(session: Session):
    visited(session, "lisboa")
    (page,) = [line for block in session.workspace.blocks for line in block.lines if "berths" in line.text]
    assert body(page).startswith("Page lisboa The harbor")
