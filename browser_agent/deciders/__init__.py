"""Holds decisions of a run: their form, who makes them, their actions in words, and the pages a quote must be on."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, model_validator

from browser_agent.actions import Action, PageAction, Terminal, is_ref
from browser_agent.observation import FrozenModel, Observation
from ctxfold.decisions.fold import FoldDirective
from ctxfold.decisions.register import ItemWritten
from ctxfold.errors import InputError
from ctxfold.models import Usage
from ctxfold.text.words import counted
from ctxfold.view.render import View
from ctxfold.workspace import Decider as DeciderKind
from ctxfold.workspace import Workspace

MOST_ACTIONS = 8
"""The most actions one decision may hold."""


class LinesToRecall(FrozenModel):
    """Lines of the log to see again."""

    ref: str = Field(description="As s12.2:40-80; s12 alone is what that step found.")
    why: str = Field(default="", max_length=200)


class Decision(FrozenModel):
    """One step: why, what to fold of earlier steps, what to do now, and what changed in the to-do.

    The shape is that of AgentFold (arXiv 2510.24699), section 3: reasoning, a directive to fold, an action.
    """

    thought: str = Field(min_length=1, description="Why, in one or two sentences: what is known and what is missing.")
    fold: FoldDirective | None = Field(
        default=None,
        description="What to keep of earlier steps. Usually the latest alone; several once a part of the task is done.",
    )
    actions: tuple[Action, ...] = Field(
        min_length=1,
        max_length=MOST_ACTIONS,
        description='Done in order. `ref` is an element as it is then: e12 or a name, button "Save". '
        "answer and give_up come alone.",
    )

    todo: tuple[ItemWritten, ...] = Field(
        default=(),
        max_length=12,
        description="New items of the to-do, and items whose state changed with what shows it.",
    )
    memory: dict[str, str] = Field(
        default={}, description="Where you are told that a memory is due: its parts, all that later steps must know."
    )
    found: str = Field(
        default="", max_length=600, description="What you learned and must keep in sight: a line with exact values."
    )
    recall: tuple[LinesToRecall, ...] = Field(
        default=(), max_length=8, description="Exact lines of earlier steps to see again at the end of the context."
    )

    @model_validator(mode="after")
    def _check_that_an_end_comes_alone(self) -> Self:
        if len(self.actions) > 1 and any(isinstance(action, Terminal) for action in self.actions):
            raise ValueError("answer and give_up come alone: look at the page first, and end the run in the next step")
        return self

    @property
    def end(self) -> Terminal | None:
        """The action that ends the run, if this is one."""
        only = self.actions[0]
        return only if isinstance(only, Terminal) else None

    @property
    def page_actions(self) -> tuple[PageAction, ...]:
        """The actions on the page; none if the run ends."""
        return tuple(action for action in self.actions if not isinstance(action, Terminal))


_LONGEST = 40
"""Characters of a quoted text in a description."""
_IN_WORDS = {
    "navigate": "open {url}",
    "back": "go back",
    "click": "click {ref}",
    "hover": "hover over {ref}",
    "drag": "drag {ref} to {to}",
    "type": "type {text} into {ref}{submit}",
    "fill_form": "fill {fields}",
    "select": "choose {values} in {ref}",
    "check": "{checked} {ref}",
    "press": "press {key}",
    "scroll": "scroll {direction}",
    "upload": "upload {paths}",
    "download": "download {ref}",
    "dialog": "{accept} the dialog",
    "tab": "{op} tab",
    "wait_for": "wait",
    "find": "find {query} on the page",
    "read": "read page {page} of it",
    "extract": "extract its values",
    "answer": "answer",
    "give_up": "give up",
}
"""Each kind of action in words; the names in braces are its fields."""
_YES_NO = {"submit": (" and submit", ""), "checked": ("check", "uncheck"), "accept": ("accept", "dismiss")}


def describe_decision(decision: Decision, observation: Observation | None) -> str:
    """Describe a decision's actions, in order."""
    return ", then ".join(_describe(action, observation) for action in decision.actions)


def trim_address(url: str) -> str:
    """Trim an address to its path, or a search to its words."""
    parts = urlsplit(url)
    words = next((value for _, value in reversed(parse_qsl(parts.query))), "")
    name = parts.path.strip("/") or parts.netloc or url
    return f"{name} for {_quote(words)}" if words else f"{name}#{parts.fragment}" if parts.fragment else name


def _describe(action: Action, observation: Observation | None) -> str:
    fields = {name: _describe_field(name, getattr(action, name), observation) for name in type(action).model_fields}
    return _IN_WORDS[action.kind].format_map(fields)


