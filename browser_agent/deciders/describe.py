"""Describes actions in a few plain words."""

from __future__ import annotations

from typing import assert_never
from urllib.parse import parse_qsl, urlsplit

from browser_agent.actions import (
    Action,
    Answer,
    Back,
    Check,
    Click,
    Dialog,
    Download,
    Drag,
    Extract,
    FillForm,
    Find,
    GiveUp,
    Hover,
    Navigate,
    Press,
    Read,
    Scroll,
    Select,
    Tab,
    Type,
    Upload,
    WaitFor,
)
from browser_agent.actions.names import is_ref
from browser_agent.deciders.decision import Decision
from browser_agent.observation import Observation
from ctxfold.text.words import counted

__all__ = ["describe_decision", "shorten_address"]

_LONGEST = 40
_PLAIN: dict[type[Action], str] = {
    Back: "go back",
    WaitFor: "wait",
    Extract: "extract its values",
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
        case Back() | WaitFor() | Extract() | Answer() | GiveUp():
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
