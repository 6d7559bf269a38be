"""`ctxfold report`: one session as one self-contained HTML page."""

from __future__ import annotations

import base64
import mimetypes
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import click
from jinja2 import Environment, StrictUndefined

from ctxfold.cli.options import Printout, budget_option, data_command, open_existing, session_argument
from ctxfold.errors import InputError
from ctxfold.log import spans
from ctxfold.session.branches import Topic, read_tree
from ctxfold.session.commits import head_of, state_of
from ctxfold.session.handle import Handle
from ctxfold.session.load import load, load_tiles, read_goals
from ctxfold.session.open import check_path, find_pictures, find_session, open_store_at
from ctxfold.session.register import load_intent
from ctxfold.session.telling import sum_up
from ctxfold.store.rows import Reading
from ctxfold.store.tables import State, StoredRecord
from ctxfold.text.words import counted
from ctxfold.tokens import DEFAULT_BUDGET, Budget
from ctxfold.view.render import render

_folder = click.Path(exists=True, file_okay=False, path_type=Path)


@data_command
@session_argument
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; SESSION.html if not said.")
@click.option("--screenshots", type=_folder, metavar="FOLDER", help="Other pictures, named after their steps: s12.png.")
@budget_option
def report(session: str, out: Path | None, screenshots: Path | None, budget: int, store: str | None) -> Printout:
    """Write a session as one HTML file: its branches, the cost of its views, each step and block.

    The file works offline. It holds everything recorded: treat it like the session. An existing file is replaced.
    """
    open_existing(session, store).close()
    file = out or Path(f"{session}.html")
    written = report_session(session, file, store, budget, screenshots)
    size = file.stat().st_size
    facts = {"file": str(file), "steps": written.steps, "branches": len(written.chapters), "bytes": size}
    return Printout(facts, [f"{file}: {counted(written.steps, 'step')}, {size:,} bytes"])


Chapter = dict[str, Any]
"""A branch as the template takes it: its topic, name, fork, steps and tiles. Each step has its title, its records with
their texts, the blocks it is folded in, and a picture as a data URL (empty: none).
"""


class Report(NamedTuple):
    """The content of a page.

    Attributes:
        raw: the cost of all steps, in o200k tokens.
        view: the cost of the session's view now.
        curve: of some steps, their number, the cost of the log up to them, and the cost of the view at them.
        chapters: each branch with the steps and tiles that no older branch has, for the template.
    """

    name: str
    goal: str
    budget: int
    steps: int
    raw: int
    view: int
    topics: Sequence[Topic]
    curve: Sequence[tuple[int, int, int]]
    chapters: Sequence[Chapter]


LONGEST = 30_000
"""The most characters of one record in a report; `recall` gives the rest."""
POINTS = 100
"""The most views that are rendered for the curve, evenly spread."""
LARGEST = 4_000_000
"""Bytes of the largest picture that a report holds."""


