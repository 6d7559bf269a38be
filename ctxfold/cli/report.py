"""`ctxfold report`: one session as one self-contained HTML page."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import click
from jinja2 import Environment, StrictUndefined

from ctxfold.cli.options import budget_option, json_option, open_existing, print_json, session_argument, store_option
from ctxfold.errors import InputError
from ctxfold.log import Step
from ctxfold.session.branches import Topic, read_tree
from ctxfold.session.commits import head_of, state_of
from ctxfold.session.handle import Handle
from ctxfold.session.load import load, load_tiles, read_goals
from ctxfold.session.open import check_path, find_pictures, find_session, open_store_at
from ctxfold.session.register import load_intent
from ctxfold.session.telling import sum_up
from ctxfold.store.rows import EventRow, HeadRow, Reading, State, StoredRecord
from ctxfold.store.sqlite import Store
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


@dataclass(frozen=True, slots=True)
class Piece:
    """One record: its address, kind and text, whether a tool or page wrote it, and how many characters are left out."""

    ref: str
    what: str
    text: str
    untrusted: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step: its number, a line that sums it up, its raw cost (o200k tokens), its records, the blocks it is folded in,
    and a picture as a data URL.
    """

    n: int
    title: str
    raw: int
    pieces: tuple[Piece, ...]
    blocks: tuple[str, ...] = ()
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """The steps and blocks that are a branch's own."""

    topic: str
    branch: str
    current: bool
    forked_at: int
    steps: tuple[StepShown, ...]
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Tokens of the whole log and of the view, step by step, in o200k tokens."""

    steps: tuple[int, ...]
    whole: tuple[int, ...]
    view: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A session as a page shows it; `view` is what its view costs now at that budget."""

    name: str
    goal: str
    budget: int
    view: int
    topics: tuple[Topic, ...]
    curve: Curve
    chapters: tuple[Chapter, ...]

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return sum(len(chapter.steps) for chapter in self.chapters)

    @property
    def raw(self) -> int:
        """What all of them cost raw, in o200k tokens."""
        return sum(step.raw for chapter in self.chapters for step in chapter.steps)


Picture = Callable[[int], str]
"""The picture of a step as a data URL; empty for none."""

LONGEST = 30_000
"""The most characters of one record in a report; `recall` gives the rest."""
POINTS = 100
"""Views of the past that are rendered for the curve, evenly spread."""


def gather_report(tx: Reading, store: Store, session: tuple[int, str, int], budget: int, picture: Picture) -> Report:
    """All that a report shows. Raises BudgetError: a budget below the least."""
    number, name, current = session
    topics = {topic.id: topic.name for topic in tx.forest.topics(number)}
    seen: set[int] = set()
    chapters = tuple(
        _gather_chapter(tx, number, head, (topics[head.topic], head.id == current), seen, picture)
        for head in tx.forest.heads(number)
    )
    found = read_goals(tx, number, state_of(tx, number, head_of(tx, number, current)))
    now = render(Handle(store, number, current).load_shown(tx, budget), Budget.of(budget)).tokens
    goal = found[-1] if found else ""
    curve = _draw_curve(tx, number, budget)
    return Report(name, goal, budget, now, tuple(read_tree(tx, number, current)), curve, chapters)


def _gather_chapter(
    tx: Reading, session: int, head: HeadRow, named: tuple[str, bool], seen: set[int], picture: Picture
) -> Chapter:
    """A branch's own steps: those on no older one. `seen` takes them in."""
    state = state_of(tx, session, head)
    tip = tx.log.step(session, state.tip) if state.tip else None
    path = tx.log.along(session, tx.log.path(session, state.tip), 1, tip.depth) if tip else []
    own = [step for step in path if step.n not in seen]
    seen.update(step.n for step in own)
    forked_at = path[-len(own) - 1].n if len(path) > len(own) else 0
    tiles = tuple(load_tiles(tx, session, state.cover))
    records: dict[int, list[StoredRecord]] = {step.n: [] for step in own}
    for record in tx.log.records(session, list(records)):
        records[record.step].append(record)
    steps = tuple(_gather_step(tx, step, records[step.n], tiles, picture) for step in own)
    return Chapter(named[0], head.name, named[1], forked_at, steps, tiles)


