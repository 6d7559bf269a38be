"""`ctxfold browse` and `ctxfold demo`: options to a run, interrupts, exit codes; the documentation site of the demo."""

from __future__ import annotations

import asyncio
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import anyio.abc
import click

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import RunResult
from browser_agent.agent.settings import Keeping, Watching, make_session_name
from browser_agent.cli.live import Live, print_result
from browser_agent.cli.request import RunRequest, resume_command
from browser_agent.network.secrets import Secrets
from ctxfold import Session
from ctxfold.cli.options import budget_option, choose_model, json_option, store_option
from ctxfold.config import child_environment
from ctxfold.errors import CtxfoldError, InputError, PageUnreachable

if TYPE_CHECKING:
    from browser_agent.network.effects import Confirm


_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("task", required=False, default="")
@click.option(
    "--start-url",
    metavar="URL",
    help="The page to begin on. The explorer needs one.",
)
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
@json_option
@store_option
def browse(
    task: str, start_url: str | None, model: str | None, folder_model: str | None, budget: int, max_steps: int,
    timeout: float, max_cost: float | None, session: str | None, resume: bool, schema: Path | None,
    screenshots: bool, script: Path | None, trace: Path | None, headed: bool, executable: Path | None,
    endpoint: str | None, storage_state: Path | None, allow: tuple[str, ...], secrets: tuple[str, ...],
    confirm: Confirm, trust: tuple[str, ...], as_json: bool, store: str | None,
) -> None:  # fmt: skip
    """Carry out a TASK in a browser, to an answer with its sources.

    Each step is kept in a session, so an interrupted run goes on with --resume --session NAME. Exits with 1 when no
    answer was found.
    """
    from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
    from browser_agent.cli.request import RunRequest, read_safety
    from browser_agent.deciders.model import Shape
    from ctxfold.models import helpers, load

    if not task.strip() and not resume:
        raise click.UsageError("say in a sentence what is wanted: ctxfold browse TASK --start-url URL")
    if resume and session is None:
        raise click.UsageError("--resume needs --session NAME; `ctxfold sessions list` shows them")
    if model is not None:
        load(model)  # a name that is none, or lacks its key, is said before what it may cost
    safety = read_safety(allow, secrets, start_url, confirm, trust)
    helping = helpers(folder_model)
    decides, shape = choose_model(model, max_cost, helping), None if schema is None else Shape.read(schema)
    limits = RunLimits(max_steps, timeout, decides.dollars)
    choice = BrowserChoice(headed, executable, endpoint, storage_state, trace)
    keeping = Keeping(session, store, resume, helping, screenshots, script)
    carry_out(RunRequest(task, start_url, decides.model, budget, limits, choice, keeping, safety, as_json, shape))


QUESTION = "Which events does xml.etree.ElementTree.iterparse report when events is omitted?"


@click.command()
@click.argument("question", required=False, default=QUESTION)
@budget_option
@json_option
def demo(question: str, budget: int, as_json: bool) -> None:
    """Answer a question from Python's own documentation, in a real browser, with no model.

    It starts the documentation server of the Python that runs it, browses that site on this machine, and ends both.
    QUESTION may be another one that the documentation answers.
    """
    from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
    from browser_agent.cli.live import wrap_lines
    from browser_agent.cli.request import RunRequest

    if not question.strip():
        raise InputError("there is no question; say in a sentence what is wanted, or leave it out")
    with pydoc_site() as url:
        if not as_json:
            click.echo(wrap_lines(f"question: {question}", err=True), err=True)
            click.echo(wrap_lines(f"site: Python's own documentation server, now at {url}", err=True), err=True)
        carry_out(
            RunRequest(
                question, url, "explorer", budget, RunLimits(60, 120.0), BrowserChoice(), Keeping(), as_json=as_json
            )
        )


_READY = re.compile(r"(http://\S+)")
_SECONDS = 30.0
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
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=child_environment(),
    ) as server:
        said: queue.Queue[str | None] = queue.Queue()
        listener = threading.Thread(target=_listen, args=(server, said), daemon=True)
        listener.start()
        try:
            yield _address(said)
        finally:
            server.terminate()
            listener.join()


