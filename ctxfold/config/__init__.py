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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.config.endpoints import Endpoint

__all__ = ["Endpoint"]


def __getattr__(name: str) -> object:
    """`Endpoint`, which who provides a model is given; imported when it is first used, for most hooks need `home` alone."""
    if name != "Endpoint":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ctxfold.config import endpoints

    return endpoints.Endpoint
