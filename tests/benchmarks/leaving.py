"""Seconds until nothing is left of what browsed, for each way it may end: `python -m tests.benchmarks.leaving`.

The server with an open page, a run at the shell and a program that uses the library, each ended by SIGTERM, SIGINT and SIGKILL and by the death of its
parent, the server by the end of its stdin too. Temporary files are counted as well.
"""

from __future__ import annotations

from tests.support.leaving import STARTED, WAYS, ended

BAR, MOST = 5.0, 8.0


def main() -> int:
    """Print a line for each; 0 when all are within the bar and leave no file."""
    good = True
    for started in STARTED:
        for way in WAYS:
            if started != "serve" and way in ("stdin", "parent"):
                continue  # a program of its own goes on without a parent, and reads no stdin
            seconds, files = ended(started, way, MOST)
            fine = seconds < BAR and not files
            good = good and fine
            print(
                f"{started:7} {way:7} {seconds:5.2f} s  {len(files)} files left  {'ok' if fine else f'not ok {files}'}",
                flush=True,
            )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
