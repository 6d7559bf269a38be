"""A model that folds, plans and extracts, as a server double plays it. It reads nothing of what it is asked but the tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.messages.server import Answer, Decide

__all__ = ["strong_folder"]


def strong_folder(plan: dict[str, Any]) -> Callable[[dict[str, Any]], Answer]:
    """What a strong folder says to each of its questions about a customer's orders: `plan`, where it is asked for one."""

    def answer(body: dict[str, Any]) -> Answer:
        match body["tools"][0]["name"]:
            case "keep":
                return Decide({"summary": "Looked up orders, all delivered."}, name="keep")
            case "plan":
                return Decide(plan, name="plan")
            case _:
                return Decide({"selections": [{"ref": "s1.3:2-3"}]}, name="extract")

    return answer
