"""The root command, which finds the other commands through entry points and imports each when it is called."""

from __future__ import annotations

import ast
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

import click

from ctxfold.errors import BrokenInstall

__all__ = ["read_summary", "root"]


def read_summary(entry: EntryPoint) -> str | None:
    """The first sentence of a command's docstring; None where its source cannot be read."""
    source = _find_source(entry.module)
    if source is None:
        return None
    for node in ast.parse(source.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry.attr:
            paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
            return " ".join(paragraph.partition(". ")[0].split()).removesuffix(".")
    return None


def _find_source(module: str) -> Path | None:
    """The file of a module, found from its outermost package inwards without importing any of them."""
    outermost, *inner = module.split(".")
    spec = PathFinder.find_spec(outermost)
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for file in (Path(folder, *inner, "__init__.py"), Path(folder, *inner).with_suffix(".py")):
            if file.is_file():
                return file
    return None


GROUP = "ctxfold.commands"
"""The entry-point group: a name, and the click command it stands for."""


class _Commands(click.Group):
    """A group whose members are entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(_list_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = _list_entries().get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ImportError as error:
            raise BrokenInstall(f"the command {cmd_name!r} does not load ({error}): reinstall ctxfold") from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summarize(name)) for name in self.list_commands(ctx)])

    def _summarize(self, name: str) -> str:
        return read_summary(_list_entries()[name]) or "(does not load: reinstall ctxfold)"


@cache
def _list_entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"ctxfold {version('ctxfold')}")
        ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`ctxfold demo` shows the whole thing once; `ctxfold COMMAND --help` says what a command takes.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def root() -> None:
    """Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget."""
