"""Where a value of a record stands among its rows, and the rows whose columns others use. It renders no value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ctxfold.log.compact.cells import word
from ctxfold.log.compact.tables import Cells, Path

__all__ = ["At", "Header", "Row"]


class Row(NamedTuple):
    """One line of facts.

    Attributes:
        text: its text without marker.
        indent: how deep it stands under the row it belongs to.
        keys: the ledger keys it settles.
        points: those it points at by ref.
        joined: whether it stands on the line of the row before it.
    """

    text: str
    indent: int
    keys: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class At:
    """Where a value stands: the words before it, its indent and path, whether an object that names itself holds it, whose columns it uses."""

    label: str
    indent: int = 0
    path: str = ""
    owned: bool = False
    like: str = ""

    def under(self, name: str, owned: bool, like: str) -> At:
        """Where a child stands."""
        return At(f"{word(name)}:", self.indent + 1, f"{self.path}.{name}", owned, like)

    def row(self, words: Iterable[str], keys: Iterable[int] = (), points: Iterable[int] = ()) -> Row:
        """A row that stands here."""
        return Row(" ".join(part for part in (self.label, *words) if part), self.indent, tuple(keys), tuple(points))


@dataclass(frozen=True, slots=True)
class Header:
    """A row whose columns others use.

    Attributes:
        ref: what it is called: its own name, which still tells it in a folded stretch, or its address; `above` in its own record.
        columns: the paths of the cells that stand in the row that names them.
        cells: its own cells.
        points: the key of its shape.
    """

    ref: str
    columns: tuple[Path, ...]
    cells: Cells
    points: tuple[int, ...] = ()
