"""Prints a run: a line for each step and the cost on standard error, the answer on standard output; asks the person at
the terminal.
"""

from __future__ import annotations

import dataclasses
import sys
from types import TracebackType
from typing import Self, assert_never

import anyio.to_thread
import click
from rich.console import Console
from rich.status import Status
from rich.table import Column, Table
from rich.text import Text

from browser_agent.agent.result import RunResult, StepTaken
from browser_agent.cli.request import format_command
from browser_agent.deciders import Source
from browser_agent.network.effects import Asked
from ctxfold.cli.options import escape_controls, print_json
from ctxfold.config import EXPLORER
from ctxfold.text.words import counted

PLAIN_WIDTH = 100
LEAST_WIDTH = 60
INDENT = "  "


class Live:
    """Prints each step, and on a terminal the running one. `quiet`: print failures only. `steps`: the number of steps
    performed as decided.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.steps = 0
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._console.width = max(LEAST_WIDTH, self._console.width if self._console.is_terminal else PLAIN_WIDTH)
        self._status: Status | None = None
        self._show_status("starting …")

    def step(self, taken: StepTaken) -> None:
        """Print a line for a step, and another for its note."""
        self.steps += taken.ok
        if not self._quiet:
            self._console.print(_as_row(taken), style="" if taken.ok else "yellow")
        if taken.note:
            self._print(INDENT * 2 + escape_controls(taken.note), "yellow")
        self._show_status(f"step {taken.step + 1} …")

    def report(self, said: str) -> None:
        """Print a notice, such as that a browser is downloaded."""
        if not self._quiet:
            self._print(escape_controls(said), "dim")
        self._show_status("starting the browser …")

    async def ask(self, asked: Asked) -> bool:
        """Ask the person at the terminal about an effect."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        question = f"It wants to {asked.did} ({asked.url}). Go on?"
        return await anyio.to_thread.run_sync(
            lambda: click.confirm(escape_controls(" ".join(question.split())), err=True), abandon_on_cancel=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def _show_status(self, what: str) -> None:
        if self._quiet or not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status(what, spinner="dots")
            self._status.start()
        self._status.update(what)

    def _print(self, text: str, style: str) -> None:
        self._console.print(Text(text, style=style), soft_wrap=True)


def _as_row(taken: StepTaken) -> Table:
    """Format a step as one line: number, actions, resulting page, tokens of the view and budget."""
    budget = f"{taken.budget:,}"
    row = Table.grid(
        Column(width=4, justify="right"),
        Column(ratio=3, no_wrap=True),
        Column(ratio=2, no_wrap=True),
        Column(width=2 * len(budget) + 5, justify="right", no_wrap=True),
        padding=(0, 1),
        expand=True,
    )
    did, led = (Text(escape_controls(" ".join(text.split()))) for text in (taken.did, taken.title or taken.url))
    row.add_row(str(taken.step), did, led, f"{taken.view_tokens:,}/{budget} tok")
    return row


def print_result(result: RunResult, as_json: bool) -> None:
    """Print the answer, or why there is none, on standard output, and the cost on standard error."""
    if as_json:
        print_json(dataclasses.asdict(result))
        return
    click.echo("", err=True)
    match result.status:
        case "answered" if result.data is not None:
            print_json(result.data)
        case "answered":
            _print_answer(result.answer or "", result.sources, _name_decider(result))
            _print_others(result)
        case "none_found":
            click.echo(wrap_lines(f"{_name_decider(result)} found no answer: {result.reason}."))
            _print_candidates(result.candidates)
        case "stopped":
            click.echo(wrap_lines(f"Stopped before an answer was found: {result.reason}."))
            _print_candidates(result.candidates)
        case "failed":
            click.echo(wrap_lines(f"The run failed: {result.reason}."))
            _print_candidates(result.candidates)
        case _:
            assert_never(result.status)
    _print_cost(result)


def _name_decider(result: RunResult) -> str:
    """Name the decider that answered, for the start of a sentence."""
    name = result.answered_by or result.decider
    return "The explorer (no model)" if name == EXPLORER else escape_controls(name)


def _print_answer(answer: str, sources: tuple[Source, ...], who: str) -> None:
    """Print the decider, the answer unless it equals the quote, and its source."""
    if sources and (sources[0].question or answer == sources[0].quote):
        click.echo(wrap_lines(f"{who} answers in the page's words:"))
    else:
        click.echo(wrap_lines(f"{who} answers: {answer}"))
    _print_sources(sources)


def _print_sources(sources: tuple[Source, ...]) -> None:
    asked = ""
    for source in sources:
        click.echo("")
        if source.question != asked:
            click.echo(wrap_lines(source.question))
        asked = source.question
        click.echo(wrap_lines(f"“{source.quote}”", INDENT))
        click.echo(INDENT + escape_controls(source.url) + (f"  ({source.ref})" if source.ref else ""))


def _print_others(result: RunResult) -> None:
    """Print the other passages that fit."""
    others = tuple(one for one in result.candidates if one not in result.sources)
    if others:
        click.echo("")
        click.echo("Other passages that fit:")
        _print_sources(others)


def _print_candidates(candidates: tuple[Source, ...]) -> None:
    click.echo("")
    if not candidates:
        click.echo("No page seen holds anything that fits.")
        return
    click.echo("The passages that fit best, none of them for certain:")
    _print_sources(candidates)


def _name_deciders(result: RunResult) -> str:
    """Count the steps of each decider."""
    shares = result.usage.decided or ((result.decider, 0),)
    decided = ", ".join(f"{steps} decided by {escape_controls(name)}" for name, steps in shares)
    return f"{counted(result.steps, 'step')}, {decided}"


def _print_cost(result: RunResult) -> None:
    usage = result.usage
    lines = [
        f"{_name_deciders(result)}; {counted(usage.pages, 'page')} in {usage.seconds:.1f} s",
        (
            f"largest view {usage.peak_view_tokens:,} of {usage.budget:,} tokens; "
            f"unfolded, the history would take {usage.unfolded_tokens:,}"
        ),
    ]
    if usage.input_tokens:
        price = "at no price on file" if usage.dollars is None else f"${usage.dollars:.4f}"
        lines.append(
            f"model: {usage.input_tokens:,} tokens read ({usage.cached_tokens:,} from the cache), "
            f"{usage.output_tokens:,} written, {price}"
        )
    if usage.folder_tokens:
        lines.append(f"the folding model read and wrote {usage.folder_tokens:,} tokens")
    if usage.compliance.replies:
        tried = usage.compliance
        lines.append(
            f"{counted(tried.replies, 'reply', 'replies')} in words: "
            f"{counted(tried.folds, 'fold')} taken, {tried.refused} refused"
        )
    if usage.refused:
        lines.append(f"{usage.refused} replies of the model did not fit; the explorer decided those steps")
    lines += [*result.notes, f"kept as session {result.session}"]
    click.echo("", err=True)
    for line in lines:
        click.echo(wrap_lines(line, err=True), err=True)
    click.echo(f"see it:  {format_command('context', result.session)}", err=True)  # in one piece, to be copied


def wrap_lines(text: str, indent: str = "", *, err: bool = False) -> str:
    """Wrap text to the terminal with controls escaped; for a pipe, keep each paragraph on one line."""
    plain = [escape_controls(line) for line in text.splitlines()]
    if not (sys.stderr if err else sys.stdout).isatty():
        return "\n".join(indent + line for line in plain)
    width = max(LEAST_WIDTH, Console().width) - 1
    return "\n".join(
        click.wrap_text(line, width, initial_indent=indent, subsequent_indent=indent) if line else "" for line in plain
    )
