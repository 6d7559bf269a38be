"""A small model that answers badly half of the time, with a folder of its own: the run ends right, and who decided each step is shown and kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import StepTaken
from browser_agent.agent.settings import Keeping, Watching
from ctxfold import Session
from ctxfold.models import Reply, Request, Roles, Usage
from ctxfold.models.named import ScriptedModel
from tests.sites.server import Site
from tests.support.sessions import events

pytestmark = pytest.mark.anyio

PAGES = 9
WEAK = (
    {"thought": "I forgot what to do."},
    {"thought": "Click it.", "actions": [{"kind": "clack", "ref": "e1"}]},
    {"thought": "I know.", "actions": [{"kind": "answer", "text": "Never.", "quote": "A tide that is on no page"}]},
    {"thought": "Both.", "actions": [{"kind": "press", "key": "a"}, {"kind": "give_up", "reason": "tired"}]},
)


class SmallModel:
    """Opens the pages one after the other and answers from the seventh; of its replies every other one is of no use."""

    name = "small"

    def __init__(self, url: str, seed: int) -> None:
        self._url, self._dice, self._page = url, random.Random(seed), 1

    async def decide(self, request: Request) -> Reply:
        """A step, or something that is none."""
        used = Usage(len(str(request.messages)) // 4, 20)
        if self._dice.random() < 0.5:
            if self._dice.random() < 0.3:
                return Reply(
                    {}, used, fault="- the reply was words alone: decide by calling `decide`", words="Let me think."
                )
            return Reply(self._dice.choice(WEAK), used)
        self._page += 1
        if self._page <= PAGES:
            action: dict[str, Any] = {"kind": "navigate", "url": f"{self._url}/{self._page}"}
        else:
            action = {"kind": "answer", "text": "Gate 7 opens at 4:37.", "quote": "Gate 7 opens at 4:37"}
        return Reply({"thought": f"On to page {self._page}.", "actions": [action]}, used)


class Folder(ScriptedModel):
    """Sums up whatever it is shown, in words that hold no value."""

    async def decide(self, request: Request) -> Reply:
        """The summary, the plan or the lines that are asked for."""
        self.requests.append(request)
        answers: dict[str, dict[str, Any]] = {
            "keep": {"summary": "Opened pages about gates and read when they open."},
            "plan": {"summary": "The user asks about a gate."},
            "extract": {"selections": []},
        }
        return Reply(answers[request.tool.name], Usage(200, 20))


@pytest.mark.parametrize("seed", [3])
async def test_a_model_that_answers_badly_half_of_the_time_comes_to_the_right_end(
    serve: Callable[[dict[str, str]], Site], seed: int
):
    told: list[StepTaken] = []
    prose = "<p>" + "The gate is made of old iron and painted each spring by hand. " * 12 + "</p>"
    pages = {
        f"/{n}": f"<title>Gate {n}</title><main><h1>Gate {n}</h1><p>Gate {n} opens at 4:3{n}.</p>{prose}</main>"
        for n in range(1, PAGES + 1)
    }
    site = serve(pages)
    strong = Folder(name="strong")
    keeping = Keeping(f"gates-{seed}", folder=Roles(folder=strong, planner=strong, reader=strong))
    async with BrowserAgent(SmallModel(site.url, seed), budget=2_000, keeping=keeping) as agent:
        result = await agent.run("When does gate 7 open?", f"{site.url}/1", Watching(step=told.append))
    assert (result.status, result.answer) == ("answered", "Gate 7 opens at 4:37.")
    assert {step.decider for step in told[1:]} <= {"small", "explorer"}
    assert sum(step.decider == "small" for step in told) >= PAGES - 1
    taken_over = [step for step in told if "the explorer decided this step" in step.note]
    assert len(taken_over) == result.usage.refused > 0
    with Session.open(f"gates-{seed}", create=False) as session:
        kept = events(session)
    refused = [event for event in kept if event.kind == "refused"]
    assert {event.cause for event in refused} == {"a step, asked of small"}
    assert sum(len(event.refused) for event in refused) >= 2 * result.usage.refused
    assert all(text and why for event in refused for text, why in event.refused)
    assert any(event.kind == "folded" and event.decider == "model" for event in kept), "the folder folded"
    assert {request.tool.name for request in strong.requests} >= {"keep", "plan"}
