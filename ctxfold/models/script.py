"""A model whose replies were written down beforehand: `script:FILE` for demos, `ScriptedModel` for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ctxfold.errors import InputError, ModelError, ModelUnavailable
from ctxfold.models.protocol import Reply, Request
from ctxfold.text.strict_json import read_values

__all__ = ["ScriptedModel", "read_script"]

Scripted = Mapping[str, Any] | BaseModel | Reply | ModelError
"""One thing a scripted model answers: arguments, a decision, a whole reply, or an error to raise."""


class ScriptedModel:
    """Answers with the given decisions, in order; keeps the requests it was asked in `requests`.

    Args:
        decisions: what to answer, each once.
        name: how it is called in messages and records.
    """

    def __init__(self, *decisions: Scripted, name: str = "script") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._count = len(decisions)
        self._left: Iterator[Scripted] = iter(decisions)

    async def decide(self, request: Request) -> Reply:
        """The next decision. Raises ModelUnavailable: the script has come to its end."""
        self.requests.append(request)
        scripted = next(self._left, None)
        match scripted:
            case None:
                raise ModelUnavailable(
                    f"{self.name} holds {self._count} decisions and was asked for one more: add it, or allow fewer steps"
                )
            case ModelError():
                raise scripted
            case Reply():
                return scripted
            case BaseModel():
                return Reply(arguments=scripted.model_dump(mode="json"), model=self.name)
            case _:
                return Reply(arguments=scripted, model=self.name)


def read_script(path: Path) -> ScriptedModel:
    """The model of a file of decisions: a JSON array of objects, or one object a line. Raises InputError: the file cannot be read, or is neither."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read the script {path} ({reason}): name a file of decisions after script:") from error
    return ScriptedModel(*_decisions(text, path), name=f"script:{path}")


def _decisions(text: str, path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        found = read_values(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path} is not JSON at line {error.lineno}: a script is an array of decisions, or one a line"
        ) from error
    wrong = next((n for n, decision in enumerate(found, start=1) if not isinstance(decision, dict)), None)
    if wrong is not None:
        raise InputError(f"decision {wrong} of {path} is not an object: a script is an array of objects, or one a line")
    if not found:
        raise InputError(f"{path} holds no decision: write at least one")
    return found
