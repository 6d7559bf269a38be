"""What chooses the next step of a run: a model, the explorer that needs none, or a decider for answers with a JSON schema."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol, Self, assert_never
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from browser_agent.actions import (
    Action,
    Answer,
    Back,
    Check,
    Click,
    Dialog,
    Download,
    Drag,
    ExtractValues,
    FillForm,
    Find,
    GiveUp,
    Hover,
    Navigate,
    PageAction,
    Press,
    Read,
    Scroll,
    Select,
    Tab,
    Terminal,
    Type,
    Upload,
    WaitFor,
    is_ref,
)
from browser_agent.observation import Observation
from ctxfold.decisions.fold import FoldDirective
from ctxfold.decisions.register import ItemWritten
from ctxfold.decisions.reply import Compliance
from ctxfold.errors import InputError
from ctxfold.models import Usage
from ctxfold.text.words import counted
from ctxfold.view.render import View
from ctxfold.workspace import Decider as DeciderKind
from ctxfold.workspace import Workspace

MOST_ACTIONS = 8
"""The most actions one decision may hold."""


class LinesWanted(BaseModel):
    """Lines of the log to see again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str = Field(description="As s12.2:40-80; s12 alone is what that step found.")
    why: str = Field(default="", max_length=200)


class Decision(BaseModel):
    """One step: why, what to fold of what lies behind, what to do now, and what changed in the to-do."""

    # Source of the shape: AgentFold (arXiv 2510.24699), section 3: each reply holds its reasoning, a directive to fold and an action.

    model_config = ConfigDict(frozen=True, extra="forbid")

    thought: str = Field(min_length=1, description="Why, in one or two sentences: what is known and what is missing.")
    fold: FoldDirective | None = Field(
        default=None,
        description="What to keep of earlier steps. Usually the latest alone; several once a part of the task is done.",
    )
    actions: tuple[Action, ...] = Field(
        min_length=1,
        max_length=MOST_ACTIONS,
        description='Done in order. `ref` is an element as it stands then: e12 or a name, button "Save". answer and give_up stand alone.',
    )

    todo: tuple[ItemWritten, ...] = Field(
        default=(),
        max_length=12,
        description="New items of the to-do, and items whose state changed with what shows it.",
    )
    found: str = Field(
        default="", max_length=600, description="What you learned and must keep in sight: a line with exact values."
    )
    recall: tuple[LinesWanted, ...] = Field(
        default=(), max_length=8, description="Exact lines of earlier steps to see again at the end of the context."
    )

    @model_validator(mode="after")
    def _an_end_stands_alone(self) -> Self:
        if len(self.actions) > 1 and any(isinstance(action, Terminal) for action in self.actions):
            raise ValueError("answer and give_up stand alone: look at the page first, and end the run in the next step")
        return self

    @property
    def end(self) -> Terminal | None:
        """The action that ends the run, if this is one."""
        only = self.actions[0]
        return only if isinstance(only, Terminal) else None

    @property
    def page_actions(self) -> tuple[PageAction, ...]:
        """What is to be done to the page; nothing where the run ends."""
        return tuple(action for action in self.actions if not isinstance(action, Terminal))


_LONGEST = 40
_PLAIN: dict[type[Action], str] = {
    Back: "go back",
    WaitFor: "wait",
    ExtractValues: "extract its values",
    Answer: "answer",
    GiveUp: "give up",
}


def describe_decision(decision: Decision, observation: Observation | None) -> str:
    """Describe a decision's actions, in order."""
    return ", then ".join(_describe(action, observation) for action in decision.actions)


def shorten_address(url: str) -> str:
    """Shorten an address to its path, or a search to its words."""
    parts = urlsplit(url)
    words = next((value for _, value in reversed(parse_qsl(parts.query))), "")
    name = parts.path.strip("/") or parts.netloc or url
    return f"{name} for {_quote(words)}" if words else f"{name}#{parts.fragment}" if parts.fragment else name


def _describe(action: Action, observation: Observation | None) -> str:
    match action:
        case Navigate(url=url):
            return f"open {shorten_address(url)}"
        case Click(ref=ref):
            return f"click {_name_element(ref, observation)}"
        case Hover(ref=ref):
            return f"hover over {_name_element(ref, observation)}"
        case Drag(ref=ref, to=to):
            return f"drag {_name_element(ref, observation)} to {_name_element(to, observation)}"
        case Type(ref=ref, text=text, submit=submit):
            return f"type {_quote(text)} into {_name_element(ref, observation)}{' and submit' if submit else ''}"
        case FillForm(fields=fields):
            return f"fill {counted(len(fields), 'field')}"
        case Select(ref=ref, values=values):
            return f"choose {_quote(', '.join(values))} in {_name_element(ref, observation)}"
        case Check(ref=ref, checked=checked):
            return f"{'check' if checked else 'uncheck'} {_name_element(ref, observation)}"
        case Press(key=key):
            return f"press {key}"
        case Scroll(direction=direction):
            return f"scroll {direction}"
        case Upload(paths=paths):
            return f"upload {counted(len(paths), 'file')}"
        case Download(ref=ref):
            return f"download {_name_element(ref, observation)}"
        case Dialog(accept=accept):
            return f"{'accept' if accept else 'dismiss'} the dialog"
        case Tab(op=op):
            return f"{op} tab" if op != "list" else "list tabs"
        case Find(query=query):
            return f"find {_quote(query if isinstance(query, str) else ', '.join(query))} on the page"
        case Read(page=page):
            return f"read page {page} of it" if page > 1 else "read it in full"
        case Back() | WaitFor() | ExtractValues() | Answer() | GiveUp():
            return _PLAIN[type(action)]
        case _:
            assert_never(action)


