"""What is tried again and again on one page is refused, then ends the run."""

from browser_agent.actions import Click
from browser_agent.agent.run import LoopGuard
from browser_agent.deciders import Decision

CLICK = Decision(thought="try", actions=(Click(kind="click", ref="e1"),))


def verdicts(tries: list[tuple[Decision, str]]) -> list[str]:
    guard = LoopGuard()
    said: list[str] = []
    for decision, fingerprint in tries:
        guard, verdict = guard.after(decision.actions, fingerprint)
        said.append(verdict)
    return said


def test_what_changes_the_page_may_go_on_for_ever():
    assert set(verdicts([(CLICK, str(n)) for n in range(50)])) == {"go"}
