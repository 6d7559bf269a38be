"""What a model replies as a router or a refactorer, read strictly. It applies nothing and never raises: what cannot be read means none, or is refused with the reason.

A router replies with one JSON object and nothing else::

    {"analysis": "…", "drift_detected": true, "selected_operator": "path_prune"}

`drift_detected` is false exactly where the operator is none. A refactorer replies with `<summary>…</summary>` around its text; text without any tag is
taken as it is, and held against the same checks. Source: ACR's contracts; unlike the source, a reply without its tags never becomes the context unchecked.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ctxfold.decisions.refactor.values import Operator, Route
from ctxfold.text.strict_json import strictly

__all__ = ["Routing", "Worded", "routed", "worded"]

_LONGEST = 100_000
_TAG = re.compile(r"<(/?)\s*(summary)\s*(/?)>", re.I)
_ANY_TAG = re.compile(
    r"</?\s*(?:context|compress|tool_call|think|thinking|answer|output|result|response|summary|system|function_calls|invoke)\b[^>\n]{0,80}>?",
    re.I,
)
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.M)


class Routing(BaseModel):
    """What a router decides: whether the history has gone bad, and the one operator for it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    analysis: Annotated[
        str, Field(min_length=1, max_length=2_000, description="What the history shows, in one or two sentences.")
    ]
    drift_detected: Annotated[bool, Field(description="Whether the history has gone bad.")]
    selected_operator: Annotated[
        Operator | Literal["none"],
        Field(description="The one operator for it; none exactly where no drift is detected."),
    ]

    @model_validator(mode="after")
    def _agrees(self) -> Routing:
        if self.drift_detected == (self.selected_operator == "none"):
            raise ValueError("drift_detected is false exactly where selected_operator is none")
        return self


def routed(reply: object) -> Route:
    """What a router replied.

    Args:
        reply: its text, or the arguments of its tool.

    Returns:
        The route; none with the reason, where the reply does not fit its contract.
    """
    tree = _object(reply) if isinstance(reply, str) else reply
    if not isinstance(tree, dict):
        return Route(None, "the router's reply is not one JSON object", "model")
    try:
        routing = Routing.model_validate(tree)
    except (ValidationError, RecursionError):
        return Route(None, "the router's reply does not fit its form", "model")
    if routing.selected_operator == "none":
        return Route(None, "clean", "model")
    return Route(routing.selected_operator, "the model saw drift", "model")


def _object(text: str) -> Any:
    """The one JSON object a text is; None where it is anything else, a key twice included."""
    return None if len(text) > _LONGEST else strictly(text)


@dataclass(frozen=True, slots=True)
class Worded:
    """A refactorer's text, or why there is none.

    Attributes:
        text: what it wrote; empty where it cannot be used.
        fault: why, in words of ours; empty where it can.
    """

    text: str
    fault: str = ""


def worded(reply: object) -> Worded:
    """What a refactorer replied.

    Args:
        reply: what a host or a model wrote. Anything but text is refused.
    """
    if not isinstance(reply, str):
        return Worded("", "the reply is not text")
    if len(reply) > _LONGEST:
        return Worded("", "the reply is too long")
    if any(ord(sign) < 32 and sign not in "\n\r\t" for sign in reply) or not _encodes(reply):
        return Worded("", "the reply holds control characters")
    tags = list(_TAG.finditer(reply))
    text = reply
    if tags:
        whole = len(tags) == 2 and not tags[0][1] and tags[1][1] == "/" and not tags[0][3] and not tags[1][3]
        if not whole:
            return Worded("", "one <summary> and its end are wanted, nothing nested")
        if reply[: tags[0].start()].strip() or reply[tags[1].end() :].strip():
            return Worded("", "nothing may stand outside <summary>")
        text = reply[tags[0].end() : tags[1].start()]
    text = text.strip()
    if not any(sign.isalnum() for sign in text):
        return Worded("", "the text is empty")
    if _ANY_TAG.search(text) or "<summary" in text.lower() or "summary>" in text.lower():
        return Worded("", "the text holds tags of a reply; write plain sentences")
    if _FENCE.search(text) or _looks_like_json(text):
        return Worded("", "the text is code or JSON; write plain sentences")
    return Worded(text)


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _looks_like_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return text[:1] in ("{", "[") and text[1:2] in ('"', "{", "[", "}", "]")
