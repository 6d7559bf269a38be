"""What is asked of each server: scripted calls whose arguments come from what the server said before, as an agent's would."""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.real_sites import RealPage

__all__ = ["SHELL", "Scenario", "browsing", "everything", "files", "git", "ids_of", "shell", "sqlite"]

ROOT = Path(__file__).parents[3]
SHELL = "tests.benchmarks.wrapped.shell"

Ask = Callable[..., str]
"""Calls a tool and gives the whole text of its result."""


@dataclass(frozen=True)
class Scenario:
    """One server: how it is started, what is asked of it, and whether only results above 4,000 tokens are judged."""

    name: str
    command: Sequence[str]
    script: Callable[[Ask], Iterator[str]]
    bar: float
    long_only: bool = True


def browsing(node: str, bin_folder: Path, pages: Sequence[RealPage]) -> Scenario:
    """40 calls over 8 pages with Playwright's own server: open, look, click, go back, look again."""

    def script(ask: Ask) -> Iterator[str]:
        for page in pages[:8]:
            yield ask("browser_navigate", url=page.url)
            looked = ask("browser_snapshot")
            yield looked
            links = re.findall(r"link [^\n]*\[ref=(\w+)\]", looked) or re.findall(r"\[ref=(\w+)\]", looked)
            yield ask("browser_click", element="a link", target=links[len(links) // 2])
            yield ask("browser_navigate_back")
            yield ask("browser_snapshot")

    command = [
        node, str(bin_folder / "playwright-mcp"), "--headless", "--isolated", "--no-sandbox",
        "--executable-path", "/usr/bin/chromium",
    ]  # fmt: skip
    return Scenario("@playwright/mcp", command, script, 0.15, long_only=False)


def files(node: str, bin_folder: Path) -> Scenario:
    """Listings, trees, searches and documents of this repository."""

    def script(ask: Ask) -> Iterator[str]:
        yield ask("directory_tree", path=str(ROOT / "ctxfold"))
        yield ask("directory_tree", path=str(ROOT / "tests"))
        yield ask("search_files", path=str(ROOT / "tests"), pattern="**/*.py")
        yield ask("list_directory_with_sizes", path=str(ROOT / "ctxfold" / "prompts"))
        for name in ("README.md", "CHANGELOG.md", "ctxfold/session/session.py", "pyproject.toml", "uv.lock"):
            if (ROOT / name).is_file():
                yield ask("read_text_file", path=str(ROOT / name))
        several = [str(ROOT / "ctxfold" / "view" / name) for name in ("choose.py", "condense.py", "pieces.py")]
        yield ask("read_multiple_files", paths=several)

    return Scenario("server-filesystem", [node, str(bin_folder / "mcp-server-filesystem"), str(ROOT)], script, 0.10)


def everything(node: str, bin_folder: Path) -> Scenario:
    """Small results of every sort, which pass as they are."""

    def script(ask: Ask) -> Iterator[str]:
        yield ask("echo", message="hello")
        yield ask("get-sum", a=2, b=3)
        yield ask("get-tiny-image")
        yield ask("get-structured-content", location="Chicago")
        yield ask("echo", message="line of text " * 3000)

    return Scenario("server-everything", [node, str(bin_folder / "mcp-server-everything")], script, 0.10)


def sqlite(python: Path, folder: Path) -> Scenario:
    """A table of 2,000 orders read with and without a limit."""
    place = folder / "orders.db"
    place.unlink(missing_ok=True)
    chance = random.Random(7)
    with sqlite3.connect(place) as there:
        there.execute("create table orders (id text, customer text, city text, total real, status text)")
        rows = [
            (
                f"ord_{chance.getrandbits(32):08x}",
                f"cus_{chance.getrandbits(24):06x}",
                chance.choice(["Paris", "Lyon", "Nice", "Lille"]),
                chance.randint(100, 99_999) / 100,
                chance.choice(["open", "paid", "sent"]),
            )
            for _ in range(2_000)
        ]
        there.executemany("insert into orders values (?, ?, ?, ?, ?)", rows)
    there.close()

    def script(ask: Ask) -> Iterator[str]:
        yield ask("list_tables")
        yield ask("describe_table", table_name="orders")
        yield ask("read_query", query="select * from orders")
        yield ask("read_query", query="select * from orders limit 300")
        yield ask("read_query", query="select id, total from orders where status = 'open'")

    command = [str(python.with_name("mcp-server-sqlite")), "--db-path", str(place)]
    return Scenario("mcp-server-sqlite", command, script, 0.10)


def git(python: Path, folder: Path) -> Scenario:
    """The log and a large difference of a copy of this repository."""
    copy = folder / "repository"
    if not copy.is_dir():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(copy)], check=True)

    def script(ask: Ask) -> Iterator[str]:
        where = str(copy)
        yield ask("git_status", repo_path=where)
        yield ask("git_log", repo_path=where, max_count=100)
        yield ask("git_show", repo_path=where, revision="HEAD")
        yield ask("git_diff", repo_path=where, target="HEAD~12")

    return Scenario("mcp-server-git", [str(python.with_name("mcp-server-git")), "-r", str(copy)], script, 0.10)


def shell() -> Scenario:
    """Logs of 2,000 lines with ids, of a build and of a service; the last of them failing."""

    def script(ask: Ask) -> Iterator[str]:
        for kind in ("service", "build", "failing"):
            yield ask("run", command=kind)

    return Scenario("a shell server", [sys.executable, "-m", SHELL], script, 0.10)


def ids_of(text: str) -> list[str]:
    """The ids that the scenarios plant, each once."""
    return list(dict.fromkeys(re.findall(r"\b(?:ord|cus|job|req)_[0-9a-f]{6,}\b", text)))
