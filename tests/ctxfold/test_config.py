"""Where things live and which keys are set, read at call time."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ctxfold.config import FoldSettings, default_store, endpoint, fold_settings, home
from ctxfold.errors import InputError, ReadOnlyStore

VARIABLES = (
    "CTXFOLD_HOME",
    "CTXFOLD_DATABASE_URL",
    "CTXFOLD_MODEL",
    "CTXFOLD_FOLDER_MODEL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


def test_home_is_made_private_to_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXFOLD_HOME", str(tmp_path / "deep" / "home"))
    assert home() == tmp_path / "deep" / "home"
    assert stat.S_IMODE(home().stat().st_mode) == 0o700


def test_a_home_that_cannot_be_made_names_the_variable_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("CTXFOLD_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(ReadOnlyStore, match="set CTXFOLD_HOME"):
        home()


def test_the_store_is_a_file_in_home_unless_a_url_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXFOLD_HOME", str(tmp_path))
    assert default_store() == str(tmp_path / "ctxfold.db")
    monkeypatch.setenv("CTXFOLD_DATABASE_URL", "/elsewhere/sessions.db")
    assert default_store() == "/elsewhere/sessions.db"


def test_a_key_goes_before_a_token_and_never_shows_in_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-value")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-value")
    found = endpoint()
    assert (found.credential, found.secret, found.local) == ("ANTHROPIC_API_KEY", "key-value", False)
    assert "key-value" not in repr(found)


def test_a_base_url_moves_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8081/")
    assert endpoint().url == "http://127.0.0.1:8081"
    assert endpoint().local


def test_folding_is_set_by_the_settings_file_and_before_it_by_variables(monkeypatch, tmp_path):
    file = tmp_path / "settings.toml"
    monkeypatch.setenv("CTXFOLD_SETTINGS", str(file))
    assert fold_settings() == FoldSettings()
    file.write_text("[fold]\nat = 0.8\nto = 0.5\ndepth = 2\nwindow = 30\nmicro = true\n")
    assert fold_settings() == FoldSettings(0.8, 0.5, 2, 30, micro=True)
    monkeypatch.setenv("CTXFOLD_FOLD_AT", "0.6")
    assert (fold_settings().at, fold_settings().to) == (0.6, 0.5)
    for wrong in ("at = 2", "depth = 'x'", "deep = 1", "micro = 1"):
        file.write_text(f"[fold]\n{wrong}\n")
        monkeypatch.delenv("CTXFOLD_FOLD_AT", raising=False)
        with pytest.raises(InputError):
            fold_settings()
