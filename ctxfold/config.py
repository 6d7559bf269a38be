"""The settings of ctxfold, read anew at each call: environment variables first, then the settings file.

==========================  =================================================================================
variable                    meaning
==========================  =================================================================================
``CTXFOLD_HOME``            the folder for everything kept; default: the platform's user data directory
``CTXFOLD_SETTINGS``        the settings file; default: ``settings.toml`` there or in the user's settings folder
``CTXFOLD_DATABASE_URL``    the store, as a path or URL; default: ``ctxfold.db`` in the folder
``CTXFOLD_MODEL``           the model that decides a run's steps when none is named (the agent's)
``CTXFOLD_ROLE_MODEL``      the model of a role: AGENT, FOLDER, PLANNER, ROUTER or READER
``CTXFOLD_ROLE_ENDPOINT``   the server that the role's model is asked at
``CTXFOLD_ROLE_KEY``        the key for that server
``CTXFOLD_MAX_COST``        the most dollars that a run's model may cost when no ``--max-cost`` is given
``CTXFOLD_FOLD_AT``         the share of its budget from which a view is folded; default: 0.9
``CTXFOLD_MICRO``           set to fold each step alone once the next is recorded
``CTXFOLD_RULES``           a file of standing rules, kept as constraints of every session that is opened to record
``CTXFOLD_KEEP_PAIRS``      a file that gets each accepted request of a decision with its reply, as JSON lines
``PROVIDER_API_KEY``        a provider's key: ANTHROPIC, OPENAI, GOOGLE (or ``GEMINI_API_KEY``), …
``PROVIDER_BASE_URL``       a server that speaks the provider's API; default: the provider's own
``ANTHROPIC_AUTH_TOKEN``    a bearer token in place of Anthropic's key, where a gateway wants one
``PLAYWRIGHT_NODEJS_PATH``  the program that starts Playwright's driver; default: Playwright's own
==========================  =================================================================================

The settings file is TOML: a table for each role, such as ``[models.folder]`` with ``model``, ``endpoint``, and ``key``
or ``key_env``; in ``[models]`` also ``max_cost``, and ``principles`` (false asks for hints without their rules); and
``[fold]`` with ``at``, ``to``, ``depth``, ``window`` and ``micro``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import platformdirs

from ctxfold.errors import InputError, ReadOnlyStore


def read(name: str) -> str | None:
    """One variable, trimmed; None when it is unset or blank."""
    return os.environ.get(name, "").strip() or None


def home() -> Path:
    """The folder that holds everything ctxfold keeps; created private to its owner (0700) if it is not there. Raises
    ReadOnlyStore: it cannot be created.
    """
    named = read("CTXFOLD_HOME")
    folder = Path(named).expanduser() if named else platformdirs.user_data_path("ctxfold", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ReadOnlyStore(f"cannot create {folder} ({error.strerror}): set CTXFOLD_HOME to another") from error
    return folder


def default_store() -> str:
    """The store used when none is named: the value of ``CTXFOLD_DATABASE_URL``, else the path of ``ctxfold.db`` in
    `home()`. Raises ReadOnlyStore: the folder for it cannot be created.
    """
    return read("CTXFOLD_DATABASE_URL") or str(home() / "ctxfold.db")


def settings_file() -> Path:
    """Where the settings file is looked for: ``CTXFOLD_SETTINGS``, else ``settings.toml`` in ``CTXFOLD_HOME``, else in
    the user's settings folder.
    """
    named, place = read("CTXFOLD_SETTINGS"), read("CTXFOLD_HOME")
    if named:
        return Path(named).expanduser()
    folder = Path(place).expanduser() if place else platformdirs.user_config_path("ctxfold", appauthor=False)
    return folder / "settings.toml"


_FOR_CHILDREN = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|DISPLAY|WAYLAND_DISPLAY"
    r"|XAUTHORITY|XDG_[A-Z_]+|FONTCONFIG_[A-Z]+|DBUS_SESSION_BUS_ADDRESS|LD_LIBRARY_PATH|SSL_CERT_(?:FILE"
    r"|DIR)|NODE_EXTRA_CA_CERTS|CHROME_DEVEL_SANDBOX|PLAYWRIGHT_BROWSERS_PATH|PLAYWRIGHT_NODEJS_PATH"
    r"|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA"
    r"|PROGRAMFILES(?:\(X86\))?|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|NUMBER_OF_PROCESSORS"
    r"|PROCESSOR_ARCHITECTURE"
)
"""Variables that a program we start may need. Any other variable may hold a key."""
_FOR_DOWNLOADS = re.compile(r"(?:HTTPS?|NO|ALL)_PROXY|PLAYWRIGHT_(?:[A-Z]+_)?DOWNLOAD_[A-Z_]+|DEBIAN_FRONTEND")
NODE = "PLAYWRIGHT_NODEJS_PATH"


def child_environment(*, downloads: bool = False) -> dict[str, str]:
    """Return the variables for a program that we start; one that downloads gets proxies and mirrors too."""
    return {
        name: value
        for name, value in os.environ.items()
        if _FOR_CHILDREN.fullmatch(name.upper()) or (downloads and _FOR_DOWNLOADS.fullmatch(name.upper()))
    }


def store_environment() -> dict[str, str]:
    """Return the variables for a process of ours that uses this store and asks no model."""
    ours = {name: value for name in ("CTXFOLD_HOME", "CTXFOLD_DATABASE_URL") if (value := read(name))}
    return child_environment() | ours


def list_private_variables() -> tuple[str, ...]:
    """Return the names of the variables that no program we start is given."""
    return tuple(sorted(os.environ.keys() - child_environment().keys()))


@contextmanager
def node_at(path: Path) -> Iterator[None]:
    """Let Playwright start its driver with the program at `path` while the block runs."""
    before = driver_program()
    os.environ[NODE] = str(path)
    try:
        yield
    finally:
        del os.environ[NODE]
        os.environ |= {NODE: str(before)} if before else {}


def driver_program() -> Path | None:
    """Return the program that the environment names for Playwright's driver, or None."""
    named = read(NODE)
    return Path(named) if named else None


