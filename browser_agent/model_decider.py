"""The decider that asks a model, and lets the explorer take over a step that the model cannot decide. It performs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from browser_agent.actions import Answer
from browser_agent.deciding import Decided, Situation
from browser_agent.decision import Decision
from browser_agent.evidence import Evidence
from browser_agent.explorer import Explorer
from browser_agent.guard.secrets import Secrets
from browser_agent.result import Source
from ctxfold.errors import InvalidReply
from ctxfold.models import Model, Reply, Request, Tool, Usage, ask
from ctxfold.prompts import prompt

__all__ = ["ModelDecider"]

_PROMPTS = "browser_agent.prompts"


class ModelDecider:
    """Asks a model for each step.

    Args:
        model: who is asked.
        evidence: the pages seen, which an answer's quote must stand on.
        explorer: who decides a step that the model twice got wrong.
        secrets: what it may type by placeholder.
    """

    def __init__(self, model: Model, evidence: Evidence, explorer: Explorer, secrets: Secrets) -> None:
        self.name = model.name
        self._model = model
        self._evidence = evidence
        self._explorer = explorer
        self._tool = Tool.deciding(Decision, prompt("decide", _PROMPTS))
        named = [prompt("secret", _PROMPTS, name=one.placeholder, domain=one.domain) for one in secrets.all]
        self._system = "\n".join([prompt("system", _PROMPTS), *named])

    async def decide(self, situation: Situation) -> Decided:
        """Decide one step. A reply that does not fit goes back once with the reason; then the explorer decides, and the note says so."""
        spent: list[Usage] = []

        def seen(reply: Reply) -> None:
            spent.append(reply.usage)

        closing = {"role": "user", "content": [{"type": "text", "text": situation.now}]}
        request = Request(
            system=self._system,
            messages=[*situation.view.messages, closing],
            tool=self._tool,
            stable=situation.view.stable,
        )
        try:
            decision = await ask(self._model, request, self._validated, seen)
        except InvalidReply as refused:
            taken_over = await self._explorer.decide(situation)
            note = f"{refused}; the explorer decided this step"
            return Decided(
                taken_over.decision, taken_over.decider, taken_over.kind, tuple(spent), note, taken_over.nearest
            )
        return Decided(decision, self.name, "model", tuple(spent))

    def nearest(self) -> tuple[Source, ...]:
        """A model keeps no passages of its own."""
        return ()

    def _validated(self, arguments: Mapping[str, Any]) -> Decision:
        """The decision of a reply's arguments; an answer's quote is the exact slice of the page it is from."""
        decision = Decision.model_validate(arguments)
        match decision.end:
            case Answer(quote=str(quote)) as answer:
                source = self._evidence.source(quote, answer.url)
                exact = answer.model_copy(update={"quote": source.quote, "url": source.url})
                return decision.model_copy(update={"actions": (exact,)})
            case _:
                return decision
