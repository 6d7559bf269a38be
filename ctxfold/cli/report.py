"""`ctxfold report`: one session as one self-contained HTML page."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import click
from jinja2 import Environment, StrictUndefined

from ctxfold.cli.options import budget_option, json_option, open_existing, print_json, session_argument, store_option
from ctxfold.errors import InputError
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
from ctxfold.tokens import Budget
from ctxfold.view.render import render
from ctxfold.workspace import Tile, spans


@click.command()
@session_argument
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; SESSION.html if not said.")
@click.option(
    "--screenshots",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Pictures named after their steps, s12.png; those `ctxfold browse --screenshots` kept if not said.",
)
@budget_option
@json_option
@store_option
def report(
    session: str, out: Path | None, screenshots: Path | None, budget: int, as_json: bool, store: str | None
) -> None:
    """Write a session as one HTML file: its branches, the cost of its views, each step and block.

    The file works offline. It holds everything recorded: treat it like the session. An existing file is replaced.
    """
    open_existing(session, store).close()
    file = out or Path(f"{session}.html")
    made = report_session(session, file, store, budget, screenshots)
    facts = {"file": str(file), "steps": made.steps, "branches": len(made.chapters), "bytes": file.stat().st_size}
    if as_json:
        print_json(facts)
        return
    click.echo(f"{file}: {counted(made.steps, 'step')}, {facts['bytes']:,} bytes")


class RecordShown(NamedTuple):
    """One record: its address, kind and text, whether a tool or page wrote it, and how many characters are left out."""

    ref: str
    what: str
    text: str
    untrusted: bool
    left_out: int


class StepShown(NamedTuple):
    """A step: its number, title, raw cost in o200k tokens, records, the blocks it is folded in, and a picture as a data
    URL (empty: none).
    """

    n: int
    title: str
    raw: int
    pieces: tuple[RecordShown, ...]
    blocks: tuple[str, ...]
    picture: str


class Chapter(NamedTuple):
    """A branch with the steps and blocks that no older branch has."""

    topic: str
    branch: str
    current: bool
    forked_at: int
    steps: tuple[StepShown, ...]
    tiles: tuple[Tile, ...]


class Curve(NamedTuple):
    """Tokens of the whole log and of the view at some steps, in o200k tokens."""

    steps: tuple[int, ...]
    whole: tuple[int, ...]
    view: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a page; `view` is the present cost of the session's view at that budget."""

    name: str
    goal: str
    budget: int
    view: int
    topics: tuple[Topic, ...]
    curve: Curve
    chapters: tuple[Chapter, ...]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return sum(len(chapter.steps) for chapter in self.chapters)

    @property
    def raw(self) -> int:
        """The raw cost of all steps, in o200k tokens."""
        return sum(step.raw for chapter in self.chapters for step in chapter.steps)


LONGEST = 30_000
"""The most characters of one record in a report; `recall` gives the rest."""
POINTS = 100
"""The most views that are rendered for the curve, evenly spread."""
KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
LARGEST = 4_000_000
"""Bytes of the largest picture that a report holds."""


