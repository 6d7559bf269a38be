"""`ctxfold doctor`: prints what works on this machine and how to fix the rest."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace

import click

from ctxfold.cli.checks import Check, run_checks
from ctxfold.cli.options import json_option
from ctxfold.cli.output import escape_controls, print_json

__all__ = ["doctor"]

LEAST = 40
WIDTH = 80
INDENT = " " * 16


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Say what works on this machine, and the fix for what does not.

    Ends with 3 where something is missing that ctxfold cannot do without. Nothing is changed, but that bytes of
    what was redacted or deleted are taken out of the store where that was still due; no key is shown.
    """
    found = run_checks()
    works = all(check.ok or not check.required for check in found)
    if as_json:
        print_json({"ok": works, "checks": [replace(check, fix="") if check.ok else check for check in found]})
    else:
        click.echo("\n".join(map(_format_check, found)))
    if not works:
        context.exit(3)


def _format_check(check: Check) -> str:
    """One check: its mark, name and fact; beneath, the fix on a line of its own, ready to be copied."""
    mark = "ok" if check.ok else "FAIL" if check.required else "-"
    fact = textwrap.fill(
        f"{mark:<6}{check.name:<10}{escape_controls(check.fact)}",
        min(WIDTH, max(LEAST, shutil.get_terminal_size().columns)),
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return fact if check.ok or not check.fix else f"{fact}\n{INDENT}{check.fix}"
