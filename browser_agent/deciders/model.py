"""Asks a model for each step, and the explorer after the model's second unusable reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from browser_agent.actions import Answer, Extract, GiveUp, WaitFor
from browser_agent.deciders.answer_schema import Shape
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.protocol import Decided, Decider, Situation
from browser_agent.deciders.sources import Evidence, Source
from browser_agent.deciders.tool import decide_tool
from browser_agent.network.secrets import Secrets
from ctxfold.decisions.fold.parse import Compliance, parse
from ctxfold.errors import InputError, InvalidReply
from ctxfold.models import Model, Reply, Request, Usage, ask
from ctxfold.models.protocol import spoken
from ctxfold.prompts import prompt

__all__ = ["ModelDecider"]

_PROMPTS = "browser_agent.prompts"

MISSED = 3
"""Steps in a row that a model gets wrong before the explorer may end the run in its place."""


class ModelDecider:
    """Asks a model for each step. `evidence`: the pages seen, which an answer's quote must stand on; `explorer`: who decides a step that it twice got wrong;
    `secrets`: what it may type by placeholder; `shape`: the form the answer must have, None for words.
    """

    def __init__(
        self, model: Model, evidence: Evidence, explorer: Decider, secrets: Secrets, shape: Shape | None = None
    ) -> None:
        self.name = model.name
        self._model = model
        self._evidence = evidence
        self._explorer = explorer
        self._tool = decide_tool()
        named = [prompt("secret", _PROMPTS, name=one.placeholder, domain=one.domain) for one in secrets.all]
        wanted = [prompt("schema", _PROMPTS, schema=shape)] if shape is not None else []
        self._system = "\n".join([prompt("system", _PROMPTS), *named, *wanted])
        self._shape = shape
        self._in_words = False
        self._missed = 0
        self._compliance = Compliance()

    async def decide(self, situation: Situation) -> Decided:
        """Decide one step. A reply that does not fit goes back once with the reason; then the explorer decides, and the note says so.

        A model that once answered in words is asked for words from then on: the form is added to what it is told.
        """
        spent: list[Usage] = []
        wrong: list[tuple[str, str]] = []
        self._compliance = Compliance()

        def seen(reply: Reply) -> None:
            spent.append(reply.usage)
            self._in_words |= bool(reply.words)

        def words(reply: str) -> Mapping[str, Any]:
            return self._read_words(reply, situation)

        closing = {"role": "user", "content": [{"type": "text", "text": situation.now}]}
        request = Request(
            system=self._write_system(),
            messages=[*situation.view.messages, closing],
            tool=self._tool,
            stable=situation.stable,
        )
        try:
            decision = await ask(
                self._model,
                request,
                lambda given: self._check(given, situation),
                seen,
                words,
                lambda written, why: wrong.append((written, why)),
            )
        except InvalidReply as refused:
            self._missed += 1
            taken_over = self._stand_in(await self._explorer.decide(situation))
            note = f"{refused}; the explorer decided this step"
            decided = replace(taken_over, usage=tuple(spent), note=note, compliance=self._compliance)
        else:
            self._missed = 0
            decided = Decided(decision, self.name, "model", tuple(spent), compliance=self._compliance)
        return replace(decided, refused=tuple(wrong), asked=self.name)

    def _stand_in(self, decided: Decided) -> Decided:
        """What the explorer decides in the model's place. It gives up for want of links, which need not stop a model: that is asked anew at first."""
        if self._missed >= MISSED or not isinstance(decided.decision.end, GiveUp):
            return decided
        again = WaitFor(kind="wait_for", event="quiet", seconds=1)
        return replace(
            decided, decision=Decision(thought=prompt("ask_again", _PROMPTS), actions=(again,)), candidates=()
        )

    def candidates(self) -> tuple[Source, ...]:
        """A model keeps no passages of its own."""
        return ()

    def _write_system(self) -> str:
        """The system prompt; for a model without tools, with the form of a reply in words."""
        if not self._in_words:
            return self._system
        schema = json.dumps(self._tool.schema, ensure_ascii=False)
        return "\n".join([self._system, prompt("in_words", _PROMPTS, tool=self._tool.name, schema=schema)])

    def _read_words(self, reply: str, situation: Situation) -> Mapping[str, Any]:
        """The arguments of a reply in words, its fold as AgentFold writes it. Raises InputError: it holds none, or a fold that cannot be applied."""
        read = parse(reply, situation.workspace)
        self._compliance += read.compliance
        if read.reason is not None:
            raise InputError(f"- {read.reason}")
        arguments = spoken(read.text, self._tool.name)
        return arguments if read.directive is None else {**arguments, "fold": read.directive.model_dump()}

    def _check(self, arguments: Mapping[str, Any], situation: Situation) -> Decision:
        """The decision of a reply's arguments, an answer's quote as the exact slice of its page.

        Raises:
            InputError: it has no schema to extract by, or its answer does not have the schema asked for.
        """
        decision = Decision.model_validate(arguments)
        shape = self._shape
        if shape is not None:
            actions = tuple(
                action.model_copy(update={"wanted": dict(shape.schema)})
                if isinstance(action, Extract) and action.wanted is None
                else action
                for action in decision.actions
            )
            decision = decision.model_copy(update={"actions": actions})
        if any(isinstance(action, Extract) and action.wanted is None for action in decision.actions):
            raise InputError("extract needs `wanted`, a JSON schema: this task has none of its own")
        match decision.end:
            case Answer() as answer:
                return decision.model_copy(update={"actions": (self._check_answer(answer, situation),)})
            case _:
                return decision

    def _check_answer(self, answer: Answer, situation: Situation) -> Answer:
        changes: dict[str, object] = {}
        shown = situation.observation
        if answer.quote is None and (shown is None or not shown.full.strip()):
            raise InputError(
                "the page as it stands is empty, and nothing can be answered from it: wait for it, open another, "
                "quote a page seen before, or give up"
            )
        if answer.quote is not None:
            source = self._evidence.source(answer.quote, answer.url)
            changes |= {"quote": source.quote, "url": source.url}
        if self._shape is not None:
            page = situation.observation
            given = answer.data
            if given is None and page is not None and page.extracted is not None:
                given = page.extracted.value
            faults = self._shape.faults(given)
            if faults:
                raise InputError(f"`data` does not have the schema asked for: {'; '.join(faults)}")
            changes["data"] = given
        return answer.model_copy(update=changes)
