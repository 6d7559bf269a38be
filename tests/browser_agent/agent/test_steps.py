"""What an action took off pages is recorded whole, with their address, and stays in sight when the pages after it fold."""

import json
from collections.abc import Iterator

import pytest

from browser_agent.actions import ActionResult, ExtractValues, Navigate, Outcome, PageAction
from browser_agent.agent.steps import begin_step, end_step
from browser_agent.observation import Extracted, Observation
from ctxfold import Session

BUDGET = 3_000
LAMPS = [{"name": f"lamp-{name}", "weight": f"{80 + 7 * at} g"} for at, name in enumerate("abcdefghijkl")]
SHOP = "http://shop.test/lamps"


@pytest.fixture
def session() -> Iterator[Session]:
    """A fresh session in a store of its own, in memory."""
    with Session.open("lamps", store=":memory:") as opened:
        yield opened


def page(url: str, text: str, extracted: Extracted | None = None) -> Observation:
    return Observation(
        url=url, title="", status=200, fingerprint=url, heading=f"Page — {url}", text=f"Page — {url}\n{text}", tokens=9,
        full=f"- text: {url}", refs={}, extracted=extracted,
    )  # fmt: skip


def act(session: Session, action: PageAction, seen: Observation) -> tuple[str, str]:
    step = begin_step(session, "", (action,), lambda text: text)
    result = ActionResult(action=action, kind="done", message="done")
    return end_step(session, step, 1, Outcome(kind="done", message="done", observation=seen, results=(result,)))


def extract(session: Session, extracted: Extracted) -> str:
    wanted = {"type": "array", "items": {"type": "object", "properties": {"name": {}, "weight": {}}}}
    rows = "\n".join(json.dumps(list(lamp.values())) for lamp in LAMPS)
    return act(session, ExtractValues(kind="extract", wanted=wanted), page(SHOP, rows, extracted))[1]


def test_values_taken_off_a_page_outlast_the_pages_read_after_it(session: Session) -> None:
    session.record_turn(user="Which of the lamps is the lightest?")
    extract(session, Extracted(value=LAMPS))
    for at in range(40):
        text = "\n".join(f"Paragraph {at}.{line} on parcels, returns and the hours." for line in range(12))
        url = f"http://shop.test/help/{at}"
        act(session, Navigate(kind="navigate", url=url), page(url, text))
        session.consolidate(BUDGET)
    view = session.view(BUDGET).text
    assert "Paragraph 0.5" not in view
    assert all(f"{lamp['name']} | {lamp['weight']}" in view for lamp in LAMPS)
