"""A step that a model is asked for: what fits no decision raises nothing, is kept with its fault, and the explorer decides."""

from __future__ import annotations

import pytest

from browser_agent.actions import Press
from browser_agent.deciders import DecidedStep, Decision, Evidence, Situation, Source
from browser_agent.deciders.model import MISSED, ModelDecider
from browser_agent.network.secrets import Secrets
from ctxfold import Session
from ctxfold.models import ScriptedModel
from tests.ctxfold.models.deciders.malformed import malformed

pytestmark = pytest.mark.anyio

with Session.open("empty", store=":memory:") as session:
    VIEW = session.view(8_000)
GOOD = {"thought": "Nothing here.", "actions": [{"kind": "give_up", "reason": "nothing here"}]}
GIVE_UP = Decision.model_validate(GOOD)
PRESS = Decision(thought="Go on.", actions=(Press(kind="press", key="a"),))


class Explorer:
    """Decides always the same."""

    name = "explorer"

    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    async def decide(self, situation: Situation) -> DecidedStep:
        """The one decision."""
        return DecidedStep(self._decision, self.name, "embedded")

    def candidates(self) -> tuple[Source, ...]:
        """None."""
        return ()


def decider(model: ScriptedModel, decision: Decision) -> ModelDecider:
    return ModelDecider(model, Evidence(), Explorer(decision), Secrets(()))


async def test_sixty_malformed_replies_raise_nothing_and_each_falls_back_says_so_and_is_kept():
    situation = Situation(VIEW, None, "Step 1.", 0, 9)
    for reply in malformed(GOOD, "decide", {"thought": 7, "actions": "none"}):
        decided = await decider(ScriptedModel(reply, reply, name="weak"), PRESS).decide(situation)
        assert (decided.decision, decided.decider, decided.kind) == (PRESS, "explorer", "embedded"), reply
        assert "weak twice gave a decision that does not fit" in decided.note
        assert len(decided.refused) == 2, reply
        assert all(why.strip() for _, why in decided.refused), reply
        assert decided.asked == "weak"


async def test_the_explorer_ends_a_run_in_a_models_place_only_where_that_fails_again_and_again():
    situation = Situation(VIEW, None, "Step 1.", 0, 9)
    asked = decider(ScriptedModel(*[{}] * 2 * MISSED, name="weak"), GIVE_UP)
    made = [await asked.decide(situation) for _ in range(MISSED)]
    assert [one.decision.end is None for one in made] == [True] * (MISSED - 1) + [False]
    asked = decider(ScriptedModel({}, {}, PRESS, {}, {}, {}, {}, name="weak"), GIVE_UP)
    made = [await asked.decide(situation) for _ in range(4)]
    assert all(one.decision.end is None for one in made), "a step that was right begins the count anew"
