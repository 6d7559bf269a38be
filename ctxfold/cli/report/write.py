"""Writes a report as one HTML file that works offline."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from ctxfold.cli.report.gather import Picture, Report, gather_report
from ctxfold.errors import InputError
from ctxfold.session.open import named, store_at
from ctxfold.session.screenshots import folder_of
from ctxfold.session.validate import as_path
from ctxfold.tokens import Budget
from ctxfold.workspace.workspace import spans

__all__ = ["make_page", "report_session"]

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
        name: the session.
        file: where to; one that is there is replaced.
        store: where it is kept, as in `Session.open`.
        budget: tokens of the views whose cost is drawn.
        pictures: a folder with screenshots named after their steps, `s12.png`; None for those kept beside the store.

    Returns:
        What the page shows.

    Raises:
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: the file cannot be written, the folder is none, or no path can name one of them or the store.
        StoreError: the store cannot be used.
        BudgetError: a budget below the least.
    """
    Budget.of(budget)
    place, folder = as_path(file), None if pictures is None else as_path(pictures)
    with store_at(store) as kept, kept.reading() as tx:
        row = named(tx, kept, name)
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
    """Values as the points of an SVG polyline, in a drawing of 1000 by 300 whose top is `top`."""
    last = max(len(values) - 1, 1)
    return " ".join(f"{at * 1000 / last:.1f},{300 - value * 300 / top:.1f}" for at, value in enumerate(values))


_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), "�")


def _drop_controls(text: str) -> str:
    """Text without what HTML cannot hold: control characters and halves of surrogate pairs."""
    return text.translate(_FORBIDDEN).encode("utf-8", "replace").decode("utf-8")


def _find_beside(store: str, session: str) -> Path | None:
    """The folder of the pictures a run kept; None where it kept none."""
    folder = folder_of(store, session)
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
