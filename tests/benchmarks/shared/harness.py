"""What all benchmarks share: their arguments, their bars, a home of their own, and the text of an MCP reply."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from mcp_types import CallToolResult, TextContent


def make_parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a benchmark, its module's docstring as the description."""
    return argparse.ArgumentParser(
        prog=f"python -m tests.benchmarks.{name}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_recordings(parser: argparse.ArgumentParser, needed: bool = True) -> None:
    """Add the arguments of a benchmark that replays recordings: `paths` and `max_sessions`."""
    parser.add_argument("paths", nargs="+" if needed else "*", type=Path, help="gzipped recordings, or folders of them")
    parser.add_argument("--max-sessions", type=int, default=1_000_000, help="use at most N sessions of each file")


class Bars:
    """The bars of one run.

    Attributes:
        missed: each bar that was missed, in words.
    """

    def __init__(self) -> None:
        self.missed: list[str] = []

    def require(self, held: object, miss: str) -> bool:
        """Note `miss` unless the bar held. Returns whether it held."""
        if not held:
            self.missed.append(miss)
        return bool(held)

    def finish(self) -> int:
        """Print what was missed. Returns the exit code: 1 if anything was, else 0."""
        for miss in self.missed:
            print(f"MISSED: {miss}")
        print("bars missed" if self.missed else "all bars held")
        return int(bool(self.missed))


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Make a temporary folder the home of ctxfold's files for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="ctxfold-") as folder, mock.patch.dict(os.environ, CTXFOLD_HOME=folder):
        yield Path(folder)


def join_texts(reply: CallToolResult) -> str:
    """Return the text that a host's model reads of an MCP reply."""
    return "\n".join(part.text for part in reply.content if isinstance(part, TextContent))
