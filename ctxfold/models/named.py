"""Finds a model by its name, with its role's server and key; prices replies, limits a run's cost; scripted models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel

from ctxfold import config
from ctxfold.config import EXPLORER, KEYED_MODEL, LOOPBACK, Role, RoleSetting, role_setting
from ctxfold.errors import InputError, ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.protocol import Model, Reply, Request, Usage
from ctxfold.text.json import read_values

Scripted = Mapping[str, Any] | BaseModel | Reply | ModelError
"""One answer of a scripted model: arguments, a decision, a whole reply, or an error to raise."""


class ScriptedModel:
    """Answers with the given decisions, in order; keeps the requests it was asked in `requests`.

    Args:
        decisions: the answers, each given once.
        name: its name in messages and records.
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
        if scripted is None:
            raise ModelUnavailable(
                f"{self.name} holds {self._count} decisions and was asked for one more: add it, or allow fewer steps"
            )
        if isinstance(scripted, ModelError):
            raise scripted
        if isinstance(scripted, Reply):
            return scripted
        arguments = scripted.model_dump(mode="json") if isinstance(scripted, BaseModel) else scripted
        return Reply(arguments=arguments, model=self.name)


def read_script(path: Path) -> ScriptedModel:
    """The model of a file of decisions: a JSON array of objects, or one object a line.

    Raises InputError: the file cannot be read, or is neither.
    """
    form = "a script is an array of objects, or one a line"
    try:
        decisions = read_values(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON at line {error.lineno}: {form}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read the script {path} ({reason}): name a file of decisions after script:") from error
    wrong = next((number for number, each in enumerate(decisions, 1) if not isinstance(each, dict)), None)
    if wrong is not None:
        raise InputError(f"decision {wrong} of {path} is not an object: {form}")
    if not decisions:
        raise InputError(f"{path} holds no decision: write at least one")
    return ScriptedModel(*decisions, name=f"script:{path}")


GROUP = "ctxfold.models"
"""The entry-point group of providers: each member's name is the part before the colon, and it is a `Maker`."""
Maker = Callable[[str, config.Endpoint], Model]
"""Makes a provider's model from its name and endpoint. Raises ModelKeyMissing: it has no key."""
_AT = re.compile(r"(?P<name>.*)@(?P<url>https?://.*)")
_KNOWN = {"gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "gemini": "google"}
"""Beginnings of names with an obvious provider. An error suggests it; nothing is guessed."""


@dataclass(frozen=True, slots=True)
class Address:
    """A model's name in its parts, `PROVIDER:NAME@URL`. The provider may be empty; `url` is None for its own server."""

    provider: str
    name: str
    url: str | None = None

    @classmethod
    def of(cls, text: str) -> Address:
        """The parts of a name as `--model` takes it."""
        at = _AT.fullmatch(text)
        left, url = (at["name"], at["url"]) if at else (text, None)
        scheme, colon, rest = left.partition(":")
        if left == EXPLORER:
            return cls(EXPLORER, "")
        if colon and (scheme in ("script", "anthropic") or _find_maker(scheme) is not None):
            return cls(scheme, rest, url)
        return cls("anthropic" if left.startswith("claude-") else "", left, url)


def load(named: str, role: Role = "agent") -> Model | None:
    """The model of a name.

    Args:
        named: `explorer`, `claude-…`, `PROVIDER:NAME` (`openai:…`, `google:…`, `ollama:…`), each with `@URL` for
            another server, or `script:FILE`; with ``ANTHROPIC_BASE_URL`` set, any name that server knows.
        role: the role it is for, which may have a server and a key of its own for it.

    Returns:
        The model; None for `explorer`, the embedded decider.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: a model that needs a key, and none is set.
    """
    address = Address.of(named)
    if address.provider == EXPLORER:
        return None
    if address.provider == "script":
        return read_script(Path(named.partition(":")[2]))
    setting = role_setting(role, named)
    own = setting.endpoint
    url = address.url or own
    provider = address.provider or ("openai" if url else "anthropic")
    is_meant = own in (None, address.url) if address.url is not None else own is not None or setting.is_set
    endpoint = config.endpoint(provider, url, setting.key if is_meant else None)
    if provider == "anthropic" and address.name and (address.provider or endpoint.local):
        return AnthropicModel(address.name, endpoint)
    maker = _find_maker(provider)
    if provider == "anthropic" or maker is None or not address.name:
        raise InputError(_suggest_name(named))
    make: Maker = maker.load()
    return make(address.name, endpoint)


def _find_maker(provider: str) -> EntryPoint | None:
    return next(iter(entry_points(group=GROUP, name=provider)), None)


def _suggest_name(named: str) -> str:
    """What to write instead of a name that no model has."""
    start = re.split(r"[-.:\d]", named, maxsplit=1)[0]
    provider = _KNOWN.get(start) or _KNOWN.get(named[:2])
    if provider:
        return (
            f"{named!r} names no provider: write {provider}:{named} (it needs `pip install 'ctxfold[models]'` and "
            f"{provider.upper()}_API_KEY), or explorer, which needs no model"
        )
    known = ", ".join(f"{name}:NAME" for name in sorted(entry.name for entry in entry_points(group=GROUP)))
    return (
        f"no model is named {named!r}: use explorer, claude-… (such as {KEYED_MODEL}), {known}, "
        "openai:NAME@URL for a server that speaks OpenAI's API, or script:FILE"
    )


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that cannot be had now. Each question gets the reason, so that the embedded deciders take over."""

    name: str
    reason: ModelError

    async def decide(self, request: Request) -> Reply:  # noqa: ARG002 - a model takes one
        """Raise the reason, always."""
        raise self.reason


class Roles(NamedTuple):
    """The models of the helping roles; None for the embedded decider.

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
        return tuple({model.name: model for model in self if model is not None}.values())

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
    loaded: dict[RoleSetting, Model | None] = {}

    def find(role: Role) -> Model | None:
        setting = role_setting(role, named)
        if setting.model is not None and setting not in loaded:
            try:
                loaded[setting] = load(setting.model, setting.role)
            except ModelKeyMissing as error:
                if must:
                    raise
                loaded[setting] = Absent(setting.model, error)
        return loaded.get(setting)

    if named is not None:
        return Roles.of(find("folder"))
    return Roles(find("folder"), find("planner"), find("router"), find("reader"))


def cost(usage: Usage, model: str) -> float | None:
    """The price of one request in US dollars, from the tables of genai-prices.

    Args:
        usage: the tokens of that request alone: some models charge a long prompt at another rate.
        model: the model's name as `--model` takes it, with or without a date at its end.

    Returns:
        Dollars; None if no price of that model is on file.
    """
    name, at, url = model.partition("@")
    provider, _, short = name.partition(":") if ":" in name else ("anthropic", ":", name)
    if provider == "script":
        return 0.0
    if at:
        return 0.0 if (urlsplit(url).hostname or "") in LOOPBACK else None
    if provider == "ollama":  # it runs on the user's own machine
        return 0.0
    import genai_prices

    tokens = genai_prices.Usage(
        input_tokens=usage.prompt,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    try:
        return float(genai_prices.calc_price(tokens, short, provider_id=provider).total_price)
    except LookupError:
        return None


def add_prices(*prices: float | None) -> float | None:
    """The sum; None if a price is not known."""
    known = [price for price in prices if price is not None]
    return sum(known, 0.0) if len(known) == len(prices) else None


MAX_COST = 1.0
"""Dollars that a run's model may cost unless somebody sets another limit."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The limit of a run's cost.

    Attributes:
        model: the model that decides the run.
        dollars: the most it and its helpers may cost; None if they cost nothing, or no price is on file.
        notice: a line for whoever starts the run; may be empty.
    """

    model: str
    dollars: float | None
    notice: str = ""


def spending(named: str | None = None, dollars: float | None = None, helping: Model | Roles | None = None) -> Spending:
    """Which model decides a run, and the most that it and its helpers may cost.

    Args:
        named: the model that the caller names; None for the one that is set, or that a key brings.
        dollars: the limit that the caller gives; None for the one that is set, else `MAX_COST`.
        helping: the models that fold, plan, route and read; None for the embedded deciders.

    Raises:
        InputError: settings that cannot be read.
    """
    setting = role_setting("agent", named)
    model = setting.model or EXPLORER
    limit = config.max_cost() if dollars is None else dollars
    limit = MAX_COST if limit is None else limit
    others = [each.name for each in Roles.of(helping).models if not isinstance(each, Absent)]
    paid_others = [name for name in others if not _is_free(name, None)]
    paid = paid_others if _is_free(model, setting.endpoint) else [model, *paid_others]
    if not paid:
        return Spending(model, dollars)
    unpriced = " and ".join(dict.fromkeys(name for name in paid if cost(Usage(1, 1), name) is None))
    if unpriced:
        notice = f"no price of {unpriced} is on file: no cost limit holds, --max-steps does"
        return Spending(model, dollars, notice if dollars is None else "")
    most, notice = f"for at most ${limit:.2f} (--max-cost)", ""
    if paid == paid_others:
        notice = f"{model} decides with the help of {' and '.join(paid)}, {most}"
    elif setting.by_key:
        notice = f"{setting.source}: {model} decides, {most}; --model explorer costs nothing"
    return Spending(model, limit, notice)


def _is_free(model: str, endpoint: str | None) -> bool:
    """Whether a model's replies cost nothing: no model, a script, or a server on this machine."""
    address = Address.of(model)
    if address.provider in (EXPLORER, "script"):
        return True
    return config.endpoint(address.provider or "anthropic", address.url or endpoint).on_this_machine
