"""The settings of ctxfold, read anew at each call: environment variables, then the settings file.

==========================  =================================================================================
variable                    meaning
==========================  =================================================================================
``CTXFOLD_HOME``            the folder for everything kept; else the platform's user data directory
``CTXFOLD_SETTINGS``        the settings file; else ``settings.toml`` in that folder or the user's settings folder
``CTXFOLD_DATABASE_URL``    the store, as a path or URL; else ``ctxfold.db`` in the folder
``CTXFOLD_MODEL``           the model that decides a run's steps when none is named (the agent's)
``CTXFOLD_ROLE_MODEL``      the model of a role: AGENT, FOLDER, PLANNER, ROUTER or READER
``CTXFOLD_ROLE_ENDPOINT``   the server that the role's model is asked at
``CTXFOLD_ROLE_KEY``        the key for that server
``CTXFOLD_MAX_COST``        the most dollars that a run's model may cost when no ``--max-cost`` is given
``PROVIDER_API_KEY``        a provider's key: ANTHROPIC, OPENAI, GOOGLE (or ``GEMINI_API_KEY``), …
``PROVIDER_BASE_URL``       a server that speaks the provider's API; else its own
``ANTHROPIC_AUTH_TOKEN``    a bearer token in place of Anthropic's key, where a gateway wants one
``PLAYWRIGHT_NODEJS_PATH``  the program that Playwright starts its driver by; else its own
==========================  =================================================================================

The settings file is TOML: a table for each role, such as ``[models.folder]`` with ``model``, ``endpoint``, and ``key`` or ``key_env``; and
``max_cost`` in ``[models]``. A variable goes before the file.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.config.children import NODE, child_environment, driver_program, kept_from_children, node_at
    from ctxfold.config.endpoints import ANTHROPIC_URL, LOOPBACK, Endpoint, endpoint
    from ctxfold.config.environment import default_store, home, settings_file
    from ctxfold.config.roles import EXPLORER, KEYED_MODEL, ROLES, Role, RoleSetting, max_cost, role_setting

__all__ = [
    "ANTHROPIC_URL",
    "EXPLORER",
    "KEYED_MODEL",
    "LOOPBACK",
    "NODE",
    "ROLES",
    "Endpoint",
    "Role",
    "RoleSetting",
    "child_environment",
    "default_store",
    "driver_program",
    "endpoint",
    "home",
    "kept_from_children",
    "max_cost",
    "node_at",
    "role_setting",
    "settings_file",
]

_NAMES = {
    "children": "NODE child_environment driver_program kept_from_children node_at",
    "endpoints": "ANTHROPIC_URL LOOPBACK Endpoint endpoint",
    "environment": "default_store home settings_file",
    "roles": "EXPLORER KEYED_MODEL ROLES Role RoleSetting max_cost role_setting",
}
"""The modules, and the names in each, which are imported when they are first used: most hooks need `home` alone."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A name of this room, from the module that holds it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