ANTHROPIC_URL = "https://api.anthropic.com"
"""Where the Messages API is served when no base URL is set."""

_URLS = {
    "anthropic": ANTHROPIC_URL,
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": "http://127.0.0.1:11434/v1",
}
_CREDENTIALS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""The variables that hold a provider's credential, where they are not its name's alone; the first that is set counts.
"""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Host names of this machine; a model served there costs nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's API: its address and the credential for it.

    `url` is the base URL without a trailing slash; `local` is True when it was set and is not the provider's own.
    `credential` names the source of the secret (None: no secret), which stays out of `repr`.
    """

    url: str
    local: bool
    credential: str | None
    secret: str | None = field(repr=False)

    @property
    def on_this_machine(self) -> bool:
        """Whether the server runs on this machine, where nobody is paid."""
        return (urlsplit(self.url).hostname or "") in LOOPBACK


def endpoint(provider: str = "anthropic", url: str | None = None, key: tuple[str, str] | None = None) -> Endpoint:
    """Return the address and credential of a provider. For Anthropic a key goes before a token, as in its own SDK.

    Args:
        provider: its name, by which its variables are found.
        url: another server to ask; None for the one the provider's variables name. A provider's own key is
            never sent there.
        key: where a key of its own came from, and that key; it goes before the provider's.

    Raises:
        InputError: `url` is not a web address, or holds a password.
    """
    prefix = provider.upper().replace("-", "_")
    names = _CREDENTIALS.get(provider, (f"{prefix}_API_KEY",))
    credential = key or next(((name, value) for name in names if (value := read(name))), None)
    if url is not None:
        return Endpoint(_check_url(url), True, *(key or (None, None)))
    base = read(f"{prefix}_BASE_URL")
    return Endpoint((base or _URLS.get(provider, "")).rstrip("/"), base is not None, *(credential or (None, None)))


