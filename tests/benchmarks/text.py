"""How fast the text functions are, and how well likeness tells topics apart. Run it; it asserts nothing.

    python tests/benchmarks/text.py [--root /usr/share/doc/python3.11/html]

Speed is the best of five on the documentation's own sources. Topics: twenty made-up sessions of forty turns hop among six pages of the
documentation, a turn being a paragraph. At each turn the page whose earlier turns together are nearest is guessed. *attach* is the share
of right guesses; *same or switch* is how often a turn that stays on the last turn's page is more like that page's turns than a turn that leaves
it (the area under the curve, 0.5 is chance).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

from ctxfold.select.choose import select
from ctxfold.select.score import BM25
from ctxfold.text.sentences import sentences
from ctxfold.text.values import entities
from ctxfold.text.words import Vocabulary, cosine, query_words, words

ROOT = Path("/usr/share/doc/python3.11/html")


def best(action: Callable[[], object]) -> float:
    """Seconds of the fastest of five runs."""
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return min(taken)


def speeds(root: Path) -> None:
    """Prints what each function takes."""
    prose = "\n\n".join(
        path.read_text(encoding="utf-8") for path in sorted((root / "_sources/library").glob("*.txt"))[:60]
    )
    some = prose[:100_000]
    units = [words(span.of(prose)) for span in sentences(prose)[:2000]]
    asked = query_words("how are default values of optional arguments parsed from the command line")
    mega = len(prose) / 1e6
    print(f"words            {mega / best(lambda: words(prose)):6.1f} MB/s")
    print(f"sentences        {mega / best(lambda: sentences(prose)):6.1f} MB/s")
    print(
        f"BM25             {1000 * best(lambda: BM25(units).scores(asked, 0.8)):6.1f} ms to index and ask 2,000 sentences"
    )
    print(f"entities         {1000 * best(lambda: entities(some)):6.1f} ms for 100 kB")
    print(
        f"select           {1000 * best(lambda: select(some, 'default of an optional argument', 800)):6.1f} ms for 100 kB, 800 tokens kept"
    )
    turn = some[20_000:21_000]
    vocabulary = Vocabulary([some])
    print(f"likeness         {1e6 * best(lambda: vocabulary.vector(turn)):6.0f} µs for the vector of 1 kB")


def topics(root: Path) -> None:
    """Prints how well turns are told apart by topic."""
    pages = sorted((root / "_sources/howto").glob("*.txt")) + sorted((root / "_sources/faq").glob("*.txt"))
    stock = {
        page.name: [part for part in page.read_text(encoding="utf-8").split("\n\n") if 120 < len(part) < 900]
        for page in pages
    }
    stock = {name: parts for name, parts in stock.items() if len(parts) >= 30}
    dice = random.Random(20)
    right = asked = 0
    same: list[float] = []
    switched: list[float] = []
    for _ in range(20):
        names = dice.sample(sorted(stock), 6)
        left = {name: dice.sample(stock[name], len(stock[name])) for name in names}
        seen: dict[str, list[str]] = {}
        vocabulary, last = Vocabulary(), names[0]
        for _turn in range(40):
            name = (
                last if dice.random() < 0.6 and left[last] else dice.choice([other for other in names if left[other]])
            )
            text = left[name].pop()
            vector = vocabulary.vector(text)
            likeness = {known: cosine(vector, vocabulary.vector("\n".join(parts))) for known, parts in seen.items()}
            if name in seen and len(seen) > 1:
                asked += 1
                right += max(likeness, key=lambda known: (likeness[known], known)) == name
            if last in seen:
                (same if name == last else switched).append(likeness[last])
            seen.setdefault(name, []).append(text)
            vocabulary.add(text)
            last = name
    area = sum(a > b for a, b in product(same, switched)) / (len(same) * len(switched))
    print(f"topics           attach {right / asked:.3f} of {asked} turns, same or switch {area:.3f}")


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--root", type=Path, default=ROOT, help="the documentation's HTML folder")
    options = parser.parse_args()
    if not (options.root / "_sources").is_dir():
        print(
            f"NOT MEASURED: no Python documentation at {options.root}. Install Debian's python3-doc, or name it with --root.",
            file=sys.stderr,
        )
        return 3
    speeds(options.root)
    topics(options.root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
