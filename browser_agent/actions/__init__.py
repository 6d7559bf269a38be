"""The actions on a page, their outcomes, and `perform`, which does an action and returns its outcome."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WithJsonSchema, field_validator, model_validator

from browser_agent.observation import Control, Observation
from browser_agent.observation.observe import without_repeats

Ref = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description='Element ref such as e12, or name such as Save or button "Save".',
        json_schema_extra={"examples": ["e12"]},
    ),
]
"""An element: its ref from the last observation, or what it is called when its turn comes."""

Words = Annotated[str, Field(min_length=1)]


class _Value(BaseModel):
    # `kind` has no default: with one, the JSON schema shown to a model would call it optional while validation demands it.
    model_config = ConfigDict(frozen=True, extra="forbid")


class Navigate(_Value):
    """Open an address."""

    kind: Literal["navigate"]
    url: str = Field(min_length=1)


class Back(_Value):
    """Go one page back in history."""

    kind: Literal["back"]


class Click(_Value):
    """Click an element."""

    kind: Literal["click"]
    ref: Ref


class Hover(_Value):
    """Move the pointer over an element, such as a menu that opens so."""

    kind: Literal["hover"]
    ref: Ref


class Drag(_Value):
    """Drag an element onto another."""

    kind: Literal["drag"]
    ref: Ref
    to: Ref


class Type(_Value):
    """Replace the text of one field; `submit` presses Enter after."""

    kind: Literal["type"]
    ref: Ref
    text: str
    submit: bool = False


class FieldValue(_Value):
    """One field of a form and what to put in it: text, an option's label, or true/false for a box."""

    ref: Ref
    value: str

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """A box's true, and a number, as they are written."""
        return str(value).lower() if isinstance(value, bool | int | float) else value


class FillForm(_Value):
    """Fill several fields at once. Nothing is submitted."""

    kind: Literal["fill_form"]
    fields: tuple[FieldValue, ...] = Field(min_length=1)


class Select(_Value):
    """Choose options of a list, by label or value."""

    kind: Literal["select"]
    ref: Ref
    values: tuple[str, ...] = Field(min_length=1)


class Check(_Value):
    """Set a checkbox, radio button or switch."""

    kind: Literal["check"]
    ref: Ref
    checked: bool = True


class Press(_Value):
    """Press a key, such as Enter, Escape or Control+A, on an element or on the page."""

    kind: Literal["press"]
    key: str = Field(min_length=1, max_length=40)
    ref: Ref | None = None


class Scroll(_Value):
    """Scroll the page, or the scrolling area an element is in, by one screen or to an end."""

    kind: Literal["scroll"]
    direction: Literal["up", "down", "left", "right", "top", "bottom"]
    ref: Ref | None = None


class Upload(_Value):
    """Put local files into a file field."""

    kind: Literal["upload"]
    ref: Ref
    paths: tuple[str, ...] = Field(min_length=1)


class Download(_Value):
    """Click an element that starts a download, and keep the file."""

    kind: Literal["download"]
    ref: Ref


class Dialog(_Value):
    """Answer the open alert, confirm or prompt. While one is open nothing else works."""

    kind: Literal["dialog"]
    accept: bool
    text: str | None = None


class Tab(_Value):
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


class WaitFor(_Value):
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


class Find(_Value):
    """Show the places of the page that hold these words, with their refs; `links` adds where links lead."""

    kind: Literal["find"]
    query: Annotated[
        Words | Annotated[tuple[Words, ...], Field(min_length=1, max_length=8)],
        WithJsonSchema(
            {"type": "string", "minLength": 1}
        ),  # several are for hosts: the union costs each request of a run
    ]
    links: bool = False


class Read(_Value):
    """Show a part of the page in full: element `ref`, or the whole page; `page` counts from 1; `links` adds where links lead."""

    kind: Literal["read"]
    ref: Ref | None = None
    page: int = Field(default=1, ge=1)
    links: bool = False


