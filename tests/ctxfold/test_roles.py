"""Which model, server and key each role has: the command, then variables, then the settings file; a server and key belong to their model."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxfold.cli.doctor import run_checks
from ctxfold.config import KEYED_MODEL, ROLES, Role, role_setting, settings_file
from ctxfold.errors import InputError, ModelKeyMissing
from ctxfold.models import Roles, Spending, helpers, load, spending

FILE = """
[models]
max_cost = 2.5

[models.agent]
model = "ollama:qwen3:8b"

[models.folder]
model = "openai:strong"
endpoint = "http://127.0.0.1:9/v1"
key_env = "FOLDERS_KEY"

[models.reader]
model = "claude-haiku-5-5"
key = "sk-reader"
"""


@pytest.fixture
def settings(ctxfold_home: Path) -> Path:
    """A settings file of three roles."""
    ctxfold_home.mkdir(parents=True, exist_ok=True)
    path = settings_file()
    path.write_text(FILE, encoding="utf-8")
    path.chmod(0o600)
    return path


def names(roles: Roles) -> list[str | None]:
    return [None if one is None else one.name for one in (roles.folder, roles.planner, roles.router, roles.reader)]


def test_each_role_has_its_own_and_who_has_none_has_the_folders(settings: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FOLDERS_KEY", "sk-folder")
    agent = load(role_setting("agent").model or "")
    assert agent is not None
    assert agent.name == "ollama:qwen3:8b"
    strong = "openai:strong@http://127.0.0.1:9/v1"
    assert names(helpers()) == [strong, strong, strong, "claude-haiku-5-5"]
    monkeypatch.setenv("CTXFOLD_PLANNER_MODEL", "ollama:planner")
    assert names(helpers()) == [strong, "ollama:planner", strong, "claude-haiku-5-5"]
    assert names(helpers("ollama:one")) == ["ollama:one"] * 4


def test_a_variable_goes_before_the_file_and_a_server_and_key_belong_to_their_model(
    settings: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FOLDERS_KEY", "sk-folder")
    filed = role_setting("folder")
    assert (filed.endpoint, filed.key) == ("http://127.0.0.1:9/v1", ("FOLDERS_KEY", "sk-folder"))
    assert "sk-folder" not in repr(filed)
    monkeypatch.setenv("CTXFOLD_FOLDER_MODEL", "claude-opus-5-5")
    moved = role_setting("folder")
    assert (moved.model, moved.source) == ("claude-opus-5-5", "CTXFOLD_FOLDER_MODEL")
    assert (moved.endpoint, moved.key) == (None, None)
    monkeypatch.setenv("CTXFOLD_FOLDER_ENDPOINT", "http://127.0.0.1:8/v1")
    monkeypatch.setenv("CTXFOLD_FOLDER_KEY", "sk-own")
    assert role_setting("folder").endpoint == "http://127.0.0.1:8/v1"
    named = role_setting("folder", "ollama:other")
    assert (named.model, named.endpoint, named.key) == ("ollama:other", None, None)


def test_a_helping_role_without_its_key_says_so_when_it_is_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CTXFOLD_ROUTER_MODEL", "claude-opus-5-5")
    with pytest.raises(ModelKeyMissing):
        helpers()
    found = helpers(must=False)
    assert [one.name for one in found.absent] == ["claude-opus-5-5"]
    assert found.folder is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[models", "not TOML"),
        ("[model.agent]\n", "hold 'model'"),
        ("[models.cook]\n", "holds 'cook'"),
        ("[models.agent]\nname = 'x'\n", "holds 'name'"),
        ("[models.agent]\nmodel = 3\n", "holds 'model'"),
        ("models = 3\n", "hold 'models'"),
    ],
)
def test_settings_that_cannot_be_read_name_what_to_mend(settings: Path, text: str, said: str):
    settings.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as raised:
        role_setting("agent")
    assert str(settings) in str(raised.value)


def test_a_key_that_others_can_read_is_refused(settings: Path):
    settings.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        role_setting("agent")


def test_a_paid_model_that_a_key_brings_is_said_and_every_paid_one_is_limited(monkeypatch: pytest.MonkeyPatch):
    assert spending() == Spending("explorer", None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-lying-around")
    brought = spending()
    assert (brought.model, brought.dollars) == (KEYED_MODEL, 1.0)
    assert brought.notice == (
        f"ANTHROPIC_API_KEY is set: {KEYED_MODEL} decides, for at most $1.00 (--max-cost); --model explorer costs nothing"
    )
    assert spending("claude-opus-5-5") == Spending("claude-opus-5-5", 1.0)
    assert spending("claude-opus-5-5", 5.0).dollars == 5.0
    monkeypatch.setenv("CTXFOLD_MAX_COST", "0.25")
    assert spending().dollars == 0.25
    for wrong in ("much", "nan"):
        monkeypatch.setenv("CTXFOLD_MAX_COST", wrong)
        with pytest.raises(InputError, match="is not an amount"):
            spending()


def test_a_paid_helper_beside_the_explorer_is_named_and_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-lying-around")
    helping = helpers("claude-haiku-5-5")
    said = "explorer decides with the help of claude-haiku-5-5, for at most $1.00 (--max-cost)"
    assert spending("explorer", None, helping) == Spending("explorer", 1.0, said)
    monkeypatch.setenv("CTXFOLD_MAX_COST", "0.25")
    assert spending("explorer", None, helping).dollars == 0.25
    assert spending("explorer", None, helpers("openai:x@http://127.0.0.1:9/v1")) == Spending("explorer", None)
    unknown = spending("explorer", None, helpers("claude-unheard-of"))
    assert "no price of claude-unheard-of is on file" in unknown.notice


@pytest.mark.parametrize("role", [role for role in ROLES if role != "agent"])
def test_a_server_or_key_of_a_helping_role_without_a_model_is_named_with_what_to_set(
    role: Role, ctxfold_home: Path, monkeypatch: pytest.MonkeyPatch
):
    upper = f"CTXFOLD_{role.upper()}"
    monkeypatch.setenv(f"{upper}_KEY", "sk-lonely")
    with pytest.raises(InputError, match=f"{upper}_KEY set for the {role}, and no model: set {upper}_MODEL"):
        helpers()
    checked = {check.name: check for check in run_checks()}
    assert not checked[role].ok
    assert f"{upper}_MODEL" in checked[role].fact
    assert "sk-lonely" not in repr(checked)
    monkeypatch.setenv(f"{upper}_MODEL", "ollama:small")
    assert "ollama:small" in names(helpers())
    monkeypatch.delenv(f"{upper}_MODEL")
    monkeypatch.delenv(f"{upper}_KEY")
    ctxfold_home.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(f'[models.{role}]\nendpoint = "http://127.0.0.1:9/v1"\n', encoding="utf-8")
    with pytest.raises(InputError, match=rf"endpoint of \[models\.{role}\] set"):
        role_setting(role)
