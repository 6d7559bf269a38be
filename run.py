#!/usr/bin/env python3
"""Runs ctxfold from a checkout: `python3 run.py demo`, `test`, `check` or `bench`. Standard library only.

It makes `.venv` beside this file, or takes the one it made before, installs the checkout and what it needs into it, and hands
over to the command. It installs nothing outside `.venv` itself, and does nothing twice: a second run starts at once. Its syntax
is kept plain enough for an older Python to read, so that it can say that it is too old.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
LOG = os.path.join(VENV, "install.log")
STAMP = os.path.join(VENV, "installed.txt")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
LEAST = (3, 11)


class CannotRun(Exception):
    """Something is missing. The message says what, and the next move."""


def main(arguments: list[str]) -> int:
    """Do one command. Returns its exit code; 3 when the environment is not fit for it."""
    parser = argparse.ArgumentParser(
        prog="run.py", description="Set up ctxfold in .venv, then run one of its commands."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, about) in COMMANDS.items():
        commands.add_parser(name, help=about, add_help=False)
    chosen, rest = parser.parse_known_args(arguments)
    run, _ = COMMANDS[chosen.command]
    try:
        return run(rest)
    except CannotRun as problem:
        print(f"run.py: {problem}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("run.py: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def demo(rest: list[str]) -> int:
    """Answer a question from Python's documentation in a real browser."""
    set_up(extra="")
    return hand_over([os.path.join(BIN, "ctxfold"), "demo", *rest])


def test(rest: list[str]) -> int:
    """Run all the tests, with a browser made ready for them, or those named."""
    set_up(extra="dev")
    os.chdir(ROOT)
    if not rest:
        missing = subprocess.call([PYTHON, "-m", "tests.support.browser"])
        if missing:
            return missing
        rest = ["-q", "-n", "2", "--dist", "loadfile"]
    return hand_over([PYTHON, "-m", "pytest", *rest])


def check(rest: list[str]) -> int:
    """Run the linter, the formatter, the type checker and the import floors; go on to the end, fail if one fails."""
    set_up(extra="dev")
    os.chdir(ROOT)
    failed = []
    for command in (
        ["ruff", "check", *rest],
        ["ruff", "format", "--check", *rest],
        ["mypy"],
        ["lint-imports"],
    ):
        print("$ " + " ".join(command), flush=True)
        if subprocess.call([os.path.join(BIN, command[0]), *command[1:]]):
            failed.append(" ".join(command))
    print("failed: " + "; ".join(failed) if failed else "all checks passed")
    return 1 if failed else 0


def bench(rest: list[str]) -> int:
    """Run every benchmark of tests/benchmarks, or those named (`bench counting`), one after the other."""
    set_up(extra="dev")
    os.chdir(ROOT)
    folder = os.path.join("tests", "benchmarks")
    there = sorted(
        os.path.splitext(name)[0]
        for name in os.listdir(folder)
        if name.endswith(".py") or os.path.isfile(os.path.join(folder, name, "__main__.py"))
    )
    unknown = [name for name in rest if name not in there]
    if unknown:
        raise CannotRun("no benchmark {!r}; there are {}".format(unknown[0], ", ".join(there)))
    worst = 0
    for name in rest or there:
        print("== " + name, flush=True)
        worst = max(worst, subprocess.call([PYTHON, "-m", "tests.benchmarks." + name]))
    return worst


COMMANDS = {
    "demo": (demo, "a real question, answered by a real browser, in a live line"),
    "test": (test, "the tests; what follows goes to pytest"),
    "check": (check, "linter, formatter, type checker, import floors"),
    "bench": (bench, "the benchmarks, or those named"),
}


def set_up(extra: str) -> None:
    """Make `.venv` hold this checkout and what it needs, with the `dev` tools if `extra` says so."""
    check_python()
    wanted = fingerprint(extra)
    with only_one():
        if has_been_installed(wanted):
            return
        make_venv(wanted)
        install(extra)
        with open(STAMP, "w") as file:
            file.write("\n".join(wanted))