def report_session(
    name: str,
    file: str | os.PathLike[str],
    store: str | None = None,
    budget: int = DEFAULT_BUDGET,
    pictures: Path | None = None,
) -> Report:
    """Write a session as one self-contained HTML page, private to its owner, and return the content of the page.

    Args:
        name: the session's name.
        file: the file to write; an existing one is replaced.
        store: the store, as in `Session.open`.
        budget: tokens of the views that the curve is drawn from.
        pictures: a folder of screenshots named after their steps, `s12.png`; None for those kept with the store.

    Raises: UnknownSession: the store has none of that name. SessionNameError: not a session name. InputError: the file
        cannot be written. StoreError: the store cannot be used. BudgetError: a budget below the least.
    """
    limit, place = Budget.of(budget), check_path(file)
    with open_store_at(store) as opened, opened.reading() as tx:
        row = find_session(tx, opened, name)
        session, current = row.id, row.current or 1
        folder = pictures or find_pictures(opened.address, row.name)
        chapters = tuple(_gather_chapters(tx, session, current, folder))
        goals = read_goals(tx, session, state_of(tx, session, head_of(tx, session, current)))
        view = render(Handle(opened, session, current).load_shown(tx, budget), limit).tokens
        costs = [step.raw for step in tx.log.steps(session)]
        curve, topics = _measure_curve(tx, session, limit, costs), read_tree(tx, session, current)
    report = Report(row.name, goals[-1] if goals else "", budget, len(costs), sum(costs), view, topics, curve, chapters)
    try:
        with open(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.write(make_page(report))
    except OSError as error:
        raise InputError(f"{place.name} cannot be written ({error.strerror}); name another file") from error
    return report


def make_page(report: Report) -> str:
    """Write a report as HTML. All recorded text is escaped; the page forbids itself scripts and requests."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": "{:,}".format, "plain": _drop_controls, "points": _make_points, "spans": spans}
    template = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(report=report, longest=LONGEST)


def _gather_chapters(tx: Reading, session: int, current: int, pictures: Path | None) -> Iterator[Chapter]:
    """Read each branch with its own steps, those that no branch before it has."""
    topics = {topic.id: topic.name for topic in tx.forest.topics(session)}
    seen: set[int] = set()
    for head in tx.forest.heads(session):
        state = state_of(tx, session, head)
        tip = tx.log.step(session, state.tip) if state.tip else None
        path = tx.log.along(session, tx.log.path(session, state.tip), 1, tip.depth) if tip else []
        own = [step for step in path if step.n not in seen]
        seen.update(step.n for step in own)
        forked_at = path[-len(own) - 1].n if len(path) > len(own) else 0
        tiles = load_tiles(tx, session, state.cover)
        records: dict[int, list[tuple[StoredRecord, str]]] = {step.n: [] for step in own}
        for record in tx.log.records(session, list(records)):
            records[record.step].append((record, tx.log.text(record.entry)))
        steps = []
        for step in own:
            title = sum_up([(record.kind, text) for record, text in records[step.n]])
            blocks, picture = [tile.id for tile in tiles if step.n in tile.steps], _read_picture(pictures, step.n)
            steps.append(
                {"step": step, "title": title, "records": records[step.n], "blocks": blocks, "picture": picture}
            )
        where = {"topic": topics[head.topic], "branch": head.name, "current": head.id == current}
        yield {**where, "forked_at": forked_at, "steps": steps, "tiles": tiles}


def _read_picture(folder: Path | None, step: int) -> str:
    """Read the picture of a step as a data URL; empty for none."""
    for path in folder.glob(f"s{step}.*") if folder else ():
        media_type = mimetypes.guess_type(path)[0] or ""
        if media_type.startswith("image/") and path.stat().st_size <= LARGEST:
            return f"data:{media_type};base64,{base64.b64encode(path.read_bytes()).decode()}"
    return ""


def _measure_curve(tx: Reading, session: int, budget: Budget, costs: Sequence[int]) -> list[tuple[int, int, int]]:
    """Measure, at evenly spread steps, the cost of the log up to them and of the view of the branch at work then."""
    states: dict[int, State] = {}
    newest = 0
    for event in tx.forest.events(session):
        newest = max(newest, event.state.tip)
        states[newest] = event.state
    states.pop(0, None)  # before the first step
    steps, sums = sorted(states), list(accumulate(costs))
    if len(steps) > POINTS:
        steps = [steps[at * (len(steps) - 1) // (POINTS - 1)] for at in range(POINTS)]
    curve = []
    for n in steps:
        workspace = load(tx, session, states[n], 4 * budget.tokens)
        shown = replace(workspace, intent=load_intent(tx, session, states[n].intent))
        curve.append((n, sums[n - 1], render(shown, budget).tokens))
    return curve


def _make_points(values: Sequence[int], top: int) -> str:
    """Write values as the points of an SVG polyline in a drawing of 1000 by 300; `top` is the largest value."""
    last = max(len(values) - 1, 1)
    return " ".join(f"{at * 1000 / last:.1f},{300 - value * 300 / top:.1f}" for at, value in enumerate(values))


_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), "�")


def _drop_controls(text: str) -> str:
    """Replace characters that HTML cannot hold: controls and halves of surrogate pairs."""
    return text.translate(_FORBIDDEN).encode("utf-8", "replace").decode("utf-8")