def _describe_field(name: str, value: object, observation: Observation | None) -> str:
    match name, value:
        case "ref" | "to", str() if is_ref(value):
            control = observation.refs.get(value) if observation is not None else None
            return _quote(control.name) if control is not None and control.name else value
        case "url", str():
            return trim_address(value)
        case "ref" | "to" | "text" | "query", str():
            return _quote(value)
        case "query" | "values", tuple():
            return _quote(", ".join(value))
        case "fields" | "paths", tuple():
            return counted(len(value), "field" if name == "fields" else "file")
        case ("submit" | "checked" | "accept") as flag, bool():
            return _YES_NO[flag][not value]
        case _:
            return str(value)


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat}”" if len(flat) <= _LONGEST else f"“{flat[: _LONGEST - 1]}…”"


REMEMBERED = 60
"""Pages of which the text is kept, the newest. A quote from an older page is taken once the page is opened again."""
_MARKS = re.compile(r"(?<=\s)\|(?=\s)|\[(?:f\d+)?e\d+\]")
"""The marks between cells and after controls in a page's text, which are not in the page."""
_NAMED = 80
"""Characters of a quote in an error."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage of a page.

    Attributes:
        quote: an exact slice of the page's text; the explorer's have at most 80 words.
        url: the page, with the anchor if there is one.
        ref: the page's snapshot in the session's log, for `ctxfold recall`; empty if the session has none.
    """

    quote: str
    url: str
    ref: str = ""


class Evidence:
    """The text of the last pages seen, by address. It grows by `add`."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, tuple[str, tuple[tuple[str, str], ...]]] = OrderedDict()

    def add(self, observation: Observation, ref: str) -> None:
        """Take a page in; `ref` is its snapshot in the log."""
        texts = [(part.anchor, text) for part in observation.sections for text in (part.title, part.text) if text]
        url = address(observation.url)
        self._pages[url] = (ref, tuple(texts or [("", observation.full)]))
        self._pages.move_to_end(url)
        while len(self._pages) > REMEMBERED:
            self._pages.popitem(last=False)

    def ref(self, url: str) -> str:
        """Return the ref of a page's snapshot; empty if the page was not seen."""
        return self._pages.get(address(url), ("", ()))[0]

    def source(self, quote: str, url: str | None) -> Source:
        """Return a quote as the exact slice of its page, apart from white space and the marks of a page's text.

        `url` is the page it is said to be from; None if that was not said. Raises InputError: no page seen has the
        quote.
        """
        words = _MARKS.sub(" ", quote).split()
        pattern = re.compile(r"[\s|]+".join(map(re.escape, words)))
        named = address(url) if url and address(url) in self._pages else None
        for where in (named,) if named else reversed(self._pages) if words else ():
            ref, texts = self._pages[where]
            for anchor, text in texts if words else ():
                if found := pattern.search(text):
                    return Source(found.group(), f"{where}#{anchor}" if anchor else where, ref)
        raise InputError(
            f"no page seen has the quote {quote[:_NAMED]!r}: copy it from the page word for word, from one paragraph, "
            "row or line, or leave it out"
        )


def address(url: str) -> str:
    """Return an address without its fragment."""
    return url.partition("#")[0]


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a decision is made on.

    Attributes:
        view: the session's context within the budget; its latest step holds the current page.
        observation: the current page; None before the first, or without a page to look at.
        now: the words that close the context: the number of the step, and warnings.
        tip: the last step recorded, 0 before the first.
        steps_left: how many decisions the limits leave, this one included.
        workspace: the workspace that the view was rendered from.
    """

    view: View
    observation: Observation | None
    now: str
    tip: int
    steps_left: int
    workspace: Workspace = field(default_factory=Workspace)


@dataclass(frozen=True, slots=True)
class DecidedStep:
    """A decision, and by whom.

    Attributes:
        decision: the decision.
        decider: the name of who decided it.
        kind: the sort of decider, as the session's events say it.
        usage: the cost of each reply of a model; empty without a model.
        note: a note for a person on how it came about; empty for none.
        candidates: if the run ends, the passages that fit best, at most three, best first.
        refused: each reply of a model that did not fit, with its fault.
        asked: that model's name.
    """

    decision: Decision
    decider: str
    kind: DeciderKind
    usage: tuple[Usage, ...] = ()
    note: str = ""
    candidates: tuple[Source, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    asked: str = ""


class Decider(Protocol):
    """Anything that decides the steps of a run."""

    @property
    def name(self) -> str:
        """The name by which it was chosen."""

    async def decide(self, situation: Situation) -> DecidedStep:
        """Decide one step.

        Raises:
            ModelError: a model could not be asked.
        """

    def candidates(self) -> tuple[Source, ...]:
        """Return the passages that fit the task best so far, at most three, for a run that is cut short."""
