"""Which model, server and key each role has: the environment's word, then the settings file's."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ctxfold.config.endpoints import endpoint
from ctxfold.config.environment import read, settings_file
from ctxfold.errors import InputError

__all__ = [
    "EXPLORER",
    "KEYED_MODEL",
    "ROLES",
    "Role",
    "RoleSetting",
    "max_cost",
    "role_setting",
]

Role = Literal["agent", "folder", "planner", "router", "reader"]
"""agent: decides a run's steps; folder: writes tiles and refactored texts; planner: writes the register; router: chooses operators and places messages;
reader: chooses lines of the log."""

ROLES: tuple[Role, ...] = get_args(Role)

EXPLORER = "explorer"
"""The name of the embedded decider: no model, no network, no key."""

KEYED_MODEL = "claude-sonnet-5-5"
"""The model used when a key is there and no model is named."""

_FIELDS = {"model", "endpoint", "key", "key_env"}
_READABLE_BY_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class RoleSetting:
    """What is set for a role.

    Attributes:
        role: whose it is; the folder's where a helping role has none of its own.
        model: the model's name; None where none is set.
        source: what named the model: a variable, the settings file, or a key that is there.
        endpoint: the server it is asked at; None for its provider's own.
        key: where its own key came from, and the key; None for its provider's.
        by_key: whether nobody named the model: a key that is there brought it.
        is_set: whether the settings of the role name this very model, so that its key is meant for it.
    """

    role: Role
    model: str | None = None
    source: str = ""
    endpoint: str | None = None
    key: tuple[str, str] | None = field(default=None, repr=False)
    by_key: bool = False
    is_set: bool = False


def role_setting(role: Role, named: str | None = None) -> RoleSetting:
    """What is set for a role. A helping role without a model of its own has the folder's; the agent has a Claude model where its key is set.

    Args:
        role: whose.
        named: a model that the caller names, before all settings. A server and key that are set for another model are not its own.

    Raises:
        InputError: the settings file cannot be read, or a helping role has a server or a key and no model.
    """
    settings = _settings()
    own = _own(role, settings, named)
    if own.model is not None:
        return own
    if role != "agent":
        _without_model(role, settings.get(role, {}))
    if role == "agent":
        credential = endpoint().credential
        if credential is None:
            return RoleSetting(role, EXPLORER, "nothing is set")
        return RoleSetting(role, KEYED_MODEL, f"{credential} is set", by_key=True)
    return own if role == "folder" else role_setting("folder")


def max_cost() -> float | None:
    """The most dollars that a run's model may cost where no `--max-cost` is given; None where nobody said. Raises InputError: it is no amount."""
    said: object = read("CTXFOLD_MAX_COST") or _settings().get("max_cost")
    if said is None:
        return None
    refused = InputError(f"the cost limit {said!r} is no amount: give dollars, such as CTXFOLD_MAX_COST=2.50")
    try:
        dollars = float(said)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise refused from error
    if math.isnan(dollars):
        raise refused
    return dollars


def _own(role: Role, settings: dict[str, Any], named: str | None) -> RoleSetting:
    """What the caller, the environment and the file say of one role. The server and key of each belong to the model that it names, if it names one."""
    upper, kept = f"CTXFOLD_{role.upper()}", settings.get(role, {})
    variables = (f"{upper}_MODEL", *(("CTXFOLD_MODEL",) if role == "agent" else ()))
    variable, said = next(((name, value) for name in variables if (value := read(name))), ("", None))
    filed = (kept.get("model"), str(settings_file()))
    model, source = next((each for each in ((named, "the command"), (said, variable), filed) if each[0]), (None, ""))
    secret, server = read(f"{upper}_KEY"), read(f"{upper}_ENDPOINT")
    key = (f"{upper}_KEY", secret) if secret else None
    if said not in (None, model):
        key, server = None, None
    if kept.get("model", model) == model:
        key, server = key or _key(role, kept), server or kept.get("endpoint")
    return RoleSetting(role, model, source, server, key, is_set=model == (said or filed[0]))


def _without_model(role: Role, table: dict[str, Any]) -> None:
    """Raise InputError where something is set for a model that nobody names: it would go to no one, silently."""
    upper = f"CTXFOLD_{role.upper()}"
    found = [name for name in (f"{upper}_KEY", f"{upper}_ENDPOINT") if read(name)]
    found += [f"{name} of [models.{role}]" for name in sorted(table)]
    if found:
        raise InputError(f"{' and '.join(found)} set for the {role}, and no model: set {upper}_MODEL, or unset this")


def _key(role: Role, table: dict[str, Any]) -> tuple[str, str] | None:
    """The key that the file names or holds."""
    variable = table.get("key_env")
    if variable is not None:
        secret = read(variable)
        return (variable, secret) if secret else None
    return (f"models.{role}.key", table["key"]) if "key" in table else None


def _settings() -> dict[str, Any]:
    """The table `models` of the settings file, checked; empty where there is no file."""
    import tomllib

    path = settings_file()
    try:
        with path.open("rb") as file:
            tree = tomllib.load(file)
            mode = os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"cannot read the settings {path} ({error.strerror}): mend it, or move it away") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the settings {path} are no TOML ({error}): mend that line") from error
    unknown = sorted(tree.keys() - {"models"})
    if unknown:
        raise InputError(f"the settings {path} hold {unknown[0]!r}: only [models] is known")
    models = _checked(path, tree.get("models", {}))
    if os.name == "posix" and mode & _READABLE_BY_OTHERS and any("key" in models.get(role, {}) for role in ROLES):
        raise InputError(f"the settings {path} hold a key that others can read: run `chmod 600` on it, or use key_env")
    return models


def _checked(path: Path, models: object) -> dict[str, Any]:
    if not isinstance(models, dict):
        raise InputError(f"`models` in {path} is no table: begin it with [models]")
    for name, table in models.items():
        if name == "max_cost":
            continue
        if name not in ROLES or not isinstance(table, dict):
            raise InputError(f"[models] in {path} holds {name!r}: it takes max_cost and tables for {', '.join(ROLES)}")
        wrong = sorted(key for key, value in table.items() if key not in _FIELDS or not isinstance(value, str))
        if wrong:
            raise InputError(
                f"[models.{name}] in {path} holds {wrong[0]!r}: it takes texts for {', '.join(sorted(_FIELDS))}"
            )
    return models
