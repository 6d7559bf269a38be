"""`ctxfold browse` and `ctxfold demo`: options to a run, interrupts, exit codes; the documentation site of the demo."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import click

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import RunResult, Safety
from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits, Watching, make_session_name
from browser_agent.cli.live import Live, print_result, wrap_lines
from browser_agent.cli.request import read_schema, read_secret, resume_command
from browser_agent.network.effects import Confirm
from browser_agent.network.secrets import Secrets
from ctxfold.cli.options import (
    budget_option,
    choose_model,
    fold_at_option,
    json_option,
    micro_option,
    rules_option,
    store_option,
)
from ctxfold.config import EXPLORER, child_environment
from ctxfold.errors import InputError, PageUnreachable
from ctxfold.models import helpers, load

_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("task", required=False, default="")
@click.option("--start-url", metavar="URL", help="The page to begin on. The explorer needs one.")
@click.option(
    "--model",
    metavar="NAME",
    help="explorer (no key), claude-…, PROVIDER:NAME or script:FILE; default: the agent's model in your settings.",
)
@click.option(
    "--folder-model",
    metavar="NAME",
    help="The model that folds, plans and extracts; default: CTXFOLD_FOLDER_MODEL, else none.",
)
@budget_option
@click.option("--max-steps", type=int, default=200, show_default=True, metavar="N", help="The most steps.")
@click.option(
    "--timeout", type=float, default=1800, show_default=True, metavar="SECONDS", help="The longest it may take."
)
@click.option("--max-cost", type=float, metavar="DOLLARS", help="The most a model may cost; 1 dollar if not said.")
@click.option("--session", metavar="NAME", help="The session it is kept in; one is made up if not said.")
@click.option("--resume", is_flag=True, help="Go on with a session that is there.")
@click.option(
    "--schema",
    type=_file,
    metavar="FILE",
    help="A JSON schema the answer must have: it is printed as JSON, or what is missing is said.",
)
@click.option(
    "--screenshots",
    is_flag=True,
    help="Keep a small picture of the page after each step, for `ctxfold report`; passwords and secrets are covered.",
)
@click.option(
    "--save-script", "script", type=_file, metavar="FILE", help="Write what is done as a Playwright script in Python."
)
@click.option("--trace", type=_file, metavar="FILE", help="Write Playwright's trace; it holds all that the pages show.")
@click.option("--headed", is_flag=True, help="Show the browser.")
@click.option("--browser", "executable", type=_file, metavar="PATH", help="The browser to start.")
@click.option("--endpoint", metavar="URL", help="A browser that is running already, to use instead.")
@click.option(
    "--storage-state",
    type=_file,
    metavar="FILE",
    help="Cookies and local storage to begin with, as Playwright saves them.",
)
@click.option("--allow", multiple=True, metavar="DOMAIN", help="Connect to these only, and to the start address.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME=SOURCE",
    help="A value to type as <secret:NAME>, from env:VARIABLE or file:PATH. "
    "NAME@DOMAIN[:PORT] binds it to another site than the start address.",
)
@click.option(
    "--confirm",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Ask before a page sends something with effects. auto: when a model acts outside --start-url and --trust.",
)
@click.option(
    "--trust", multiple=True, metavar="DOMAIN", help="Pages of it may send what they like after an act, unasked."
)
@fold_at_option
@micro_option
@rules_option
@json_option
@store_option
def browse(
    task: str, start_url: str | None, model: str | None, folder_model: str | None, budget: int, max_steps: int,
    timeout: float, max_cost: float | None, session: str | None, resume: bool, schema: Path | None,
    screenshots: bool, script: Path | None, trace: Path | None, headed: bool, executable: Path | None,
    endpoint: str | None, storage_state: Path | None, allow: tuple[str, ...], secrets: tuple[str, ...],
    confirm: Confirm, trust: tuple[str, ...], as_json: bool, store: str | None,
) -> int:  # fmt: skip
    """Carry out a TASK in a browser, to an answer with its sources.

    Each step is kept in a session, so an interrupted run goes on with --resume --session NAME. Exits with 1 when no
    answer was found.
    """
    if not task.strip() and not resume:
        raise click.UsageError("say in a sentence what is wanted: ctxfold browse TASK --start-url URL")
    if resume and session is None:
        raise click.UsageError("--resume needs --session NAME; `ctxfold sessions list` shows them")
    if model is not None:
        load(model)  # an unknown name, or one without its key, is reported before its cost limit
    live = Live(quiet=as_json)
    given = tuple(read_secret(secret, start_url) for secret in secrets)
    safety = Safety(allow, given, confirm, live.ask if sys.stdin.isatty() else None, trust=trust)
    helping = helpers(folder_model)
    decides, shape = choose_model(model, max_cost, helping), None if schema is None else read_schema(schema)
    session = session or make_session_name(Secrets(safety.secrets).scrub(task))
    limits = RunLimits(max_steps, timeout, decides.dollars)
    choice = BrowserChoice(headed, executable, endpoint, storage_state, trace)
    keeping = Keeping(session, store, resume, helping, screenshots, script)
    agent = BrowserAgent(decides.model, budget, limits, choice, keeping, safety)
    if decides.dollars is not None:
        live.report(f"it costs at most ${decides.dollars:.2f} (--max-cost)")
    run = agent.run(task, start_url, Watching(live.step, live.report), shape)
    return carry_out(agent, run, live, resume_command(session, decides.model, start_url))


QUESTION = "Which events does xml.etree.ElementTree.iterparse report when events is omitted?"


@click.command()
@click.argument("question", required=False, default=QUESTION)
@budget_option
@json_option
def demo(question: str, budget: int, as_json: bool) -> int:
    """Answer a question from Python's own documentation, in a real browser, with no model.

    It starts the documentation server of the Python that runs it, browses that site on this machine, and ends both.
    QUESTION may be another one that the documentation answers.
    """
    if not question.strip():
        raise InputError("there is no question; say in a sentence what is wanted, or leave it out")
    live, session = Live(quiet=as_json), make_session_name(question)
    with pydoc_site() as url:
        if not as_json:
            click.echo(wrap_lines(f"question: {question}", err=True), err=True)
            click.echo(wrap_lines(f"site: Python's own documentation server, now at {url}", err=True), err=True)
        agent = BrowserAgent(EXPLORER, budget, RunLimits(60, 120.0), keeping=Keeping(session))
        run = agent.run(question, url, Watching(step=live.step, report=live.report))
        return carry_out(agent, run, live, resume_command(session, EXPLORER, url))


_READY = re.compile(r"(http://\S+)")
_SECONDS = 30.0
"""The longest that Python's documentation server takes to start on a busy machine."""
_PYDOC = "import pydoc; pydoc.browse(0, open_browser=False, hostname='127.0.0.1')"
"""`python -m pydoc` would put the working directory on its path, and run what modules lie there."""


