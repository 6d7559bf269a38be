"""The decider for answers with a JSON schema: takes labelled values off pages, and lets the explorer choose which page to open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from browser_agent.actions import Answer, Extract, GiveUp
from browser_agent.deciders import Decided, Decider, Decision, Situation, Source
from browser_agent.deciders.model import Shape
from browser_agent.observation import Extracted, Observation
from browser_agent.observation.inline import terms

__all__ = ["SchemaDecider"]

_ABOUT = 0.6
"""The share of a task's words a page must hold for its values to be taken without the explorer's word."""


class SchemaDecider:
    """Decides the steps of a run whose answer has a schema, with no model; the explorer finds the way."""

    def __init__(self, explorer: Decider, shape: Shape, task: str) -> None:
        self.name = explorer.name
        self._explorer = explorer
        self._shape = shape
        self._words = terms(task)
        self._tried: set[str] = set()
        self._best: tuple[int, Extracted, str] | None = None

    async def decide(self, situation: Situation) -> Decided:
        """Take the page's values, answer with them where they are all there, or go on as the explorer would."""
        page = situation.observation
        if page is not None and page.extracted is not None:
            self._keep(page.extracted, page.url)
            if self._fits(page.extracted) and self._is_about(page):
                return self._answer(page.extracted.value, page.url, None)
        elif page is not None and page.fingerprint not in self._tried:
            self._tried.add(page.fingerprint)
            take = Extract(kind="extract", wanted=dict(self._shape.schema))
            return self._decide("See what the page has of what is wanted.", take)
        return self._fit_answer(await self._explorer.decide(situation), page)

    def candidates(self) -> tuple[Source, ...]:
        """The explorer's candidates."""
        return self._explorer.candidates()

    def _fit_answer(self, decided: Decided, page: Observation | None) -> Decided:
        """The explorer's decision; its answer as the schema has it, or what is missing of it."""
        match decided.decision.end:
            case Answer(text=text, quote=quote, url=url):
                here = page.extracted if page is not None and page.extracted is not None else None
                if here is not None and self._fits(here):
                    return self._answer(here.value, url or "", quote)
                only = _wrap_text(self._shape.schema, text)
                if only is not None and not self._shape.faults(only):
                    return self._answer(only, url or "", quote)
                return self._give_up(decided, f"a passage that may answer stands at {url}")
            case GiveUp(reason=reason):
                return self._give_up(decided, reason)
            case _:
                return decided

    def _give_up(self, decided: Decided, why: str) -> Decided:
        """No answer: why, and what the page with most of it lacks."""
        lacks = ""
        if self._best is not None:
            _, best, url = self._best
            faults = "; ".join(self._shape.faults(best.value)) or "what the task is about"
            lacks = f". {url} has some of what is wanted and lacks: {faults}"
        else:
            lacks = (
                f". No page seen labels any of it: {', '.join(self._shape.schema.get('required', ())) or 'the answer'}"
            )
        end = GiveUp(kind="give_up", reason=why + lacks)
        candidates = decided.candidates or self._explorer.candidates()
        return replace(decided, decision=decided.decision.model_copy(update={"actions": (end,)}), candidates=candidates)

    def _answer(self, value: object, url: str, quote: str | None) -> Decided:
        text = json.dumps(value, ensure_ascii=False)
        return self._decide(
            "The page has all of it.", Answer(kind="answer", text=text, quote=quote, url=url or None, data=value)
        )

    def _decide(self, thought: str, action: Extract | Answer) -> Decided:
        return Decided(Decision(thought=thought, actions=(action,)), self.name, "embedded")

    def _fits(self, extracted: Extracted) -> bool:
        return extracted.value is not None and not self._shape.faults(extracted.value)

    def _keep(self, extracted: Extracted, url: str) -> None:
        if extracted.value is not None:
            found = _count_values(extracted.value)
            if self._best is None or found > self._best[0]:
                self._best = (found, extracted, url)

    def _is_about(self, page: Observation) -> bool:
        words = terms(f"{page.title} {page.url} {page.full}")
        return not self._words or len(self._words & words) >= _ABOUT * len(self._words)


def _wrap_text(schema: Mapping[str, Any], text: str) -> object:
    """A text as the one thing a schema wants, where that is a text; None where it wants more."""
    if schema.get("type") == "string":
        return text
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", tuple(properties))
    if len(required) == 1 and properties.get(required[0], {}).get("type") == "string":
        return {required[0]: text}
    return None


def _count_values(value: object) -> int:
    match value:
        case dict():
            return sum(map(_count_values, value.values()))
        case list():
            return sum(map(_count_values, value))
        case _:
            return 1
