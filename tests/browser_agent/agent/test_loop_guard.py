"""What is tried again and again on one page is refused, then ends the run."""

from browser_agent.actions import Click, Scroll
from browser_agent.agent.run import LoopGuard
from browser_agent.deciders import Decision

CLICK = Decision(thought="try", actions=(Click(kind="click", ref="e1"),))
SCROLL = Decision(thought="look", actions=(Scroll(kind="scroll", direction="down"),))


def verdicts(tries: list[tuple[Decision, str]]) -> list[str]:
    guard = LoopGuard()
    said: list[str] = []
    for decision, fingerprint in tries:
        guard, verdict = guard.after(decision.actions, fingerprint)
        said.append(verdict)
    return said


def test_the_third_try_on_one_page_is_refused_and_the_sixth_ends_the_run():
    assert verdicts([(CLICK, "a")] * 6) == ["go", "go", "refuse", "refuse", "refuse", "end"]


def test_what_changes_the_page_may_go_on_for_ever():
    assert set(verdicts([(CLICK, str(n)) for n in range(50)])) == {"go"}


def test_another_thought_is_no_other_plan():
    again = CLICK.model_copy(update={"thought": "perhaps now"})
    assert verdicts([(CLICK, "a"), (again, "a"), (CLICK, "a")])[-1] == "refuse"
