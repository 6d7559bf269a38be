"""Defines the actions that a decider may ask for, as a closed union with a JSON schema, and their results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from browser_agent.observation import Control, FrozenModel, Observation, View
from browser_agent.observation import ExtractValues as ExtractValues
from browser_agent.observation import Find as Find
from browser_agent.observation import Read as Read
from browser_agent.observation import Ref as Ref
from browser_agent.observation.observe import drop_repeats


class Navigate(FrozenModel):
    """Open an address."""

    kind: Literal["navigate"]
    url: str = Field(min_length=1)


class Back(FrozenModel):
    """Go one page back in history."""

    kind: Literal["back"]


class Click(FrozenModel):
    """Click an element."""

    kind: Literal["click"]
    ref: Ref


class Hover(FrozenModel):
    """Move the pointer over an element, such as a menu that opens so."""

    kind: Literal["hover"]
    ref: Ref


class Drag(FrozenModel):
    """Drag an element onto another."""

    kind: Literal["drag"]
    ref: Ref
    to: Ref


class Type(FrozenModel):
    """Replace the text of one field; `submit` presses Enter after."""

    kind: Literal["type"]
    ref: Ref
    text: str
    submit: bool = False


class FieldValue(FrozenModel):
    """One field of a form and what to put in it: text, an option's label, or true/false for a box."""

    ref: Ref
    value: str

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """Take true, false and numbers as they are written."""
        return str(value).lower() if isinstance(value, bool | int | float) else value


class FillForm(FrozenModel):
    """Fill several fields at once. Nothing is submitted."""

    kind: Literal["fill_form"]
    fields: tuple[FieldValue, ...] = Field(min_length=1)


class Select(FrozenModel):
    """Choose options of a list, by label or value."""

    kind: Literal["select"]
    ref: Ref
    values: tuple[str, ...] = Field(min_length=1)


class Check(FrozenModel):
    """Set a checkbox, radio button or switch."""

    kind: Literal["check"]
    ref: Ref
    checked: bool = True


class Press(FrozenModel):
    """Press a key, such as Enter, Escape or Control+A, on an element or on the page."""

    kind: Literal["press"]
    key: str = Field(min_length=1, max_length=40)
    ref: Ref | None = None


class Scroll(FrozenModel):
    """Scroll the page, or the scrolling area an element is in, by one screen or to an end."""

    kind: Literal["scroll"]
    direction: Literal["up", "down", "left", "right", "top", "bottom"]
    ref: Ref | None = None


class Upload(FrozenModel):
    """Put local files into a file field."""

    kind: Literal["upload"]
    ref: Ref
    paths: tuple[str, ...] = Field(min_length=1)


class Download(FrozenModel):
    """Click an element that starts a download, and keep the file."""

    kind: Literal["download"]
    ref: Ref


class Dialog(FrozenModel):
    """Answer the open alert, confirm or prompt. While one is open nothing else works."""

    kind: Literal["dialog"]
    accept: bool
    text: str | None = None


class Tab(FrozenModel):
    """List, switch, open or close tabs; `index` counts from 1."""

    kind: Literal["tab"]
    op: Literal["list", "new", "switch", "close"]
    index: int | None = Field(default=None, ge=1)
    url: str | None = None

    @model_validator(mode="after")
    def _switch_says_where(self) -> Self:
        if self.op == "switch" and self.index is None:
            raise ValueError("switch needs the index of a tab")
        return self


class WaitFor(FrozenModel):
    """Wait until a text shows, the address contains something, or the page has loaded or gone quiet."""

    kind: Literal["wait_for"]
    text: str | None = None
    url: str | None = None
    event: Literal["load", "quiet"] | None = None
    seconds: float = Field(default=5.0, gt=0, le=30)

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if sum(part is not None for part in (self.text, self.url, self.event)) != 1:
            raise ValueError("wait_for needs exactly one of text, url, event")
        return self


class Answer(FrozenModel):
    """End the run with an answer, the passage that bears it, and its address; `data` only where the answer has a
    schema.
    """

    kind: Literal["answer"]
    text: str = Field(min_length=1)
    quote: str | None = None
    url: str | None = None
    data: Any = None


