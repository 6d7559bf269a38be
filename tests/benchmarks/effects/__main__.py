"""Whether effects wait for a yes: `python -m tests.benchmarks.effects table`, `orders` or `cost`.

`table` tries every act that has an effect, `orders` a decider that obeys what pages order it to do, and `cost` what the gate costs an act.
It ends with 1 when anything came through, or an act became more than 20 ms dearer.
"""

from __future__ import annotations

import asyncio
import sys

from tests.benchmarks.effects import cost, orders, table

REPORTS = {"table": table.report, "orders": orders.report, "cost": cost.report}


def main() -> int:
    """0 when the bars are held."""
    names = sys.argv[1:] or list(REPORTS)
    return 1 if sum(asyncio.run(REPORTS[name]()) for name in names) else 0


if __name__ == "__main__":
    raise SystemExit(main())
