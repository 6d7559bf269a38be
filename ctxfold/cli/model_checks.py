"""What `ctxfold doctor` says of models: keys, the settings file, and for each role its model, server and key's source."""

from __future__ import annotations

import urllib.error
import urllib.request

from ctxfold import config
from ctxfold.cli.check import Check
from ctxfold.errors import CtxfoldError

__all__ = ["check_models"]

REACH_SECONDS = 3.0
"""How long a model's server may take to answer at all."""


def check_models() -> list[Check]:
    """The key, the settings file, each role's model, and each server of its own. No key is shown, or sent."""
    try:
        config.max_cost()
        agent = config.role_setting("agent")
    except CtxfoldError as error:
        return [Check("settings", False, str(error), "mend the settings, or move them away")]
    roles, servers = list[Check](), dict[str, None]()
    for role in config.ROLES:
        try:
            setting = config.role_setting(role)
        except CtxfoldError as error:
            roles.append(Check(role, False, str(error), f"set CTXFOLD_{role.upper()}_MODEL"))
            continue
        roles.append(_check_role(role, setting))
        servers |= {setting.endpoint: None} if setting.endpoint else {}
    local = config.endpoint()
    own = [(local.url, "ANTHROPIC_BASE_URL")] if local.local else []
    named = [(url, "the role's endpoint") for url in servers]
    return [_check_key(agent.model), _check_settings(), *roles, *(_check_endpoint(*each) for each in own + named)]


def _check_key(agent: str | None) -> Check:
    credential = config.endpoint().credential
    if credential is None and agent != config.EXPLORER:
        return Check("key", True, f"none of Anthropic's is set; {agent} decides")
    if credential is None:
        fact = "none set, so the embedded explorer decides; with a key Claude does"
        return Check("key", False, fact, "export ANTHROPIC_API_KEY=sk-ant-…", required=False)
    return Check("key", True, f"{credential} is set")


def _check_settings() -> Check:
    path = config.settings_file()
    there = str(path) if path.exists() else f"{path} (not there: variables and defaults alone)"
    limit = config.max_cost()
    return Check("settings", True, there if limit is None else f"{there}; a run may cost ${limit:g}")


def _check_role(role: config.Role, setting: config.RoleSetting) -> Check:
    """One role: its model, and where that, its server and its key come from. The agent's model is called `model`, as its option is."""
    from ctxfold.models import load, spending

    name = "model" if role == "agent" else role
    if setting.model is None:
        return Check(name, True, "the embedded decider")
    if setting.role != role:
        return Check(name, True, f"as the {setting.role}")
    try:
        load(setting.model, role)
        notice = spending().notice if role == "agent" else ""
    except CtxfoldError as error:
        variable = "CTXFOLD_MODEL" if role == "agent" else f"CTXFOLD_{role.upper()}_MODEL"
        return Check(name, False, str(error), f"set {variable} to one that can be used, or unset it")
    if setting.model == config.EXPLORER:
        return Check(name, True, setting.model)
    server = f", at {setting.endpoint}" if setting.endpoint else ""
    key = f", key from {setting.key[0]}" if setting.key else ""
    said = f" ({notice})" if notice else ""
    return Check(name, True, f"{setting.model}{server}{key}, by {setting.source}{said}")


def _check_endpoint(url: str, source: str) -> Check:
    """Whether a model's server answers at all; any status is an answer."""
    try:
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/v1/models", timeout=REACH_SECONDS):
            return Check("endpoint", True, f"{url} answers", required=False)
    except urllib.error.HTTPError as answer:
        answer.close()
        return Check("endpoint", True, f"{url} answers", required=False)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        fix = f"start that server, or correct {source}"
        return Check("endpoint", False, f"{url} does not answer ({reason})", fix, required=False)