def check_python() -> None:
    """Raise CannotRun unless this Python is new enough and can make an environment."""
    if sys.version_info < LEAST:
        newer = next((found for found in map(shutil.which, ("python3.13", "python3.12", "python3.11")) if found), None)
        raise CannotRun(
            "Python {}.{} or newer is needed and this is {}.{}: {}".format(
                *LEAST, *sys.version_info[:2], "run it with " + newer if newer else "install one from python.org"
            )
        )
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise CannotRun("this Python cannot make an environment (no venv module): run `apt install python3-venv`")


def fingerprint(extra: str) -> list[str]:
    """What the installation depends on: this Python, the project file, and the tools wanted."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = hashlib.sha256(file.read()).hexdigest()
    python = "python {}.{}".format(*sys.version_info[:2])
    return [python, "checkout " + ROOT, "project " + project, "tools " + extra]


def has_been_installed(wanted: list[str]) -> bool:
    """Whether `.venv` was filled for just this, or for this and the tools, and its Python still runs."""
    there = read_lines(STAMP)
    return there in (wanted, [*wanted[:-1], "tools dev"]) and runs()


def runs() -> bool:
    """Whether the Python in `.venv` starts."""
    return os.path.isfile(PYTHON) and subprocess.call([PYTHON, "-c", ""], stderr=subprocess.DEVNULL) == 0


def read_lines(path: str) -> list[str]:
    """The lines of a file, none if it is not there."""
    if not os.path.isfile(path):
        return []
    with open(path, errors="replace") as file:
        return file.read().splitlines()


def make_venv(wanted: list[str]) -> None:
    """Make `.venv`, or keep the one that is there if it was made for this Python and this place, and runs."""
    there = read_lines(STAMP)
    if there and there[:2] == wanted[:2] and runs():
        return
    say("making an environment in .venv")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if made.returncode:
        last = (made.stdout.strip().splitlines() or ["no reason given"])[-1]
        raise CannotRun(f"no environment could be made ({last}): on Debian or Ubuntu run `apt install python3-venv`")


def install(extra: str) -> None:
    """Install the checkout with pip, quietly: one line here, everything in the log."""
    target = ROOT + (f"[{extra}]" if extra else "")
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--editable", target]
    environment = dict(os.environ, PIP_DEFAULT_TIMEOUT=os.environ.get("PIP_DEFAULT_TIMEOUT", "60"))
    say("installing ctxfold and what it needs (a minute or so; log: .venv/install.log)")
    began = time.monotonic()
    with open(LOG, "w") as log:
        code = subprocess.call(command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=ROOT)
    if code:
        errors = [line.strip() for line in read_lines(LOG) if line.strip().startswith("ERROR: ")]
        reason = errors[-1] if errors else f"pip ended with status {code}"
        raise CannotRun(f"{reason} (log: {LOG}): check that the package registry can be reached, then run this again")
    say(f"installed in {time.monotonic() - began:.0f} s")


@contextmanager
def only_one() -> Iterator[None]:
    """Let one run at a time set up; another waits for it. The lock ends with its process."""
    try:
        os.makedirs(VENV, exist_ok=True)
        lock = open(os.path.join(ROOT, ".venv.lock"), "w")  # noqa: SIM115 - closed below, when all is set up
    except OSError as error:
        raise CannotRun(f"cannot write in {ROOT} ({error.strerror}): copy the checkout to a folder of yours") from error
    with lock:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def hand_over(command: list[str]) -> int:
    """Become `command`, so that its signals and exit code are its own."""
    sys.stdout.flush()
    if sys.platform == "win32":
        return subprocess.call(command)
    return os.execv(command[0], command)


def say(what: str) -> None:
    """Tell the user what is being done, apart from what the command prints."""
    print("run.py: " + what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