def _check_url(url: str) -> str:
    """A web address without the slash at its end. Raises InputError: another address, or one with a password."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise InputError("an endpoint holds no key: name its variable with key_env, or set CTXFOLD_AGENT_KEY")
        if parts.scheme in ("http", "https") and parts.hostname:
            return url.rstrip("/")
    raise InputError(f"the endpoint {url!r} is not a web address: give it as http://HOST:PORT/v1")


Role = Literal["agent", "folder", "planner", "router", "reader"]
"""agent: decides a run's steps; folder: writes tiles and refactored texts; planner: writes the register; router:
chooses operators and places messages; reader: chooses lines of the log.
"""

ROLES: tuple[Role, ...] = get_args(Role)

EXPLORER = "explorer"
"""The name of the embedded decider: no model, no network, no key."""

KEYED_MODEL = "claude-sonnet-5-5"
"""The model used when a key is there and no model is named."""

_FIELDS = {"model", "endpoint", "key", "key_env"}
_READABLE_BY_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class RoleSetting:
    """The setting of one role.

    Attributes:
        role: the role that the setting belongs to; a helping role without its own has the folder's.
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
    """Return the setting of a role. A helping role without a model of its own has the folder's; the agent has a Claude
    model where its key is set.

    Args:
        role: the role.
        named: a model that the caller names, before all settings. A server and key that are set for another model are
            not its own.

    Raises:
        InputError: the settings file cannot be read, or a helping role has a server or a key and no model.
    """
    table: dict[str, str] = _read_table("models").get(role, {})
    own = _merge_settings(role, table, named)
    if own.model is not None:
        return own
    if role == "agent":
        credential = endpoint().credential
        if credential is None:
            return RoleSetting(role, EXPLORER, "nothing is set")
        return RoleSetting(role, KEYED_MODEL, f"{credential} is set", by_key=True)
    upper = f"CTXFOLD_{role.upper()}"
    useless = [name for name in (f"{upper}_KEY", f"{upper}_ENDPOINT") if read(name)]
    useless += [f"{name} of [models.{role}]" for name in sorted(table)]
    if useless:
        raise InputError(f"{' and '.join(useless)} set for the {role}, and no model: set {upper}_MODEL, or unset this")
    return own if role == "folder" else role_setting("folder")


def _merge_settings(role: Role, table: dict[str, str], named: str | None) -> RoleSetting:
    """Merge what the caller, the environment and the settings file set for one role: the first model counts. A server
    and a key belong to the model that is set with them.
    """
    upper = f"CTXFOLD_{role.upper()}"
    variables = (f"{upper}_MODEL", *(("CTXFOLD_MODEL",) if role == "agent" else ()))
    variable, by_variable = next(((name, value) for name in variables if (value := read(name))), ("", None))
    by_file = table.get("model")
    sources = ((named, "the command"), (by_variable, variable), (by_file, str(settings_file())))
    model, source = next((pair for pair in sources if pair[0]), (None, ""))
    key, server = None, None
    if by_variable in (None, model):
        secret, server = read(f"{upper}_KEY"), read(f"{upper}_ENDPOINT")
        key = (f"{upper}_KEY", secret) if secret else None
    if by_file in (None, model):
        key, server = key or _find_key(role, table), server or table.get("endpoint")
    return RoleSetting(role, model, source, server, key, is_set=model == (by_variable or by_file))


def _find_key(role: Role, table: dict[str, str]) -> tuple[str, str] | None:
    """The key that the settings file names or holds for a role, after the name of its source."""
    if "key_env" in table:
        secret = read(table["key_env"])
        return (table["key_env"], secret) if secret else None
    return (f"models.{role}.key", table["key"]) if "key" in table else None


def max_cost() -> float | None:
    """The most dollars that a run's model may cost where no `--max-cost` is given; None where nobody set it. Raises
    InputError: not an amount.
    """
    limit: Any = read("CTXFOLD_MAX_COST") or _read_table("models").get("max_cost")
    with suppress(TypeError, ValueError):
        dollars = None if limit is None else float(limit)
        if dollars is None or not math.isnan(dollars):
            return dollars
    raise InputError(f"the cost limit {limit!r} is not an amount: give dollars, such as CTXFOLD_MAX_COST=2.50")


def has_principles() -> bool:
    """Return whether a model that extracts is shown the rules for hints: yes, unless `principles` is false."""
    return _read_table("models").get("principles", True) is True


def rules_file() -> Path | None:
    """Return the file of standing rules; None where nobody named one, or it is not in this folder."""
    named = Path(read("CTXFOLD_RULES") or "").expanduser()
    return named if named.is_file() else None


