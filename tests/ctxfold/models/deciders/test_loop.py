"""The loop that asks a model: a reply that fits no decision goes back once, then the embedded decider decides, and note and event say why."""

import math
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from ctxfold import Session
from ctxfold.errors import ModelKeyMissing, ModelUnavailable
from ctxfold.models import Reply, Request, Usage
from ctxfold.models.deciders import Decided, Deciders
from ctxfold.models.deciders.loop import Timed
from ctxfold.models.named import ScriptedModel
from tests.ctxfold.models.deciders.malformed import malformed
from tests.support.faults import clean, look_up
from tests.support.sessions import events

pytestmark = pytest.mark.anyio

Ask = Callable[[Deciders, Session], Awaitable[Decided[Any]]]

DECISIONS: dict[str, tuple[Ask, str, dict[str, Any], dict[str, Any]]] = {
    "fold": (
        lambda deciders, session: deciders.fold(session, 1, 3),
        "keep",
        {"summary": "Looked up W-2001 to W-2003."},
        {"summary": 7},
    ),
    "condense": (
        lambda deciders, session: deciders.condense(session, 3),
        "keep",
        {"steps": [{"step": 4, "text": "W-2004 was delivered."}, {"step": 5, "text": "W-2005 was delivered."}]},
        {"steps": [{"step": "s4"}]},
    ),
    "plan": (
        lambda deciders, session: deciders.plan(session),
        "plan",
        {"todo": [{"text": "Refund W-2003"}]},
        {"todo": 7},
    ),
    "extract": (
        lambda deciders, session: deciders.extract(session, "total of W-2003"),
        "extract",
        {"selections": [{"ref": "s3.2:1-2"}]},
        {"selections": "s3.2:900-901"},
    ),
    "route": (
        lambda deciders, session: deciders.refactor(session),
        "route",
        {"analysis": "It loops.", "drift_detected": True, "selected_operator": "path_prune"},
        {"analysis": 5, "drift_detected": "yes", "selected_operator": "delete_history"},
    ),
    "write": (
        lambda deciders, session: deciders.refactor(session, "state_abstract"),
        "rewrite",
        {"text": "Looked up W-2001 to W-2005."},
        {"text": "```"},
    ),
    "branch": (
        lambda deciders, session: deciders.branch(session, "What if it were two orders?"),
        "place",
        {"action": "create", "confidence": 0.9, "step": "s1"},
        {"action": "fly", "confidence": 2, "step": "s99"},
    ),
}


@pytest.fixture
def session():
    """Five orders looked up."""
    with Session.open("orders", goal="Refund what was damaged", store=":memory:") as opened:
        clean(opened)
        yield opened


@pytest.mark.parametrize("name", DECISIONS)
async def test_a_reply_that_fits_is_the_models(session: Session, name: str):
    ask, _, good, _ = DECISIONS[name]
    decided = await ask(Deciders(ScriptedModel(Reply(good, Usage(7, 3)), {"text": "W-2001."}, name="strong")), session)
    assert decided.usage.output >= 3
    if name != "route":
        assert (decided.decider, decided.note) == ("model", "")


@pytest.mark.parametrize("name", DECISIONS)
async def test_sixty_malformed_replies_raise_nothing_and_each_falls_back_and_says_so(name: str):
    ask, tool, good, wrong = DECISIONS[name]
    for reply in malformed(good, tool, wrong):
        is_empty = reply.fault is None and not any(reply.arguments.values())
        if is_empty and name in ("extract", "plan"):
            continue  # to choose nothing is a choice, and to change nothing
        with Session.open("orders", goal="Refund what was damaged", store=":memory:") as session:
            clean(session)
            model = ScriptedModel(reply, reply, name="weak")
            decided = await ask(Deciders(model), session)
            assert len(model.requests) == 2, reply
            assert decided.decider == "embedded", reply
            assert decided.note.startswith("weak was refused twice, at last for "), reply
            kept = [event for event in events(session) if event.kind == "refused"]
            assert [len(event.refused) for event in kept] in ([2], [1, 1]), (reply, kept)
            assert all(why.strip() for event in kept for _, why in event.refused), "each says what to mend"
            newest = [event for event in events(session) if event.kind != "refused"][-1] if name != "route" else None
            assert newest is None or newest.decider != "model" or name == "write", (reply, newest)


async def test_what_was_refused_is_kept_before_the_event_that_stands_and_redacted_with_the_rest(session: Session):
    wrong, right = {"summary": "Paid W-8888."}, {"summary": "Looked up W-2001 to W-2003."}
    await Deciders(ScriptedModel(wrong, right, name="hasty")).fold(session, 1, 3)
    stands, kept = session.history()[:2]
    assert (stands.kind, stands.decider) == ("folded", "model")
    assert (kept.kind, kept.cause) == ("refused", "keep, asked of hasty")
    ((text, why),) = kept.refused
    assert text == '{"summary": "Paid W-8888."}'
    assert "'W-8888'" in why
    session.redact("W-8888|W-2003")
    ((text, why),) = next(event for event in session.history() if event.kind == "refused").refused
    assert "W-8888" not in text
    assert "W-8888" not in why
    assert session.undo().kind == "folded"


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelKeyMissing("no key")])
async def test_a_model_that_cannot_be_asked_stops_nothing(session: Session, name: str, error: Exception):
    assert isinstance(error, (ModelUnavailable, ModelKeyMissing))
    decided = await DECISIONS[name][0](Deciders(ScriptedModel(error, name="far")), session)
    assert (decided.decider, decided.note) == ("embedded", f"far could not be asked: {type(error).__name__}")


@pytest.mark.parametrize("name", DECISIONS)
async def test_without_a_model_nobody_is_asked(session: Session, name: str):
    decided = await DECISIONS[name][0](Deciders(None), session)
    assert (decided.decider, decided.note, decided.usage) == ("embedded", "", Usage())


class Silent(ScriptedModel):
    """A model that never answers."""

    async def decide(self, _request: Request) -> Reply:
        """Wait for ever."""
        await anyio.sleep(math.inf)
        raise AssertionError


async def test_replies_that_do_not_come_in_time_are_no_replies(session: Session):
    look_up(session, "W-2001")
    decided = await Deciders(Silent(name="slow"), seconds=0.01).fold(session)
    assert decided.note == "slow could not be asked: ModelUnavailable"
    request: Any = None
    with pytest.raises(ModelUnavailable, match="slow did not answer in time"):
        await Timed(Silent(name="slow"), anyio.current_time()).decide(request)
