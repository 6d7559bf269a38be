"""Prints a run: a line for each step and the cost on standard error, the answer on standard output; asks the person at
the terminal.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Self

import anyio.to_thread
import click
from rich.console import Console
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
        self.quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._console.width = max(LEAST_WIDTH, self._console.width if self._console.is_terminal else PLAIN_WIDTH)
        self._status = self._console.status("starting …")

    def step(self, taken: StepTaken) -> None:
        """Print a line for a step, and another for its note."""
        self.steps += taken.ok
        if not self.quiet:
            self._console.print(_format_step(taken, self._console.width), style="" if taken.ok else "yellow")
        if taken.note:
            self._print(INDENT * 2 + escape_controls(taken.note), "yellow")
        self._show_status(f"step {taken.step + 1} …")

    def report(self, said: str) -> None:
        """Print a notice, such as that a browser is downloaded."""
        if not self.quiet:
            self._print(escape_controls(said), "dim")
        self._show_status("starting the browser …")

    async def ask(self, asked: Asked) -> bool:
        """Ask the person at the terminal about an effect."""
        self._status.stop()
        question = f"It wants to {asked.did} ({asked.url}). Go on?"
        return await anyio.to_thread.run_sync(
            lambda: click.confirm(escape_controls(" ".join(question.split())), err=True), abandon_on_cancel=True
        )

    def __enter__(self) -> Self:
        self._show_status("starting …")
        return self

    def __exit__(self, *_error: object) -> None:
        self._status.stop()

    def _show_status(self, what: str) -> None:
        if not self.quiet and self._console.is_terminal:
            self._status.update(what)
            self._status.start()

    def _print(self, text: str, style: str) -> None:
        self._console.print(Text(text, style=style), soft_wrap=True)


def _format_step(taken: StepTaken, width: int) -> Text:
    """Format a step as one line: number, actions, resulting page, tokens of the view and budget."""
    tokens = f" {taken.view_tokens:,}/{taken.budget:,} tok"
    did, led = (Text(escape_controls(" ".join(text.split()))) for text in (taken.did, taken.title or taken.url))
    room = width - len(tokens) - len("1234 ")
    did.truncate(room * 3 // 5, overflow="ellipsis", pad=True)
    led.truncate(room - room * 3 // 5 - 1, overflow="ellipsis", pad=True)
    return Text.assemble(f"{taken.step:>4} ", did, " ", led, tokens)


def print_result(result: RunResult, as_json: bool) -> None:
    """Print the answer, or the reason for none, on standard output, and the cost on standard error."""
    if as_json:
        print_json(dataclasses.asdict(result))
        return
    click.echo("", err=True)
    name, passages = result.answered_by or result.decider, result.candidates
    who = "The explorer (no model)" if name == EXPLORER else name
    if result.data is not None:
        print_json(result.data)
    elif result.status == "answered":
        is_quoted = any(source.quote == result.answer for source in result.sources)
        words = " in the page's words:" if is_quoted else f": {result.answer}"
        click.echo(wrap_lines(f"{who} answers{words}"))
        _print_passages(result.sources)
        passages = tuple(passage for passage in passages if passage not in result.sources)
        if passages:
            click.echo("\nOther passages that fit:")
        _print_passages(passages)
    else:
        opening = {"none_found": f"{who} found no answer", "failed": "The run failed"}
        what = opening.get(result.status, "Stopped before an answer was found")
        best = "The passages that fit best, none of them for certain:"
        best = best if passages else "No page seen holds anything that fits."
        click.echo(wrap_lines(f"{what}: {result.reason}.\n\n{best}"))
        _print_passages(passages)
    _print_cost(result)


def _print_passages(passages: Sequence[Source]) -> None:
    """Print each passage with its address and ref."""
    for passage in passages:
        click.echo("")
        click.echo(wrap_lines(f"“{passage.quote}”", INDENT))
        click.echo(INDENT + escape_controls(passage.url) + (f"  ({passage.ref})" if passage.ref else ""))


def _print_cost(result: RunResult) -> None:
    usage, whole = result.usage, f"unfolded, the history would take {result.usage.unfolded_tokens:,}"
    steps, pages = counted(result.steps, "step"), counted(usage.pages, "page")
    lines = [
        f"{steps} decided by {result.decider}; {pages} in {usage.seconds:.1f} s",
        f"largest view {usage.peak_view_tokens:,} of {usage.budget:,} tokens; {whole}",
    ]
    if usage.input_tokens:
        price = "at no price on file" if usage.dollars is None else f"${usage.dollars:.4f}"
        lines.append(
            f"model: {usage.input_tokens:,} tokens read ({usage.cached_tokens:,} from the cache), "
            f"{usage.output_tokens:,} written, {price}"
        )
    if usage.folder_tokens:
        lines.append(f"the folding model read and wrote {usage.folder_tokens:,} tokens")
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
    return "\n".join(click.wrap_text(line, width, indent, indent) if line else "" for line in plain)
