"""`ctxfold browse`: one task to an answer with its sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxfold.cli.options import announced, budget_option, json_option, store_option

if TYPE_CHECKING:
    from browser_agent.agent.confirm import Confirm

__all__ = ["browse"]

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
    help="explorer (no key), claude-…, PROVIDER:NAME, or script:FILE; the agent's model in your settings if not said.",
)
@click.option(
    "--folder-model",
    metavar="NAME",
    help="The model that folds, plans and extracts, whoever decides the steps; CTXFOLD_FOLDER_MODEL or none if not said.",
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
    help="A value to type as <secret:NAME>; from env:VARIABLE or file:PATH. NAME@DOMAIN[:PORT] binds it to another site than the start address.",
)
@click.option(
    "--confirm",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Ask before a page sends what has effects after an act: where a model acts away from --start-url and --trust, always, or never.",
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

    Each step is kept in a session, so an interrupted run goes on with --resume --session NAME. Exits with 1 when no answer was found.
    """
    from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
    from browser_agent.cli.options import read_safety
    from browser_agent.cli.request import AsSaid, RunRequest
    from browser_agent.cli.run import carry_out
    from browser_agent.deciders.answer_schema import Shape
    from ctxfold.models import helpers, load

    if not task.strip() and not resume:
        raise click.UsageError("say in a sentence what is wanted: ctxfold browse TASK --start-url URL")
    if resume and session is None:
        raise click.UsageError("--resume needs --session NAME; `ctxfold sessions list` shows them")
    if model is not None:
        load(model)  # a name that is none, or lacks its key, is said before what it may cost
    safety = read_safety(allow, secrets, start_url, confirm, trust)
    helping = helpers(folder_model)
    decides, shape = announced(model, max_cost, helping), None if schema is None else Shape.read(schema)
    limits = RunLimits(max_steps, timeout, decides.dollars)
    choice = BrowserChoice(headed, executable, endpoint, storage_state, trace)
    keeping = Keeping(session, store, resume, helping, screenshots, script)
    said = AsSaid(schema, folder_model, secrets)
    carry_out(RunRequest(task, start_url, decides.model, budget, limits, choice, keeping, safety, as_json, shape, said))
