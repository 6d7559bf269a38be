from pathlib import Path

import pytest

from ctxfold.errors import InputError, Refused
from mcp_server.transport.http import read_tokens

pytestmark = pytest.mark.anyio

LONG = "k3Jx9-Qm2vT7wZp5Rb8YcL4d"


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


async def test_a_token_lets_in_whom_its_line_names(tmp_path: Path) -> None:
    tokens = read_tokens(written(tmp_path / "tokens", f"# ours\n\nalice {LONG}a\n{LONG}b\n"))
    alice, owner = await tokens.verify_token(f"{LONG}a"), await tokens.verify_token(f"{LONG}b")
    assert alice is not None
    assert alice.subject == "alice"
    assert owner is not None
    assert owner.subject is None
    for wrong in ("", LONG, f"{LONG}A", "alice", f"alice {LONG}a", "\ud800"):
        assert await tokens.verify_token(wrong) is None


@pytest.mark.parametrize("text", ["", "# none\n", "short\n", f"Alice {LONG}\n", f"../x {LONG}\n", f"a b {LONG}\n"])
def test_a_file_that_lets_in_nobody_or_anybody_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_tokens(written(tmp_path / "tokens", text))
    assert LONG not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(Refused, match="chmod 600"):
        read_tokens(written(tmp_path / "tokens", LONG, mode))
