"""Finds a model by its name, with the server and key of the role that it is for; `Roles`: those that fold, plan, route and read beside whoever decides."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from ctxfold import config as endpoints
from ctxfold import config as roles
from ctxfold.config import EXPLORER, KEYED_MODEL, LOOPBACK, Role, RoleSetting, role_setting
from ctxfold.errors import InputError, ModelError, ModelKeyMissing, ModelUnavailable
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.protocol import Model, Reply, Request, Usage
from ctxfold.text.json import read_values

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


DATED = re.compile(r"-\d{8}$")


def cost(usage: Usage, model: str) -> float | None:
    """The price of one request in US dollars.

    Args:
        usage: the tokens of that request alone: some models charge a long prompt at another rate.
        model: the model's name as `--model` takes it, with or without a date at its end.

    Returns:
        Dollars; None where no price of that model is on file.
    """
    named, at, url = model.partition("@")
    if at:
        return 0.0 if (urlsplit(url).hostname or "") in LOOPBACK else None
    provider, colon, name = named.partition(":")
    prices = _prices().get(DATED.sub("", name if provider == "anthropic" else named))
    if prices is None:
        return _elsewhere(usage, provider, name) if colon else None
    long_prompt = prices.get("long_prompt")
    rate = long_prompt if long_prompt and usage.prompt > long_prompt["above"] else prices
    kinds = ("input", "output", "cache_read", "cache_write")
    dollars: float = sum(getattr(usage, kind) * rate[kind] for kind in kinds) / 1_000_000
    return dollars


def add_prices(*prices: float | None) -> float | None:
    """The sum; None where a price is not known."""
    known = [price for price in prices if price is not None]
    return sum(known, 0.0) if len(known) == len(prices) else None


def _elsewhere(usage: Usage, provider: str, model: str) -> float | None:
    """The price at another provider; Ollama's models run on the user's own machine."""
    if provider == "ollama":
        return 0.0
    if find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    tokens = Priced(
        input_tokens=usage.prompt,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    try:
        return float(calc_price(tokens, model, provider_id=provider).total_price)
    except LookupError:
        return None


@cache
def _prices() -> dict[str, dict[str, Any]]:
    text = files("ctxfold.models").joinpath("prices.json").read_text(encoding="utf-8")
    prices: dict[str, dict[str, Any]] = json.loads(text)["models"]
    return prices


MAX_COST = 1.0
"""Dollars that a run's model may cost where nobody said more or less."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may spend.

    Attributes:
        dollars: the most it and its helpers may cost; None where they cost nothing, or where no price is on file.
        notice: a line for whoever starts the run; empty where there is nothing to say.
    """

    model: str
    dollars: float | None
    notice: str = ""


def spending(named: str | None = None, dollars: float | None = None, helping: Model | Roles | None = None) -> Spending:
    """Which model decides a run, what it and its helpers may cost at most, and what is said before it begins.

    Args:
        named: the model that the caller names; None for the one that is set, or that a key brings.
        dollars: the limit that the caller gives; None for the one that is set, else `MAX_COST`.
        helping: the models that fold, plan, route and read beside it; None for the embedded deciders.

    Raises:
        InputError: settings that cannot be read.
    """
    setting = roles.role_setting("agent", named)
    model = setting.model or roles.EXPLORER
    limit = dollars if dollars is not None else roles.max_cost()
    beside = [each.name for each in Roles.of(helping).models if not isinstance(each, Absent)]
    helpers = [name for name in beside if not _is_free(name, None)]
    paid = helpers if _is_free(model, setting.endpoint) else [model, *helpers]
    if not paid:
        return Spending(model, dollars)
    unpriced = " and ".join(dict.fromkeys(name for name in paid if cost(Usage(1, 1), name) is None))
    if unpriced:
        said = (
            "" if dollars is not None else f"no price of {unpriced} is on file: no cost limit holds, --max-steps does"
        )
        return Spending(model, dollars, said)
    limit = MAX_COST if limit is None else limit
    if paid == helpers:
        help_of = " and ".join(helpers)
        return Spending(
            model, limit, f"{model} decides with the help of {help_of}, for at most ${limit:.2f} (--max-cost)"
        )
    brought = (
        f"{setting.source}: {model} decides, for at most ${limit:.2f} (--max-cost); --model explorer costs nothing"
    )
    return Spending(model, limit, brought if setting.by_key else "")


def _is_free(model: str, endpoint: str | None) -> bool:
    """Whether nobody is paid for a model's replies: no model, a script, or a server on this machine."""
    address = Address.of(model)
    if address.provider in (roles.EXPLORER, "script"):
        return True
    provider = address.provider or "anthropic"
    return endpoints.endpoint(provider, address.url or endpoint).on_this_machine