def _address(said: queue.Queue[str | None]) -> str:
    """Read the address that the server prints once it listens. Raises PageUnreachable: it prints none."""
    while True:
        try:
            line = said.get(timeout=_SECONDS)
        except queue.Empty:
            line = None
        if line is None:
            raise PageUnreachable(
                "Python's documentation server does not start; to see why, try "
                f"`{sys.executable} -P -c 'import pydoc; pydoc.browse()'`"
            )
        ready = _READY.search(line)
        if ready is not None:
            return ready.group(1)


def _listen(server: subprocess.Popen[str], said: queue.Queue[str | None]) -> None:
    """Put each line that the server prints into a queue, None at its end."""
    for line in server.stdout or ():
        said.put(line)
    said.put(None)


class DeferredReports:
    """Holds an event loop's reports of unawaited failures until the run has ended."""

    def __init__(self) -> None:
        self._held: list[tuple[asyncio.AbstractEventLoop, dict[str, Any]]] = []

    def listen(self) -> None:
        """Collect the reports of the running loop."""
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: self._held.append((loop, context)))

    def pass_on(self) -> None:
        """Report the collected failures."""
        for loop, context in self._held:
            loop.default_exception_handler(context)


NOT_ACHIEVED, ENVIRONMENT, INTERRUPTED = 1, 3, 130


def carry_out(request: RunRequest) -> None:
    """Run a request to its end, print the result, and exit with 1 or 3 when it was not achieved.

    When it is interrupted, or fails after a step, the session is kept and the command that resumes it is printed.
    """
    keeping = request.keeping
    if keeping.session is None:
        name = make_session_name(Secrets(request.safety.secrets).scrub(request.task))
        request = replace(request, keeping=replace(keeping, session=name))
    live = Live(quiet=request.as_json)
    if request.limits.dollars is not None:
        live.report(f"it costs at most ${request.limits.dollars:.2f} (--max-cost)")
    try:
        result = _run_to_end(request, live)
    except Exception:
        if live.steps:
            click.echo(f"what was done is kept. Go on with:  {resume_command(request)}", err=True)
        raise
    if result is None:
        _exit_interrupted(request)
    print_result(result, request.as_json)
    if result.status == "failed":
        raise click.exceptions.Exit(ENVIRONMENT)
    if result.status != "answered":
        raise click.exceptions.Exit(NOT_ACHIEVED)


def _run_to_end(request: RunRequest, live: Live) -> RunResult | None:
    """Run a request. Returns None when it was interrupted or the system asked us to end."""
    deferred = DeferredReports()
    try:
        with live:
            result = anyio.run(_browse, request, live, deferred)
    except KeyboardInterrupt:
        return None
    except BaseException:
        deferred.pass_on()
        raise
    if result is not None:
        deferred.pass_on()
    return result


async def _browse(request: RunRequest, live: Live, deferred: DeferredReports) -> RunResult | None:
    """Run a request. Returns None when the system asked us to end."""
    deferred.listen()
    result: RunResult | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_when_told, tasks.cancel_scope)
        result = await _run(request, live)
        tasks.cancel_scope.cancel()
    return result


async def _run(request: RunRequest, live: Live) -> RunResult:
    safety = replace(request.safety, ask=live.ask) if sys.stdin.isatty() else request.safety
    async with BrowserAgent(
        request.model, request.budget, request.limits, request.browser, request.keeping, safety
    ) as agent:
        schema = None if request.shape is None else request.shape.schema
        return await agent.run(request.task, request.start_url, Watching(step=live.step, report=live.report), schema)


async def _end_when_told(scope: anyio.CancelScope) -> None:
    """Cancel the run when the system asks this process to end."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as told:
        async for _ in told:
            scope.cancel()


def _exit_interrupted(request: RunRequest) -> NoReturn:
    kept = (
        f"; what was done is kept. Go on with:  {resume_command(request)}"
        if _is_kept(request.keeping)
        else " before anything was done"
    )
    click.echo(f"\ninterrupted{kept}", err=True)
    raise click.exceptions.Exit(INTERRUPTED)


def _is_kept(keeping: Keeping) -> bool:
    """Return whether the run has made its session."""
    try:
        Session.open(keeping.session or "", store=keeping.store, create=False).close()
    except CtxfoldError:
        return False
    return True
