"""What a view keeps with intent and extraction on: the folding figures beside those of a plain view, what the user stated, and long dialogues.

    python -m tests.benchmarks.intent [FILE.jsonl.gz | FOLDER …] [--budget N]… [--scorer SCORER.py] [--max-sessions N] [--dialogues N]

Without a file it replays the small session of the fidelity board. The dialogues are made up, English and Chinese, of walks of life that no rule of ours
was written for; half of them are long-winded. Ends with 1 when a value the user stated is missing from a later view, or a view is over its budget.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.benchmarks.fidelity.__main__ import SAMPLE
from tests.benchmarks.fidelity.board import Wish, score
from tests.benchmarks.fidelity.check import loaded
from tests.benchmarks.fidelity.recordings import files, read
from tests.benchmarks.intent.dialogues import LANGUAGES, dialogue
from tests.benchmarks.intent.scored import figures
from tests.benchmarks.intent.stated import Kept, replayed, said

DIALOGUE_BUDGET = 2_000
TALK = (0, 1, 2, 4)
"""Sentences of small talk in each turn, dialogue by dialogue."""


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.intent", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("paths", nargs="*", type=Path, help="gzipped recordings, or folders of them")
    parser.add_argument("--budget", action="append", type=int, help="tokens of a view; may be repeated")
    parser.add_argument(
        "--scorer", type=Path, help="another implementation of the fidelity measure, to be used instead"
    )
    parser.add_argument("--max-sessions", type=int, default=1_000_000)
    parser.add_argument("--dialogues", type=int, default=20, help="dialogues of each language and length")
    parser.add_argument("--lost", type=int, default=10, help="name so many values that were missing")
    return parser.parse_args()


def folding(path: Path, budget: int, chosen: argparse.Namespace) -> None:
    """Print the folding figures of a set, plain and with intent."""
    if chosen.scorer is not None:
        scorer = loaded(chosen.scorer)
        for name, attends in (("session", False), ("intent", True)):
            print(f"  {name}:{budget} {figures(scorer, str(path), budget, attends, chosen.max_sessions)}", flush=True)
        return
    for each in score(read(path), [f"session:{budget}", f"intent:{budget}"], Wish(chosen.max_sessions)):
        print(
            f"  {each.spec:<14} tokens {each.mean_tokens:.0f}, recall {each.recall:.4f}, bound {each.bound_recall:.4f}, "
            f"far {each.far_recall:.4f}, cost {each.relative_cost:.2f}, over {each.over}",
            flush=True,
        )


def report(what: str, kept: Kept, lost: int, began: float) -> bool:
    """Print what was kept; whether all was."""
    print(
        f"{what}: {kept.share:.4f} of {kept.wanted} looked for in {kept.views} views of {kept.mean_tokens:.0f} tokens, "
        f"{kept.over} over budget; {time.monotonic() - began:.1f} s",
        flush=True,
    )
    for each in kept.lost[:lost]:
        print(f"    missing {each}")
    return kept.found == kept.wanted and not kept.over


def main() -> int:
    """Measure, print, and say by the exit code whether all that was stated was kept."""
    chosen = options()
    whole = True
    for path in files(chosen.paths or [SAMPLE]):
        for budget in chosen.budget or (8000,):
            print(path.name)
            folding(path, budget, chosen)
            kept, began = Kept(), time.monotonic()
            said(read(path)[: chosen.max_sessions], budget, kept)
            whole &= report(f"  stated by the user, budget {budget}", kept, chosen.lost, began)
    for language in LANGUAGES:
        for talk in TALK:
            kept, began = Kept(), time.monotonic()
            made = (dialogue(language, seed, talk) for seed in range(chosen.dialogues))
            replayed(made, DIALOGUE_BUDGET, kept, lambda _session: None)
            whole &= report(f"dialogues {language}, {talk} sentences of talk a turn", kept, chosen.lost, began)
    return int(not whole)


if __name__ == "__main__":
    sys.exit(main())