class Extract(_Value):
    """Take the values of a JSON schema off the page and `urls`, each once `click` is clicked; the answer's schema where `wanted` is left out."""

    kind: Literal["extract"]
    wanted: dict[str, Any] | None = None
    urls: tuple[str, ...] = Field(default=(), max_length=20)
    click: Ref | None = None


class Answer(_Value):
    """End the run with an answer, the passage that bears it, and where that stands; `data` only where the answer has a schema."""

    kind: Literal["answer"]
    text: str = Field(min_length=1)
    quote: str | None = None
    url: str | None = None
    data: Any = None


class GiveUp(_Value):
    """End the run without an answer, and say why."""

    kind: Literal["give_up"]
    reason: str = Field(min_length=1)


PageAction = (
    Navigate | Back | Click | Hover | Drag | Type | FillForm | Select | Check | Press | Scroll | Upload
    | Download | Dialog | Tab | WaitFor | Find | Read | Extract
)  # fmt: skip
"""What `perform` applies."""

Terminal = Answer | GiveUp
"""What ends a run. The agent loop handles these; `perform` never sees one, and its signature says so."""

Action = Annotated[PageAction | Terminal, Field(discriminator="kind")]
"""Everything a decider may ask for, told apart by `kind`."""

ACTION: TypeAdapter[PageAction | Terminal] = TypeAdapter(Action)
"""Validates one action from JSON or a dict."""


OutcomeKind = Literal[
    "done",  # everything asked was done
    "page_changed",  # stopped early: an action replaced the page, so the refs of the rest were void
    "unknown_ref",  # a ref that is not in the last observation
    "stale_ref",  # its element has left the page since the last observation
    "not_possible",  # the element is there but cannot take this action (disabled, covered, not a field, no option)
    "timed_out",  # the page answered, but not in time
    "unreachable",  # the address could not be opened
    "http_error",  # the server answered with an error page, which is shown
    "refused",  # a safety rule stopped it
    "dialog_open",  # a dialog must be answered first
    "nothing_to_do",  # no history, no dialog, no such tab, no download came
    "page_recovered",  # the page hung or crashed; a new one stands in its place
    "browser_gone",  # the browser died and could not be brought back
]


class _OutcomeValue(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ActionResult(_OutcomeValue):
    """One action and what came of it.

    Attributes:
        seen: what one that reads showed, where others followed it.
        late: what the page was kept from sending after the action before.
        note: what its caller would not expect of one that was done.
        named: the elements that it called by their names; `action` has their refs.
    """

    action: PageAction
    kind: OutcomeKind
    message: str
    seen: Observation | None = None
    late: str = ""
    note: str = ""
    named: tuple[Control, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.kind == "done"


class Outcome(_OutcomeValue):
    """What came of one decision's actions.

    Attributes:
        results: one for each action that was tried, in order.
        observation: the page afterwards, behind an open dialog that alone; None where there is no page to look at.
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
        """What was seen, in order, the page afterwards last; title and address of a page once."""
        seen = [*(result.seen for result in self.results), self.observation]
        return without_repeats([one for one in seen if one is not None])

    @property
    def late(self) -> bool:
        """Whether the page was kept from sending something after actions that were over."""
        return any(result.late for result in self.results)

    @property
    def notes(self) -> str:
        """What the page was kept from sending after actions that were over, and what is to be said of those that were done; empty where there is nothing."""
        return "; ".join(said for result in self.results for said in (result.late, result.note) if said)

    @property
    def ok(self) -> bool:
        """Whether every action was done, or the last one done replaced the page, so that the rest was left."""
        return self.kind in ("done", "page_changed")


class Said(NamedTuple):
    """What is said of an action that was done, and what its caller would not expect of it."""

    message: str
    note: str = ""


class Stop(Exception):
    """An action was not done, for a reason in one line; `covered` where another element lies over the one meant."""

    def __init__(self, kind: OutcomeKind, message: str, covered: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.covered = covered
