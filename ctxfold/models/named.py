"""Finds a model by its name, with the server and key of the role that it is for; `Roles`: those that fold, plan, route and read beside whoever decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from ctxfold.config import endpoints
from ctxfold.config.roles import EXPLORER, KEYED_MODEL, Role, RoleSetting, role_setting
from ctxfold.errors import InputError, ModelError, ModelKeyMissing
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.protocol import Model, Reply, Request
from ctxfold.models.script import read_script

__all__ = ["GROUP", "Absent", "Address", "Maker", "Roles", "helpers", "load", "role_model"]

GROUP = "ctxfold.models"
"""The entry-point group of providers: each member's name is the one before the colon, and it is a `Maker`."""

Maker = Callable[[str, endpoints.Endpoint], Model]
"""Makes a model of its name at its provider, and of where that is served. It raises ModelKeyMissing where a key lacks."""

_AT = re.compile(r"(?P<name>.*)@(?P<url>https?://.*)")
_KNOWN = {"gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "gemini": "google"}
"""What names begin with whose provider is plain; the hint names it, and nothing is guessed."""


@dataclass(frozen=True, slots=True)
class Address:
    """A model's name in its parts, `PROVIDER:NAME@URL`; an empty provider where the name says none, no URL for the provider's own."""

    provider: str
    name: str
    url: str | None = None

    @classmethod
    def of(cls, said: str) -> Address:
        """The parts of a name as `--model` takes it."""
        found = _AT.fullmatch(said)
        left, url = (found["name"], found["url"]) if found else (said, None)
        scheme, colon, rest = left.partition(":")
        if left == EXPLORER:
            return cls(EXPLORER, "")
        if colon and (scheme in ("script", "anthropic") or _maker(scheme) is not None):
            return cls(scheme, rest, url)
        return cls("anthropic" if left.startswith("claude-") else "", left, url)


def load(said: str, role: Role = "agent") -> Model | None:
    """The model of a name.

    Args:
        said: `explorer`, `claude-…`, `PROVIDER:NAME` (`openai:…`, `google:…`, `ollama:…`), either with `@URL` of another server behind it, or
            `script:FILE`; with ``ANTHROPIC_BASE_URL`` set, any name that server knows.
        role: who it is for: that role's server and key are meant, where the name is of the same provider.

    Returns:
        The model; None for `explorer`, which is the embedded decider and no model.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: a model that needs a key, and none is set.
    """
    address = Address.of(said)
    if address.provider == EXPLORER:
        return None
    if address.provider == "script":
        return read_script(Path(said.partition(":")[2]))
    setting = role_setting(role, said)
    url = address.url or setting.endpoint
    provider = address.provider or ("openai" if url else "anthropic")
    endpoint = endpoints.endpoint(provider, url, _key_for(setting, address))
    maker = _maker(provider)
    if provider == "anthropic" and address.name and (address.provider or endpoint.local):
        return AnthropicModel(address.name, endpoint)
    if provider == "anthropic" or maker is None or not address.name:
        raise InputError(_unknown(said))
    loaded: Maker = maker.load()
    return loaded(address.name, endpoint)


def _key_for(setting: RoleSetting, address: Address) -> tuple[str, str] | None:
    """The role's key, where it is meant for what is asked: the role's server, the server named where it has none, or the model that is set with the key."""
    if address.url is not None:
        return setting.key if setting.endpoint in (None, address.url) else None
    return setting.key if setting.endpoint is not None or setting.is_set else None


def role_model(role: Role, named: str | None = None, *, must: bool = True) -> Model | None:
    """The model of a helping role, whoever decides the steps.

    Args:
        role: whose.
        named: the model; None for the one that is set.
        must: off, a missing key leaves a model that says so when it is asked: the embedded deciders then take over, and their events say why.

    Returns:
        The model; None for the embedded deciders, where none is named.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: it needs a key, and none is set.
    """
    setting = role_setting(role, named)
    name = setting.model
    try:
        return None if name is None else load(name, setting.role)
    except ModelKeyMissing as error:
        if must or name is None:
            raise
        return Absent(name, error)


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that cannot be had now: it answers each question with the reason, so that the embedded deciders take over and say so."""

    name: str
    reason: ModelError

    async def decide(self, request: Request) -> Reply:  # noqa: ARG002 - a model takes one
        """Say why not. Raises ModelError always."""
        raise self.reason


def _maker(provider: str) -> EntryPoint | None:
    """What makes the models of a provider."""
    return next(iter(entry_points(group=GROUP, name=provider)), None)


def _unknown(said: str) -> str:
    """What to write instead of a name that is none."""
    start = re.split(r"[-.:\d]", said, maxsplit=1)[0]
    provider = _KNOWN.get(start) or _KNOWN.get(said[:2])
    if provider:
        return (
            f"{said!r} says no provider: write {provider}:{said} (it needs `pip install 'ctxfold[models]'` and "
            f"{provider.upper()}_API_KEY), or explorer, which needs no model"
        )
    known = ", ".join(f"{entry.name}:NAME" for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name))
    return (
        f"no model is named {said!r}: use explorer, claude-… (such as {KEYED_MODEL}), {known}, "
        "openai:NAME@URL for a server that speaks OpenAI's API, or script:FILE"
    )


@dataclass(frozen=True, slots=True)
class Roles:
    """Who is asked for what; None for the embedded decider.

    Attributes:
        folder: writes tiles, and the texts of refactorings.
        planner: writes the register.
        router: chooses operators, and places messages on branches.
        reader: chooses lines of the log.
    """

    folder: Model | None = None
    planner: Model | None = None
    router: Model | None = None
    reader: Model | None = None

    @classmethod
    def of(cls, given: Model | Roles | None) -> Roles:
        """Roles as they are; one model for all of them; or none."""
        return given if isinstance(given, Roles) else cls(given, given, given, given)

    @property
    def models(self) -> tuple[Model, ...]:
        """The models among them, each once by its name."""
        there = (self.folder, self.planner, self.router, self.reader)
        return tuple({model.name: model for model in there if model is not None}.values())

    @property
    def name(self) -> str:
        """Their names, each once; empty for the embedded deciders."""
        return " and ".join(model.name for model in self.models)

    @property
    def absent(self) -> tuple[Absent, ...]:
        """Those that cannot be had now."""
        return tuple(model for model in self.models if isinstance(model, Absent))


def helpers(named: str | None = None, *, must: bool = True) -> Roles:
    """The models of the four helping roles.

    Args:
        named: one model for all of them; None for those that are set, each for its role.
        must: off, a missing key leaves a model that says so when it is asked.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: one needs a key, and none is set.
    """
    if named is not None:
        return Roles.of(role_model("folder", named, must=must))
    made: dict[RoleSetting, Model | None] = {}

    def of(role: Role) -> Model | None:
        setting = role_setting(role)
        if setting not in made:
            made[setting] = role_model(setting.role, must=must)
        return made[setting]

    return Roles(of("folder"), of("planner"), of("router"), of("reader"))