def _name_element(ref: str, observation: Observation | None) -> str:
    if not is_ref(ref):
        return _quote(ref)
    control = observation.refs.get(ref) if observation is not None else None
    return _quote(control.name) if control is not None and control.name else ref


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat}”" if len(flat) <= _LONGEST else f"“{flat[: _LONGEST - 1]}…”"


REMEMBERED = 60
"""Pages whose text is kept, the newest. A quote from an older one is taken once it was opened again."""


_MARKS = re.compile(r"(?<=\s)\|(?=\s)|\[(?:f\d+)?e\d+\]")
"""What stands between cells and behind controls in what a model is shown of a page, and is no text of it."""
_NAMED = 80


@dataclass(frozen=True, slots=True)
class Source:
    """A passage and where it stands.

    Attributes:
        quote: an exact slice of the page's text, at most 80 words where the explorer chose it.
        url: the page, with the anchor where there is one.
        ref: the page's snapshot in the session's log, for `ctxfold recall`; empty where the session holds none.
        question: which question it answers, where a task asks several.
    """

    quote: str
    url: str
    ref: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class _Page:
    ref: str
    texts: tuple[tuple[str, str], ...]  # anchor, text


class Evidence:
    """The text of the last pages seen, by address. It grows by `add`."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, _Page] = OrderedDict()

    def add(self, observation: Observation, ref: str) -> None:
        """Take a page in."""
        texts = [(s.anchor, text) for s in observation.sections for text in (s.title, s.text) if text]
        if not texts:
            texts = [("", observation.full)]
        url = address(observation.url)
        self._pages[url] = _Page(ref, tuple(texts))
        self._pages.move_to_end(url)
        while len(self._pages) > REMEMBERED:
            self._pages.popitem(last=False)

    def ref(self, url: str) -> str:
        """The ref of a page's snapshot; empty where the page was not seen."""
        page = self._pages.get(address(url))
        return page.ref if page is not None else ""

    def source(self, quote: str, url: str | None) -> Source:
        """A quote as the exact slice of the page it is from: white space aside, and the marks that a model is shown between cells and behind controls.

        `url`: the page it is said to be from; None where that was not said. Raises InputError: it stands on no page that was seen.
        """
        words = _MARKS.sub(" ", quote).split()
        pattern = re.compile(r"[\s|]+".join(re.escape(word) for word in words)) if words else None
        named = self._pages.get(address(url)) if url else None
        pages = [(address(url or ""), named)] if named else list(reversed(self._pages.items()))
        for where, page in pages:
            for anchor, text in page.texts if pattern else ():
                match = pattern.search(text) if pattern else None
                if match:
                    return Source(match.group(), f"{where}#{anchor}" if anchor else where, page.ref)
        raise InputError(
            f"the quote {quote[:_NAMED]!r} stands on no page seen: copy it from the page word for word, from one paragraph, "
            "row or line, or leave it out"
        )


def address(url: str) -> str:
    """An address without its fragment."""
    return url.partition("#")[0]


@dataclass(frozen=True, slots=True)
class Situation:
    """All a decision is made on.

    Attributes:
        task: what the user asked.
        view: the session's context within the budget; its latest step holds the page as it stands now.
        observation: the page as it stands now; None before the first, or where there is none to look at.
        now: the words that close the context: the step, and what must be heeded.
        tip: the last step recorded, 0 before the first.
        steps_left: how many decisions the limits leave, this one included.
        repeated: whether the last decision was refused because it repeats what was tried on this very page.
        workspace: what the view was rendered from.
        stable: how many leading blocks of the view the next request is expected to keep.
    """

    task: str
    view: View
    observation: Observation | None
    now: str
    tip: int
    steps_left: int
    repeated: bool = False
    workspace: Workspace = field(default_factory=Workspace)
    stable: int = 0


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, and by whom.

    Attributes:
        decision: what was decided.
        decider: the name of who decided it.
        kind: what sort of decider that is, as the session's events say it.
        usage: what a model's replies cost, each by itself; empty without a model.
        note: what a person should know of how it came about; empty when there is nothing.
        candidates: where the run ends, the passages that fit best, at most three a question, best first.
        sources: the passages that bear the answer, where it is to several questions.
        compliance: how well replies in words kept to the form of a fold; nothing where a tool was called.
        refused: what a model wrote that did not fit, each with its fault.
        asked: that model's name.
    """

    decision: Decision
    decider: str
    kind: DeciderKind
    usage: tuple[Usage, ...] = ()
    note: str = ""
    candidates: tuple[Source, ...] = ()
    sources: tuple[Source, ...] = ()
    compliance: Compliance = field(default_factory=Compliance)
    refused: tuple[tuple[str, str], ...] = ()
    asked: str = ""


class Decider(Protocol):
    """Anything that decides the steps of a run."""

    @property
    def name(self) -> str:
        """The name it was chosen by."""
        ...

    async def decide(self, situation: Situation) -> Decided:
        """Decide one step.

        Raises:
            ModelError: a model could not be asked.
        """
        ...

    def candidates(self) -> tuple[Source, ...]:
        """The passages that fit the task best so far, at most three a question, for a run that is cut short."""
        ...
