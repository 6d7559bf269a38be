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


@pytest.mark.parametrize("text", ["", "# none\n", "short\n", f"Alice {LONG}\n", f"../x {LONG}\n", f"a b {LONG}\n"])
def test_a_file_that_lets_in_nobody_or_anybody_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_tokens(written(tmp_path / "tokens", text))
    assert LONG not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(Refused, match="chmod 600"):
        read_tokens(written(tmp_path / "tokens", LONG, mode))
