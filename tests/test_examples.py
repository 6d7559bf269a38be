"""Every example runs by itself and finds true what it asserts; those that need a model say what they lack."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
LOOPS = sorted((Path(__file__).parents[1] / "examples" / "loops").glob("*.py"))
MISSING = {"openai_sdk": "openai", "langchain_agent": "langchain", "pydantic_ai_agent": "pydantic_ai"}
"""The module beyond ctxfold's own needs that an example imports first."""
WIDEST = 200


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs_and_its_assertions_hold(example: Path) -> None:
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert max(map(len, done.stdout.splitlines())) <= WIDEST


@pytest.mark.parametrize("example", LOOPS, ids=lambda example: example.stem)
def test_a_loop_says_in_one_line_what_it_lacks(example: Path, tmp_path: Path) -> None:
    def said(*words: str, **environment: str) -> str:
        known = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        done = subprocess.run(
            [sys.executable, example, *words],
            capture_output=True,
            text=True,
            timeout=110,
            env={**known, **environment, "CTXFOLD_HOME": str(tmp_path)},
        )
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    assert f"python examples/loops/{example.name}" in said()
    assert "_API_KEY" in said("openai:small", "Look up order W-3.")
    needed = MISSING.get(example.stem)
    if needed is not None:
        (tmp_path / f"{needed}.py").write_text("raise ImportError")
        assert "pip install" in said("openai:small", "Look up order W-3.", PYTHONPATH=str(tmp_path))
