"""What refactoring makes of faults planted in recorded sessions, and of sessions without any: the table, with its bars.

    python -m tests.benchmarks.refactoring [FILE.jsonl.gz | FOLDER …] [--budget N] [--max-sessions N] [--calls N] [--only PART]…

Without a file it takes the small session that lies beside the fidelity board. Ends with 1 when a bar is missed. Faults are planted by chance with a fixed seed;
a planted fault is plainer than one that grew, so read the shares as a floor of what must work, not as what happens in the wild.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.benchmarks.fidelity.board import Wish, score
from tests.benchmarks.fidelity.recordings import Recording, files, read
from tests.benchmarks.refactoring.measure import Tally, clean, invented, loops

SAMPLE = Path(__file__).parents[1] / "fidelity" / "sample.jsonl.gz"
PARTS = ("invented", "loops", "clean", "recall")


class Table:
    """Prints rows as they come, and remembers whether a bar was missed."""

    def __init__(self) -> None:
        self.missed = False

    def row(self, name: str, share: float, bar: float | None, said: str) -> None:
        """One row: a share, its bar (None for what is only told), and how it came about."""
        below = bar is not None and share < bar
        self.missed |= below
        told = "" if bar is None else f">= {bar:.2f}{'  MISSED' if below else ''}"
        print(f"  {name:<34}{share:>8.4f}  {told:<16}{said}", flush=True)

    def tally(self, name: str, tally: Tally, bar: float | None) -> None:
        """One row of a count, and what came out otherwise."""
        self.row(name, tally.share, bar, f"{tally.right} of {tally.tried}")
        for note, times in tally.notes.most_common(4):
            print(f"      {times} x {note[:150]}")


def board(table: Table, recordings: list[Recording], budget: int, wish: Wish) -> None:
    """Recall and tokens with the router off and on."""
    off, on = score(recordings, [f"stepped:{budget}", f"routed:{budget}"], wish)
    for name, before, after in (
        ("recall", off.recall, on.recall),
        ("bound", off.bound_recall, on.bound_recall),
        ("far recall", off.far_recall, on.far_recall),
    ):
        table.row(f"{name}, router on", after, before, f"off {before:.4f}; {on.calls} calls")
    ratio = off.mean_tokens / max(on.mean_tokens, 1e-9)
    table.row("tokens, off over on", ratio, 1.0, f"off {off.mean_tokens:.1f}, on {on.mean_tokens:.1f}")


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.refactoring", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("paths", nargs="*", type=Path, help="gzipped recordings, or folders of them")
    parser.add_argument("--budget", type=int, default=8000, help="tokens of a session's views")
    parser.add_argument("--max-sessions", type=int, default=1_000_000, help="at most so many sessions of each set")
    parser.add_argument("--calls", type=int, default=0, help="score at most so many calls of each session")
    parser.add_argument("--only", action="append", choices=PARTS, help="a part of the table; may be repeated")
    chosen = parser.parse_args()
    parts = chosen.only or PARTS
    table = Table()
    for path in files(chosen.paths or [SAMPLE]):
        began = time.monotonic()
        recordings = read(path)[: chosen.max_sessions]
        print(f"{path.name.removesuffix('.jsonl.gz')}: {len(recordings)} sessions", flush=True)
        if "invented" in parts:
            refused, taken = invented(recordings)
            table.tally("invented value refused", refused, 1.0)
            table.tally("true summary taken", taken, None)
        if "loops" in parts:
            for name, tally in loops(recordings).items():
                table.tally(f"{name}: pruned", tally, 1.0)
                table.row(
                    f"{name}: discoveries kept", tally.least_kept, 0.98, f"least {min(tally.kept, default=1.0):.3f}"
                )
        if "clean" in parts:
            table.tally("clean session left alone", clean(recordings, chosen.budget), 0.95)
        if "recall" in parts:
            board(table, recordings, chosen.budget, Wish(chosen.max_sessions, chosen.calls))
        print(f"  {time.monotonic() - began:.1f} s", flush=True)
    return int(table.missed)


if __name__ == "__main__":
    sys.exit(main())