def pairs_file() -> Path | None:
    """Return the file that accepted requests and replies are kept in, to train a model on; None where nobody asked."""
    named = read("CTXFOLD_KEEP_PAIRS")
    return Path(named).expanduser() if named else None


_SMALL = 8_000
"""o200k tokens of a small budget, where the prefix is not worth a cache."""


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """When the older steps are folded, and how far.

    Attributes:
        at: the high-water mark, a share of the budget, from which they are folded.
        to: the low-water mark, a share of the budget, down to which they are folded.
        depth: the newest steps that always stay in full.
        window: the most steps that one consolidation folds; 0 for no limit.
        micro: whether each step is folded alone once the next is recorded (granular condensation; AgentFold).
    """

    at: float = 0.90
    to: float = 0.60
    depth: int = 1
    window: int = 0
    micro: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.to < self.at <= 1 or self.depth < 1 or self.window < 0:
            raise InputError(
                "fold settings: 0 < to < at <= 1 are shares of the budget, depth is at least 1 step, window at least 0"
            )

    def of(self, budget: int) -> FoldSettings:
        """Return the settings at a budget: the default marks are higher at a small one, where no prefix is worth a
        cache.
        """
        return replace(self, at=1.0, to=0.80) if budget < _SMALL and (self.at, self.to) == _MARKS else self


_MARKS = (0.90, 0.60)
"""The default marks. At a low-water mark of .70 recall on coding sessions is the same, and the cost .47 for .35."""
SETTINGS = FoldSettings()
"""The default water marks and shares."""


def fold_settings() -> FoldSettings:
    """Return when and how far sessions fold, by the table `fold` of the settings file. Raises InputError."""
    table = dict(_read_table("fold"))
    if share := read("CTXFOLD_FOLD_AT"):
        try:
            table["at"] = float(share)
        except ValueError as error:
            raise InputError(f"CTXFOLD_FOLD_AT is {share!r}: give a share of the budget, such as 0.8") from error
    if read("CTXFOLD_MICRO"):
        table["micro"] = True
    for name, value in table.items():
        known = getattr(SETTINGS, name, None)
        fits = type(value) is type(known) or (isinstance(known, float) and type(value) is int)
        if known is None or not fits:
            kinds = "at and to as shares of the budget, depth and window as steps, micro as true or false"
            raise InputError(f"[fold] in {settings_file()} holds {name} = {value!r}: it takes {kinds}")
    low_water = {} if "to" in table or "at" not in table else {"to": SETTINGS.to / SETTINGS.at * table["at"]}
    return replace(SETTINGS, **table, **low_water)


def _read_table(name: Literal["models", "fold"]) -> dict[str, Any]:
    """One table of the settings file, its models checked; empty where there is no file."""
    import tomllib

    path = settings_file()
    try:
        with path.open("rb") as file:
            tree = tomllib.load(file)
            mode = os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        if not os.access(path.parent, os.X_OK):  # a folder that is closed to this user holds no settings of theirs
            return {}
        raise InputError(f"cannot read the settings {path} ({error.strerror}): mend it, or move it away") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not TOML: {error}"
        raise InputError(f"cannot read the settings {path} ({reason}): mend them, or move them away") from error
    models: dict[str, Any] = tree.get("models", {})
    unknown = [key for key, value in tree.items() if key not in ("models", "fold") or not isinstance(value, dict)]
    if unknown:
        raise InputError(f"the settings {path} hold {unknown[0]!r}: only tables [models] and [fold] are known")
    for key, table in models.items():
        wrong = [] if key == "max_cost" or (key == "principles" and isinstance(table, bool)) else [key]
        if key in ROLES and isinstance(table, dict):
            wrong = sorted(word for word, text in table.items() if word not in _FIELDS or not isinstance(text, str))
        if wrong:
            form = (
                f"max_cost, principles, and for {', '.join(ROLES)} a table with texts for {', '.join(sorted(_FIELDS))}"
            )
            raise InputError(f"[models] in {path} holds {wrong[0]!r}: it takes {form}")
    if os.name == "posix" and mode & _READABLE_BY_OTHERS and any("key" in models.get(role, {}) for role in ROLES):
        raise InputError(f"the settings {path} hold a key that others can read: run `chmod 600` on it, or use key_env")
    return dict(tree.get(name, {}))