class GiveUp(FrozenModel):
    """End the run without an answer, and say why."""

    kind: Literal["give_up"]
    reason: str = Field(min_length=1)


PageAction = (
    Navigate | Back | Click | Hover | Drag | Type | FillForm | Select | Check | Press | Scroll | Upload
    | Download | Dialog | Tab | WaitFor | Find | Read | ExtractValues
)  # fmt: skip
"""The actions that `perform` does."""

Terminal = Answer | GiveUp
"""The actions that end a run. The agent loop handles these, and `perform` never gets one."""

Action = Annotated[PageAction | Terminal, Field(discriminator="kind")]
"""Everything a decider may ask for, distinguished by `kind`."""

_REF = re.compile(r"(?:f\d+)?e\d+")


def is_ref(target: str) -> bool:
    """Return whether an element is called by its ref, and not by its name."""
    return _REF.fullmatch(target) is not None


def name_targets(action: PageAction) -> tuple[str, ...]:
    """Return the refs or names of the elements that an action acts on."""
    if isinstance(action, FillForm):
        return tuple(field.ref for field in action.fields)
    targets = (getattr(action, part, None) for part in ("ref", "to"))
    return tuple(target for target in targets if target is not None)


def with_targets(action: PageAction, change: Callable[[str], str]) -> PageAction:
    """Return an action with `change` applied to the refs or names of its elements."""
    if isinstance(action, FillForm):
        fields = tuple(field.model_copy(update={"ref": change(field.ref)}) for field in action.fields)
        return action.model_copy(update={"fields": fields})
    targets = {part: getattr(action, part, None) for part in ("ref", "to")}
    return action.model_copy(update={part: change(name) for part, name in targets.items() if name is not None})


def is_reading(action: PageAction) -> bool:
    """Return whether an action changes nothing of a page."""
    return isinstance(action, View | WaitFor) or (isinstance(action, Tab) and action.op == "list")


OutcomeKind = Literal[
    "done",  # everything asked was done
    "page_changed",  # stopped early: an action replaced the page, so the refs of the rest were void
    "unknown_ref",  # a ref that the last observation does not have, or a name that fits no element or several
    "stale_ref",  # its element has left the page since the last observation
    "not_possible",  # the element cannot take this action (disabled, covered, not a field, no such option)
    "timed_out",  # the page answered, but not in time
    "unreachable",  # the address could not be opened
    "http_error",  # the server answered with an error page, which is shown
    "refused",  # a safety rule stopped it
    "dialog_open",  # a dialog must be answered first
    "nothing_to_do",  # no history, no dialog, no such tab, no download came
    "page_recovered",  # the page hung or crashed, and an empty tab replaced it
    "browser_gone",  # the browser died and could not be started again
]


class ActionResult(FrozenModel):
    """One action and its result.

    Attributes:
        seen: the part that a reading action showed, where other actions followed it.
        late: requests of the action before that the page was kept from sending after it.
        named: the elements that the action called by name; `action` has their refs.
    """

    action: PageAction
    kind: OutcomeKind
    message: str
    seen: Observation | None = None
    late: str = ""
    named: tuple[Control, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.kind == "done"


class Outcome(FrozenModel):
    """The result of one decision's actions.

    Attributes:
        results: one for each action that was tried, in order.
        observation: the page afterwards, only the dialog where one is open; None without a page to look at.
        skipped: how many actions were left undone.
        downloads: paths of the files that arrived.
    """

    kind: OutcomeKind
    message: str
    observation: Observation | None
    results: tuple[ActionResult, ...]
    skipped: int = 0
    downloads: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of all observations in order, the page afterwards last; title and address of a page once."""
        seen = [*(result.seen for result in self.results), self.observation]
        return drop_repeats([page for page in seen if page is not None])

    @property
    def notes(self) -> str:
        """The requests that the page was kept from sending after an action had ended; empty without any."""
        return "; ".join(result.late for result in self.results if result.late)

    @property
    def ok(self) -> bool:
        """Whether every action was done, or the last one done replaced the page, so that the rest was left."""
        return self.kind in ("done", "page_changed")


class Stop(Exception):
    """An action was not done, for a reason in one line. `covered`: another element lies over the one meant."""

    def __init__(self, kind: OutcomeKind, message: str, covered: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.covered = covered
