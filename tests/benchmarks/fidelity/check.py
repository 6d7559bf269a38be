"""Holds this board against another implementation of the same measure: a Python file with `score(path, make, …)` and `policy(spec)`.

    python -m tests.benchmarks.fidelity.check SCORER.py FILE.jsonl.gz… [--policy SPEC]… [--max-sessions N] [--calls N]

Two figures agree when they are within a thousandth: recalls absolutely, tokens and cost relatively. Ends with 1 when any does not.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.benchmarks.fidelity.board import Score, Wish, score
from tests.benchmarks.fidelity.recordings import files, read

NEAR = 1e-3


def loaded(path: Path) -> ModuleType:
    """The other implementation, as a module."""
    spec = importlib.util.spec_from_file_location("other_scorer", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(ours: Score, theirs: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The figures that do not agree, ours and theirs."""
    counts = {"calls": ours.calls, "values": ours.values, "far_values": ours.far, "over": ours.over}
    shares = {"recall": ours.recall, "bound": ours.bound_recall, "far": ours.far_recall}
    sizes = {"tokens": ours.mean_tokens, "full": ours.mean_full, "cost": ours.relative_cost}
    apart = {name: (float(mine), theirs[name]) for name, mine in counts.items() if mine != theirs[name]}
    apart |= {name: (mine, theirs[name]) for name, mine in shares.items() if abs(mine - theirs[name]) > NEAR}
    rounding = {"tokens": 0.5, "full": 0.5, "cost": 0.0005}
    for name, mine in sizes.items():
        if abs(mine - theirs[name]) > NEAR * theirs[name] + rounding[name]:
            apart[name] = (mine, theirs[name])
    return apart


def main() -> int:
    """Compare, print one line for each set and policy, and return 1 if any figure is apart."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("scorer", type=Path)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--policy", action="append")
    parser.add_argument("--max-sessions", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=0)
    chosen = parser.parse_args()
    other, worst = loaded(chosen.scorer), 0
    for path in files(chosen.paths):
        for spec in chosen.policy or ["full", "drop:1000", "first:200", "mask:3", "bag"]:
            (ours,) = score(read(path), [spec], Wish(chosen.max_sessions, chosen.calls))
            limit = ours.budget or 0
            theirs = other.score(str(path), other.policy(spec), chosen.max_sessions, calls=chosen.calls, limit=limit)
            apart = differences(ours, theirs)
            print(f"{path.name} {spec}: {apart or 'agree'}", flush=True)
            worst = max(worst, int(bool(apart)))
    return worst


if __name__ == "__main__":
    sys.exit(main())
