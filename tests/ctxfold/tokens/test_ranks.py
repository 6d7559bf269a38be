"""The rank table ships with the package: complete, verified, and found by tiktoken itself, with no network."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from ctxfold import tokens as ranks
from ctxfold.errors import BrokenInstall

DATA = resources.files("ctxfold.tokens") / "data"
NO_NETWORK = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
LITERAL = "import tiktoken; print(len(tiktoken.get_encoding('o200k_base').encode('hello world')))"


def run(code: str, **environment: str) -> str:
    """What `code` prints in a fresh interpreter that can reach nothing."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | NO_NETWORK | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_packed_table_has_the_checksums_that_stand_beside_it() -> None:
    packed = (DATA / "o200k_base.tiktoken.gz").read_bytes()
    facts = json.loads((DATA / "o200k_base.json").read_text())
    assert (DATA / "SHA256SUMS").read_text().split() == [hashlib.sha256(packed).hexdigest(), "o200k_base.tiktoken.gz"]
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == facts["sha256"]
    assert "MIT License" in (DATA / "LICENSE-o200k").read_text()


def test_counting_needs_no_network_and_no_cache(tmp_path: Path) -> None:
    printed = run("import ctxfold.tokens as t; print(t.count('hello world'))", TIKTOKEN_CACHE_DIR=str(tmp_path))
    assert printed == "2"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_tiktoken_finds_the_encoding_offline_in_the_cache_the_user_named(tmp_path: Path, variable: str) -> None:
    assert run(LITERAL, **{variable: str(tmp_path / "named")}) == "2"
    assert [file.stat().st_size for file in (tmp_path / "named").iterdir()] == [3_613_922]


def test_an_altered_table_is_reported_with_the_next_move(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "data"
    package.mkdir()
    (package / "o200k_base.json").write_text((DATA / "o200k_base.json").read_text())
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    ranks.encoding.cache_clear()
    with pytest.raises(BrokenInstall, match="reinstall ctxfold"):
        ranks.encoding()
    (package / "o200k_base.tiktoken.gz").write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(BrokenInstall, match="altered"):
        ranks.encoding()