@contextmanager
def pydoc_site() -> Iterator[str]:
    """Start Python's documentation server and yield its address. The server ends with the block or with this process,
    which closes its input.

    Raises:
        PageUnreachable: this Python's server does not start.
    """
    command = [sys.executable, "-P", "-c", _PYDOC]
    pipe, environment = subprocess.PIPE, child_environment()
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as server:
        limit = threading.Timer(_SECONDS, server.kill)  # its output then ends
        limit.start()
        try:
            ready = next(filter(None, map(_READY.search, server.stdout or ())), None)
            limit.cancel()
            if ready is None:
                raise PageUnreachable(
                    "Python's documentation server does not start; to see why, try "
                    f"`{sys.executable} -P -c 'import pydoc; pydoc.browse()'`"
                )
            yield ready.group(1)
        finally:
            limit.cancel()
            server.terminate()


NOT_ACHIEVED, ENVIRONMENT, INTERRUPTED = 1, 3, 130


def carry_out(agent: BrowserAgent, run: Coroutine[Any, Any, RunResult], live: Live, resume: str) -> int:
    """Carry out a run of an agent, print its result, and return the exit code.

    When it is interrupted, or fails after a step, the session is kept and the command that resumes it is printed.
    """
    kept = f"what was done is kept. Go on with:  {resume}"
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with live:
            result = anyio.run(_finish, agent, run)
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted{f'; {kept}' if live.steps else ' before anything was done'}", err=True)
        return INTERRUPTED
    except Exception:
        if live.steps:
            click.echo(kept, err=True)
        raise
    print_result(result, live.quiet)
    return {"answered": 0, "failed": ENVIRONMENT}.get(result.status, NOT_ACHIEVED)


async def _finish(agent: BrowserAgent, run: Coroutine[Any, Any, RunResult]) -> RunResult:
    """Finish a run and end its browser. Failures that nobody awaits are reported unless the run is interrupted."""
    task = asyncio.current_task()

    def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if task is None or not task.cancelling():
            loop.default_exception_handler(context)

    asyncio.get_running_loop().set_exception_handler(report)
    async with agent:
        return await run
