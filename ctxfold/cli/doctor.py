"""`ctxfold doctor`: prints what works on this machine and how to fix the rest."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace

import click

from ctxfold.cli.checks import Check, run_checks
from ctxfold.cli.options import json_option, store_option
from ctxfold.cli.output import escape_controls, print_json
from ctxfold.text.words import counted

__all__ = ["doctor"]

LEAST = 40
WIDTH = 80
INDENT = " " * 16


@click.command()
@json_option
@click.option("--salvage", metavar="NEW-FILE", help="Take over what still reads of a damaged store into a new one.")
@store_option
@click.pass_context
def doctor(context: click.Context, as_json: bool, salvage: str | None, store: str | None) -> None:
    """Say what works on this machine, and the fix for what does not.

    Ends with 3 where something is missing that ctxfold cannot do without. Nothing is changed, but that bytes of
    what was redacted or deleted are taken out of the store where that was still due; no key is shown.

    With --salvage a damaged store is left as it is, and what still reads of it is written to a new one: each session
    as it was, or where that does not replay its log alone. Ends with 1 where something is missing, and lists it.
    """
    if salvage is not None:
        if not _salvage(salvage, store, as_json):
            context.exit(1)
        return
    found = run_checks(store)
    works = all(check.ok or not check.required for check in found)
    if as_json:
        print_json({"ok": works, "checks": [replace(check, fix="") if check.ok else check for check in found]})
    else:
        click.echo("\n".join(map(_format_check, found)))
    if not works:
        context.exit(3)


def _salvage(new: str, store: str | None, as_json: bool) -> bool:
    """Salvage a store, and say what is missing. Returns whether nothing is."""
    from ctxfold.session.history.salvage import salvage_store

    found = salvage_store(new, store)
    if as_json:
        print_json({"store": new, "sessions": found})
    else:
        for each in found:
            state = (
                "as it was"
                if each.whole
                else "its log alone: folds, other branches, to-do, constraints and decisions are missing"
            )
            click.echo(f"{escape_controls(each.name)}: {counted(each.records, 'record')}, {state}")
            if each.missing:
                click.echo(
                    textwrap.fill(
                        f"lost: {', '.join(each.missing)}", WIDTH, initial_indent="  ", subsequent_indent="  "
                    )
                )
        click.echo(
            f"name {escape_controls(new)} with --store or CTXFOLD_DATABASE_URL, or put it in the place of the damaged one"
        )
    return all(each.whole for each in found)


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
