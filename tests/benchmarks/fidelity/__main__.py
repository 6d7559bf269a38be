"""How much of a recorded session a view keeps, what it costs, and what simpler ways would: one table a set.

    python -m tests.benchmarks.fidelity [FILE.jsonl.gz | FOLDER …] [--budget N]… [--beside POLICY]… [--plot FILE.svg]

Without a file it replays the small session that lies beside it. Read a figure with its limits: that a value is present does not mean that a model
uses it, and the calls are those another context led to. Ends with 1 when a view is larger than its budget.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.benchmarks.fidelity.board import Score, Wish, score
from tests.benchmarks.fidelity.plot import svg
from tests.benchmarks.fidelity.policies import SIMPLE, policy
from tests.benchmarks.fidelity.recordings import files, read

SAMPLE = Path(__file__).with_name("sample.jsonl.gz")


class Explainer:
    """Prints what views lost, until it has said enough.

    Args:
        most: lines at most.
    """

    def __init__(self, most: int) -> None:
        self._left = most

    def __call__(self, said: str) -> None:
        """Print one line, if any is left."""
        if self._left > 0:
            self._left -= 1
            print("  " + said)


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.fidelity", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("paths", nargs="*", type=Path, help="gzipped recordings, or folders of them")
    parser.add_argument("--budget", action="append", type=int, help="tokens of a session's views; may be repeated")
    parser.add_argument("--beside", action="append", help=f"a policy to compare with, instead of {', '.join(SIMPLE)}")
    parser.add_argument("--max-sessions", type=int, default=1_000_000, help="at most so many sessions of each set")
    parser.add_argument("--calls", type=int, default=0, help="score at most so many calls of each session")
    parser.add_argument(
        "--explain", type=int, default=0, help="name so many values that a session lost or held loosely"
    )
    parser.add_argument("--plot", type=Path, help="draw the board into this SVG file")
    chosen = parser.parse_args()
    for spec in chosen.beside or ():
        try:
            policy(spec)
        except ValueError as error:
            parser.error(str(error))
    for path in chosen.paths:
        if not path.exists():
            parser.error(f"there is no {path}")
    return chosen


def line(each: Score, whole: bool) -> str:
    """One row of the table; `whole` says whether every call was scored, without which the cost means nothing."""
    cost = f"{each.relative_cost:.2f}" if whole else "-"
    over = "" if each.budget is None else f"{each.over:>6}"
    return f"  {each.spec:<16}{each.mean_tokens:>8.0f}{each.recall:>9.4f}{each.bound_recall:>9.4f}{each.far_recall:>9.4f}{cost:>7}{over}"


def main() -> int:
    """Print the board, draw it if asked to, and return 1 when a view was larger than its budget."""
    chosen = options()
    specs = [*(f"session:{budget}" for budget in chosen.budget or (8000,)), *(chosen.beside or SIMPLE)]
    wish = Wish(chosen.max_sessions, chosen.calls, Explainer(chosen.explain) if chosen.explain else None)
    board: dict[str, list[Score]] = {}
    for path in files(chosen.paths or [SAMPLE]):
        began = time.monotonic()
        name = path.name.removesuffix(".jsonl.gz")
        recordings = read(path)
        scores = board[name] = score(recordings, specs, wish)
        one = scores[0]
        print(
            f"{name}: {min(len(recordings), wish.sessions)} sessions, {one.calls} calls, {one.values} values, {one.far} of them far; "
            f"full history {one.mean_full:.0f} tokens; {time.monotonic() - began:.1f} s"
        )
        print(f"  {'policy':<16}{'tokens':>8}{'recall':>9}{'bound':>9}{'far':>9}{'cost':>7}{'over':>6}")
        for each in scores:
            print(line(each, not chosen.calls), flush=True)
    print(
        "cost: input with prompt caching, over the full history's. Presence is not use; recorded calls are off-policy."
    )
    if chosen.plot is not None:
        chosen.plot.write_text(svg(board), encoding="utf-8")
    return int(any(each.over for scores in board.values() for each in scores))


if __name__ == "__main__":
    sys.exit(main())
