"""Seconds until neither a server nor the browser it started is there, for each way a server may end: `python -m tests.benchmarks.leaving`."""

from __future__ import annotations

from tests.support.leaving import WAYS, gone_after

BAR, MOST = 2.0, 6.0


def main() -> int:
    """Print a line a way; 0 when all are within the bar."""
    took = {way: gone_after(way, MOST) for way in WAYS}
    for way, seconds in took.items():
        print(f"{way:8} {seconds:5.2f} s  {'ok' if seconds < BAR else f'over {BAR:g} s'}")
    return 0 if all(seconds < BAR for seconds in took.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
