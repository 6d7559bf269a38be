"""The JSON schema that an answer must have, and what a given value lacks of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for
from pydantic import BaseModel
from referencing import Registry
from referencing.exceptions import Unresolvable

from ctxfold.errors import InputError

__all__ = ["Schema", "Shape"]

Schema = Mapping[str, Any] | type[BaseModel]
"""A JSON schema as a mapping, or a pydantic model that stands for one."""

_MOST = 6
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON schema that was checked. Nothing it refers to is fetched from anywhere."""

    schema: Mapping[str, Any]

    @classmethod
    def of(cls, given: Schema) -> Shape:
        """A shape from what a script gives. Raises InputError: it is no JSON schema."""
        if isinstance(given, type) and issubclass(given, BaseModel):
            return cls(given.model_json_schema())
        if not isinstance(given, Mapping):
            raise InputError("a schema is a JSON schema as a mapping, or a pydantic model; give one of these")
        return cls(_check(dict(given)))

    @classmethod
    def read(cls, path: Path) -> Shape:
        """A shape from a file of JSON. Raises InputError: it cannot be read, or holds no JSON schema."""
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the schema {str(path)!r} cannot be read; name another file") from error
        except ValueError as error:
            raise InputError(f"{str(path)!r} is no JSON ({error}); give a JSON schema") from error
        if not isinstance(given, dict):
            raise InputError(f"{str(path)!r} holds no JSON schema; give an object with `type` and `properties`")
        return cls(_check(given))

    def faults(self, value: object) -> tuple[str, ...]:
        """What a value lacks, each in a few words that begin with where; empty when it has the shape.

        Raises:
            InputError: the schema refers to something that is not in it.
        """
        validator = validator_for(self.schema, default=Draft202012Validator)(
            self.schema, registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        try:
            found = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
        except Unresolvable as error:
            raise InputError("the schema refers to something that is not in it; put it under $defs") from error
        faults = tuple(dict.fromkeys(map(_describe_fault, found)))
        return faults if len(faults) <= _MOST else (*faults[:_MOST], f"and {len(faults) - _MOST} more")

    def __str__(self) -> str:
        return json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))


def _check(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path)) or "its root"
        raise InputError(f"that is no JSON schema: at {where}, {_shorten(error.message)}") from error
    return schema


def _describe_fault(error: ValidationError) -> str:
    where = ".".join(map(str, error.absolute_path)) or "the answer"
    return f"{where}: {_shorten(error.message)}"


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
