#!/usr/bin/env python3
"""Runs ctxfold from a checkout: `python3 run.py demo`, `test`, `lowest`, `check` or `bench`. Standard library only.

It makes `.venv` in this folder, or reuses it, installs the checkout and its dependencies into it, with uv if there is
one, and runs the command. A second run starts at once. An older Python can read this file and say that it is too old.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
LOWEST = os.path.join(ROOT, ".venv-lowest")
LEAST = (3, 11)


class CannotRun(Exception):
    """Something is missing. The message says what, and the next move."""


def main(arguments: list[str]) -> int:
    """Do one command. Returns its exit code; 3 when the environment is not fit for it."""
    parser = argparse.ArgumentParser(prog="run.py", description="Set up ctxfold in .venv, then run a command.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run in COMMANDS.items():
        commands.add_parser(name, help=(run.__doc__ or "").partition("\n")[0], add_help=False)
    chosen, rest = parser.parse_known_args(arguments)
    os.chdir(ROOT)
    try:
        return COMMANDS[chosen.command](rest)
    except (CannotRun, OSError) as problem:
        say(str(problem))
        return 3
    except KeyboardInterrupt:
        say("stopped; the same command goes on from here")
        return 130


def demo(rest: list[str]) -> int:
    """Answer a question from Python's documentation in a real browser."""
    set_up(VENV, "")
    return hand_over([find_program(VENV, "ctxfold"), "demo", *rest])


def test(rest: list[str]) -> int:
    """Run all the tests, with a browser made ready for them, or those named."""
    set_up(VENV, "[dev]")
    python = find_program(VENV, "python")
    if not rest:
        missing = subprocess.call([python, "-m", "tests.support.browser"])
        if missing:
            return missing
        rest = ["-q", "-n", "3", "--dist", "loadfile"]
    return hand_over([python, "-m", "pytest", *rest])


def lowest(rest: list[str]) -> int:
    """Run the tests marked `smoke` with the lowest versions that pyproject.toml allows."""
    set_up(VENV, "[dev]")
    set_up(LOWEST, "[dev]", ["--resolution", "lowest-direct"])
    return hand_over([find_program(LOWEST, "python"), "-m", "pytest", *(rest or ["-q", "-m", "smoke"])])


def check(rest: list[str]) -> int:
    """Run linter, formatter, type checker, import floors and the ceilings of the rooms; fail if one fails.

    With `--tighten`, lower the ceilings to the present sizes.
    """
    set_up(VENV, "[dev]")
    failed = []
    commands = [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"], ["lint-imports"]]
    for command in [*commands, ["python", "-m", "tests.architecture.weigh", *rest]]:
        print("$ " + " ".join(command), flush=True)
        if subprocess.call([find_program(VENV, command[0]), *command[1:]]):
            failed.append(" ".join(command))
    print("failed: " + "; ".join(failed) if failed else "all checks passed")
    return 1 if failed else 0


def bench(rest: list[str]) -> int:
    """Run every benchmark of tests/benchmarks, or those named (`bench spine`), one after the other."""
    set_up(VENV, "[dev]")
    folder = os.path.join(ROOT, "tests", "benchmarks")
    there = [name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name, "__main__.py"))]
    there += [name[:-3] for name in os.listdir(folder) if name.endswith(".py")]
    worst = 0
    for name in rest or sorted(there):
        say("benchmark " + name)
        worst = max(worst, subprocess.call([find_program(VENV, "python"), "-m", "tests.benchmarks." + name]))
    return worst


COMMANDS = {run.__name__: run for run in (demo, test, lowest, check, bench)}


def set_up(venv: str, extra: str, options: list[str] | None = None) -> None:
    """Install this checkout and its dependencies into an environment, once for each Python, place and project file.

    Args:
        venv: the environment's folder.
        extra: `[dev]` adds the tools.
        options: version options of uv, which pip lacks.
    """
    if sys.version_info < LEAST:
        newer = next((found for found in map(shutil.which, ("python3.13", "python3.12", "python3.11")) if found), None)
        fix = "run it with " + newer if newer else "install one from python.org"
        raise CannotRun(
            "Python {}.{} or newer is needed and this is {}.{}: {}".format(*LEAST, *sys.version_info[:2], fix)
        )
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = hashlib.sha256(file.read()).hexdigest()
    made_for = ["python {}.{}".format(*sys.version_info[:2]), "checkout " + ROOT]
    wanted = [*made_for, "project " + project, "tools " + extra]
    stamp = os.path.join(venv, "installed.txt")
    with lock():
        there = read_lines(stamp) if can_run(venv) else []
        if there in (wanted, [*wanted[:-1], "tools [dev]"]):
            return
        uv = shutil.which("uv") or shutil.which(find_program(VENV, "uv"))
        if options and uv is None:
            raise CannotRun("uv is needed to choose the lowest versions: run `pip install uv`")
        if there[:2] != made_for:
            make_venv(venv, uv)
        install(venv, uv, [*(options or []), "--editable", ROOT + extra])
        with open(stamp, "w") as file:
            file.write("\n".join(wanted))


def find_program(venv: str, name: str) -> str:
    """Where a program of an environment lies."""
    windows = os.name == "nt"
    return os.path.join(venv, "Scripts" if windows else "bin", name + (".exe" if windows else ""))


def can_run(venv: str) -> bool:
    """Whether the Python of an environment is there and starts."""
    python = find_program(venv, "python")
    return os.path.isfile(python) and subprocess.call([python, "-c", ""], stderr=subprocess.DEVNULL) == 0


def read_lines(path: str) -> list[str]:
    """The lines of a file, none if it is not there."""
    if not os.path.isfile(path):
        return []
    with open(path, errors="replace") as file:
        return file.read().splitlines()


def make_venv(venv: str, uv: str | None) -> None:
    """Make an empty environment."""
    say("making an environment in " + os.path.basename(venv))
    command = [sys.executable, "-m", "venv"] if uv is None else [uv, "venv", "--python", sys.executable]
    made = subprocess.run([*command, "--clear", venv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        print(made.stdout, file=sys.stderr)
        raise CannotRun("no environment could be made: on Debian or Ubuntu run `apt install python3-venv`")


def install(venv: str, uv: str | None, what: list[str]) -> None:
    """Install the checkout and its dependencies: one line here, everything in the log."""
    python, log = find_program(venv, "python"), os.path.join(venv, "install.log")
    pip = [python, "-m", "pip", "install", "--no-input"]
    say(f"installing ctxfold and what it needs (a minute or so; log: {os.path.relpath(log, ROOT)})")
    began = time.monotonic()
    with open(log, "w") as file:
        command = [*(pip if uv is None else [uv, "pip", "install", "--python", python]), *what]
        code = subprocess.call(command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT)
    if code:
        errors = [line.strip() for line in read_lines(log) if line.strip().lower().startswith(("error: ", "× "))]
        reason = errors[-1] if errors else f"the installer ended with status {code}"
        raise CannotRun(f"{reason} (log: {log}): check that the package registry can be reached, then run this again")
    say(f"installed in {time.monotonic() - began:.0f} s")


@contextmanager
def lock() -> Iterator[None]:
    """Let one run at a time set up; another waits for it. The lock ends with its process."""
    with open(os.path.join(ROOT, ".venv.lock"), "w") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def hand_over(command: list[str]) -> int:
    """Become `command`, so that its signals and exit code are its own."""
    sys.stdout.flush()
    if sys.platform == "win32":
        return subprocess.call(command)
    return os.execv(command[0], command)


def say(what: str) -> None:
    """Print a progress line, separate from the command's output."""
    print("run.py: " + what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
