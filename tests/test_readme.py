"""What the README tells a newcomer is true: its commands, its registration and its script."""

import json
import os
import re
import subprocess
import sys
import tomllib
from base64 import b64decode
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_the_first_block_is_the_two_commands() -> None:
    first = re.search(r"^```\w*\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
    assert first is not None
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == [
        "python3 run.py demo",
        "python3 run.py test",
    ]


def test_run_names_the_commands_that_the_documents_use() -> None:
    told = set(re.findall(r"run\.py (\w+)", README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    shown = subprocess.run([sys.executable, ROOT / "run.py", "--help"], capture_output=True, text=True, timeout=30)
    assert shown.returncode == 0
    assert told == set(re.findall(r"^    (\w+)  ", shown.stdout, flags=re.MULTILINE))


def test_the_table_lists_every_command_and_no_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `ctxfold ")]
    listed = {name for row in rows for name in re.findall(r"`ctxfold (\w+)", row)}
    assert listed == set(project["entry-points"]["ctxfold.commands"])


def test_the_registration_starts_the_server() -> None:
    (registration,) = (json.loads(block) for block in blocks("json"))
    assert registration == {"mcpServers": {"ctxfold": {"command": "ctxfold", "args": ["serve"]}}}


def test_the_scripts_run_and_say_what_they_promise() -> None:
    first, second = blocks("python")
    done = subprocess.run([sys.executable, "-c", first], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Rivoli at 180 fits" in done.stdout
    assert re.search(r"^s\d+", done.stdout.splitlines()[-1])
    done = subprocess.run(
        [sys.executable, "-c", f"from ctxfold import Session\n{second}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("left-bank\n")
    assert re.search(r"^c1 at most 400 EUR in all \(s2\.1\)$", done.stdout, re.MULTILINE)


def test_the_quick_start_records_folds_and_recalls() -> None:
    path, *commands = [line for line in blocks("bash")[1].splitlines() if line]
    assert path.startswith('export PATH="$PWD/.venv/bin:$PATH" ')
    beside = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    recorded, folded, recalled = (
        subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, env=beside, check=True)
        for command in commands
    )
    assert recorded.stdout == "s1\n"
    assert folded.stdout.startswith("b1 stands for s1: ")
    assert "Namespaces are one honking great idea" in recalled.stdout
    shown = [line.split("`")[1] for line in README.splitlines() if line.startswith("`ctxfold context zen`")]
    assert shown == ["ctxfold context zen"]
    view = subprocess.run(shown[0], shell=True, capture_output=True, text=True, timeout=60, env=beside, check=True)
    assert "sayings on how" in view.stdout


def test_the_documents_name_every_example() -> None:
    examples = {str(path.relative_to(ROOT)) for path in (ROOT / "examples").rglob("*.py")}
    assert examples == set(re.findall(r"\]\((examples/[^)]+\.py)\)", README))


def test_the_documents_link_to_files_that_exist() -> None:
    for document in ROOT.glob("*.md"):
        for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{document.name} links to {target}"


def test_the_buttons_register_what_the_lines_say() -> None:
    lines = json.loads(blocks("json")[0])["mcpServers"]["ctxfold"]
    (cursor,) = re.findall(r"\((https://cursor\.com/\S+)\)", README)
    asked = parse_qs(urlsplit(cursor).query)
    assert asked["name"] == ["ctxfold"]
    assert json.loads(b64decode(asked["config"][0])) == lines
    (code,) = re.findall(r"\((https://insiders\.vscode\.dev/\S+)\)", README)
    (link,) = parse_qs(urlsplit(code).query)["url"]
    assert link.startswith("vscode:mcp/install?")
    assert json.loads(unquote(urlsplit(link).query)) == {"name": "ctxfold"} | lines