def _gather_step(
    tx: Reading, step: Step, records: Sequence[StoredRecord], tiles: Sequence[Tile], picture: Picture
) -> StepShown:
    pieces = tuple(_cut_record(tx, record) for record in records)
    blocks = tuple(tile.id for tile in tiles if step.n in tile.steps)
    return StepShown(
        step.n, sum_up([(piece.what, piece.text) for piece in pieces]), step.raw, pieces, blocks, picture(step.n)
    )


def _cut_record(tx: Reading, record: StoredRecord) -> Piece:
    text = tx.log.text(record.entry)
    what = record.kind if record.kind != "result" else f"result · {record.origin}"
    untrusted = record.origin in ("tool", "page")
    return Piece(f"s{record.step}.{record.k}", what, text[:LONGEST], untrusted, max(len(text) - LONGEST, 0))


def _draw_curve(tx: Reading, session: int, budget: int) -> Curve:
    """Measure at evenly spread steps the cost of the whole log and of the view of the current branch."""
    marks: dict[int, EventRow] = {}
    for event in tx.forest.events(session):
        if event.state.tip:
            marks[max(event.state.tip, max(marks, default=0))] = event
    wanted = sorted(marks)
    if len(wanted) > POINTS:
        wanted = [wanted[at * (len(wanted) - 1) // (POINTS - 1)] for at in range(POINTS)]
    sums, total = dict[int, int](), 0
    for step in sorted(tx.log.steps(session, range(1, tx.log.last_step(session) + 1)), key=lambda step: step.n):
        total += step.raw
        sums[step.n] = total
    views = [_price_view(tx, session, marks[n].state, budget) for n in wanted]
    return Curve(tuple(wanted), tuple(sums.get(n, total) for n in wanted), tuple(views))


def _price_view(tx: Reading, session: int, state: State, budget: int) -> int:
    """What the view of a revision's path costs, with its intent."""
    workspace = replace(load(tx, session, state, 4 * budget), intent=load_intent(tx, session, state.intent))
    return render(workspace, Budget.of(budget)).tokens


KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
LARGEST = 4_000_000
"""Bytes of a picture that is taken in."""


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
    Budget.of(budget)
    place, folder = check_path(file), None if pictures is None else check_path(pictures)
    with open_store_at(store) as kept, kept.reading() as tx:
        row = find_session(tx, kept, name)
        picture = _choose_pictures(folder or _find_beside(kept.address, row.name))
        report = gather_report(tx, kept, (row.id, row.name, row.current or 1), budget, picture)
    _write(place, make_page(report))
    return report


def make_page(report: Report) -> str:
    """A report as HTML. Everything recorded is escaped; the page forbids itself scripts and requests."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": "{:,}".format, "plain": _drop_controls, "points": _make_points, "spans": spans}
    template = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(report=report)


def _make_points(values: Sequence[int], top: int) -> str:
    """Write values as the points of an SVG polyline in a drawing of 1000 by 300; `top` is the largest value."""
    last = max(len(values) - 1, 1)
    return " ".join(f"{at * 1000 / last:.1f},{300 - value * 300 / top:.1f}" for at, value in enumerate(values))


_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), "�")


def _drop_controls(text: str) -> str:
    """Text without what HTML cannot hold: control characters and halves of surrogate pairs."""
    return text.translate(_FORBIDDEN).encode("utf-8", "replace").decode("utf-8")


def _find_beside(store: str, session: str) -> Path | None:
    """The folder of the pictures a run kept; None where it kept none."""
    folder = find_pictures(store, session)
    return folder if folder is not None and folder.is_dir() else None


def _choose_pictures(folder: str | os.PathLike[str] | None) -> Picture:
    """Where a step's picture comes from."""
    if folder is None:
        return lambda _: ""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place.name} is no folder; name one with screenshots called s12.png")
    there = {path.stem: path for path in sorted(place.iterdir()) if path.suffix.lower() in KINDS and path.is_file()}

    def picture(step: int) -> str:
        path = there.get(f"s{step}")
        if path is None or path.stat().st_size > LARGEST:
            return ""
        return f"data:{KINDS[path.suffix.lower()]};base64,{base64.b64encode(path.read_bytes()).decode()}"

    return picture


def _write(file: str | os.PathLike[str], text: str) -> None:
    try:
        with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise InputError(f"{Path(file).name} cannot be written ({error.strerror}); name another file") from error