def report_session(
    name: str,
    file: str | os.PathLike[str],
    store: str | None = None,
    budget: int = 8_000,
    pictures: str | os.PathLike[str] | None = None,
) -> Report:
    """Write a session as one self-contained HTML page, private to its owner.

    Args:
        name: the session's name.
        file: the file to write; an existing one is replaced.
        store: the store, as in `Session.open`.
        budget: tokens of the views whose cost is drawn.
        pictures: a folder of screenshots named after their steps, `s12.png`; None for those kept with the store.

    Returns:
        The content of the page.

    Raises:
        UnknownSession: there is no such session.
        SessionNameError: not a session name.
        InputError: the file cannot be written, or the folder does not exist.
        StoreError: the store cannot be used.
        BudgetError: a budget below the least.
    """
    limit = Budget.of(budget)
    place, folder = check_path(file), None if pictures is None else Path(check_path(pictures))
    if folder is not None and not folder.is_dir():
        raise InputError(f"{folder.name} is not a folder; name one with screenshots called s12.png")
    with open_store_at(store) as kept, kept.reading() as tx:
        row = find_session(tx, kept, name)
        session, current = row.id, row.current or 1
        folder = folder or find_pictures(kept.address, row.name)
        chapters = tuple(_gather_chapters(tx, session, current, folder))
        goals = read_goals(tx, session, state_of(tx, session, head_of(tx, session, current)))
        view = render(Handle(kept, session, current).load_shown(tx, budget), limit).tokens
        curve, topics = _measure_curve(tx, session, limit), tuple(read_tree(tx, session, current))
        report = Report(row.name, goals[-1] if goals else "", budget, view, topics, curve, chapters)
    try:
        with open(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.write(make_page(report))
    except OSError as error:
        raise InputError(f"{Path(place).name} cannot be written ({error.strerror}); name another file") from error
    return report


def make_page(report: Report) -> str:
    """Write a report as HTML. All recorded text is escaped; the page forbids itself scripts and requests."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": "{:,}".format, "plain": _drop_controls, "points": _make_points, "spans": spans}
    template = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(report=report)


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
        tiles = tuple(load_tiles(tx, session, state.cover))
        records: dict[int, list[RecordShown]] = {step.n: [] for step in own}
        for record in tx.log.records(session, list(records)):
            records[record.step].append(_show_record(tx, record))
        steps = tuple(
            StepShown(
                step.n,
                sum_up([(shown.what, shown.text) for shown in records[step.n]]),
                step.raw,
                tuple(records[step.n]),
                tuple(tile.id for tile in tiles if step.n in tile.steps),
                _read_picture(pictures, step.n),
            )
            for step in own
        )
        yield Chapter(topics[head.topic], head.name, head.id == current, forked_at, steps, tiles)


def _show_record(tx: Reading, record: StoredRecord) -> RecordShown:
    text = tx.log.text(record.entry)
    what = record.kind if record.kind != "result" else f"result · {record.origin}"
    untrusted = record.origin in ("tool", "page")
    return RecordShown(f"s{record.step}.{record.k}", what, text[:LONGEST], untrusted, max(len(text) - LONGEST, 0))


def _read_picture(folder: Path | None, step: int) -> str:
    """Read the picture of a step as a data URL; empty for none."""
    if folder is None:
        return ""
    for kind, media_type in KINDS.items():
        path = folder / f"s{step}{kind}"
        if path.is_file() and path.stat().st_size <= LARGEST:
            return f"data:{media_type};base64,{base64.b64encode(path.read_bytes()).decode()}"
    return ""


def _measure_curve(tx: Reading, session: int, budget: Budget) -> Curve:
    """Measure at evenly spread steps the cost of the whole log and of the view of the current branch."""
    states: dict[int, State] = {}
    for event in tx.forest.events(session):
        if event.state.tip:
            states[max(event.state.tip, max(states, default=0))] = event.state
    steps = sorted(states)
    if len(steps) > POINTS:
        steps = [steps[at * (len(steps) - 1) // (POINTS - 1)] for at in range(POINTS)]
    sums, total, views = dict[int, int](), 0, []
    for step in sorted(tx.log.steps(session, range(1, tx.log.last_step(session) + 1)), key=lambda step: step.n):
        total += step.raw
        sums[step.n] = total
    for n in steps:
        workspace = load(tx, session, states[n], 4 * budget.tokens)
        views.append(render(replace(workspace, intent=load_intent(tx, session, states[n].intent)), budget).tokens)
    return Curve(tuple(steps), tuple(sums.get(n, total) for n in steps), tuple(views))


def _make_points(values: Sequence[int], top: int) -> str:
    """Write values as the points of an SVG polyline in a drawing of 1000 by 300; `top` is the largest value."""
    last = max(len(values) - 1, 1)
    return " ".join(f"{at * 1000 / last:.1f},{300 - value * 300 / top:.1f}" for at, value in enumerate(values))


_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), "�")


def _drop_controls(text: str) -> str:
    """Replace characters that HTML cannot hold: controls and halves of surrogate pairs."""
    return text.translate(_FORBIDDEN).encode("utf-8", "replace").decode("utf-8")
