"""`ctxfold demo`: one question answered from Python's own documentation server."""

from __future__ import annotations

import click

from ctxfold.cli.options import budget_option, json_option
from ctxfold.errors import InputError

__all__ = ["demo"]

QUESTION = "Which events does xml.etree.ElementTree.iterparse report when events is omitted?"


@click.command()
@click.argument("question", required=False, default=QUESTION)
@budget_option
@json_option
def demo(question: str, budget: int, as_json: bool) -> None:
    """Answer a question from Python's own documentation, in a real browser, with no model.

    It starts the documentation server of the Python that runs it, browses that site on this machine, and ends both. QUESTION may be
    another one that the documentation answers.
    """
    from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
    from browser_agent.cli.live import wrapped
    from browser_agent.cli.pydoc_site import pydoc_site
    from browser_agent.cli.request import RunRequest
    from browser_agent.cli.run import carry_out

    if not question.strip():
        raise InputError("there is no question; say in a sentence what is wanted, or leave it out")
    with pydoc_site() as url:
        if not as_json:
            click.echo(wrapped(f"question: {question}", err=True), err=True)
            click.echo(wrapped(f"site: Python's own documentation server, now at {url}", err=True), err=True)
        carry_out(
            RunRequest(
                question, url, "explorer", budget, RunLimits(60, 120.0), BrowserChoice(), Keeping(), as_json=as_json
            )
        )
