"""Takes over what still reads of a damaged store into a new one, and lists what is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ctxfold.errors import CtxfoldError, InputError
from ctxfold.log.records import Kind, Origin
from ctxfold.session.history.branches import check_name
from ctxfold.session.history.commit import head_of, state_of
from ctxfold.session.history.export import export_session
from ctxfold.session.history.restore import import_session
from ctxfold.session.history.verify import verify
from ctxfold.session.open import address_of, named, store_at
from ctxfold.session.record import Branch, Draft, record
from ctxfold.session.session import Session
from ctxfold.session.validate import as_path
from ctxfold.store.wreck import LooseRecord, Wreck
from ctxfold.workspace.workspace import Workspace

__all__ = ["Salvaged", "salvage_store"]

_LOST = "(lost: this record does not read back from the damaged store)"


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What became of one session.

    Attributes:
        name: its name in the new store.
        whole: whether it is there as it was. Else its log alone is, on one branch: folds, other branches, to-do, constraints and decisions are missing.
        missing: the addresses of records that do not read back, as far as their steps are known.
    """

    name: str
    whole: bool
    records: int
    missing: tuple[str, ...]


def salvage_store(new: str, store: str | None = None) -> list[Salvaged]:
    """Make a new store of what still reads of another, which is left as it is and is open nowhere in this process.

    Raises:
        InputError: there is no file to read, something is where the new one is to be, or nothing of the old one reads.
        StoreError: the new store cannot be made.
    """
    place, old = as_path(new), as_path(address_of(store).removeprefix("sqlite:///"))
    if place.exists():
        raise InputError(f"{place} is there already; name a file that is not")
    with tempfile.TemporaryDirectory(prefix="ctxfold-salvage-") as folder:
        try:
            wreck = Wreck(old, Path(folder))
        except OSError as error:
            raise InputError(
                f"{old} cannot be copied ({error.strerror}); name the damaged store with --store"
            ) from error
        with closing(wreck):
            found = [_take_over(wreck, number, name, place) for number, name in wreck.names().items()]
    if not found:
        raise InputError(f"nothing of {old} reads; restore a copy of it")
    return found


def _take_over(wreck: Wreck, number: int, name: str, new: Path) -> Salvaged:
    """A session as it was, where all of it replays; else its log."""
    lines = wreck.copy.with_name(f"{number}.jsonl")
    try:
        export_session(name, lines, store=str(wreck.copy))
        import_session(lines, store=str(new))
    except CtxfoldError:
        return _rebuild(wreck, number, name, new)
    return Salvaged(name, True, len(wreck.records(number)), ())


def _rebuild(wreck: Wreck, number: int, name: str, new: Path) -> Salvaged:
    loose = wreck.records(number)
    with Session.open(check_name(name), goal=wreck.goal(number), store=str(new)):
        pass
    by_step: dict[int, dict[int, LooseRecord]] = {}
    for each in loose:
        by_step.setdefault(each.step, {})[each.k] = each
    missing: list[str] = []
    with store_at(str(new)) as kept, kept.writing() as tx:
        row = named(tx, kept, name)
        head = head_of(tx, row.id, 1)
        for n in range(1, max(by_step, default=0) + 1):
            state = state_of(tx, row.id, head)
            drafts = _draft_step(n, by_step.get(n, {}), missing)
            after = record(tx, Branch(row.id, head, state, Workspace()), drafts, fills=True).state
            head = replace(head, seq=after.seq)
        verify(tx, row.id)
    return Salvaged(name, False, sum(each.text is not None for each in loose), tuple(missing))


def _draft_step(n: int, records: dict[int, LooseRecord], missing: list[str]) -> Sequence[Draft]:
    """The records of a step under the addresses they had; a note stands in place of one that is lost."""
    made: list[Draft] = []
    for k in range(1, max(records, default=1) + 1):
        loose = records.get(k)
        if loose is None or loose.text is None:
            missing.append(f"s{n}.{k}" if records else f"s{n}")
            made.append(Draft("note", "tool", _LOST))
        else:
            made.append(
                Draft(cast(Kind, loose.kind), cast(Origin, loose.origin), loose.text, loose.call_id, loose.shown)
            )
    return made
