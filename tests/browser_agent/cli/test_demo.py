"""`ctxfold demo`: one command, a real site, a real browser, an answer that stands on its page."""

import json
import subprocess
import sys


def test_the_demo_answers_from_pydocs_pages():
    done = subprocess.run(
        [sys.executable, "-m", "ctxfold", "demo", "--json"], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "answered"
    assert result["sources"][0]["quote"]
    assert result["sources"][0]["url"].startswith("http://127.0.0.1:")
    assert result["steps"] >= 3
    assert result["usage"]["peak_view_tokens"] <= 8000
