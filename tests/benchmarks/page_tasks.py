"""What it takes to find something on a real page with the page tools: `python -m tests.benchmarks.page_tasks`.

Needs Debian's python3-doc and git-doc. Each task opens a page with its need in words and, where the answer is not
shown, asks for it by `find`.
"""

from __future__ import annotations

import sys

import anyio
from mcp import Client

from ctxfold.tokens import count
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.benchmarks.shared.harness import Bars, join_texts, make_parser, temporary_home
from tests.benchmarks.shared.real_sites import DOCS
from tests.sites.server import Site

MOST_CALLS = 2
MOST_TOKENS = 1_000
TASKS = [
    tuple(line.split(" | "))
    for line in """\
git | git-log.html | format placeholder for the author's email | author email | %ae
git | git-bisect.html | exit code to skip a revision that cannot be tested | cannot be tested | 125
git | git-stash.html | stash also untracked files | --include-untracked | --include-untracked
git | git-clean.html | remove files that are ignored too | ignore rules | -x
git | git-push.html | refuse to overwrite work of others when forcing | --force-with-lease | --force-with-lease
python | library/heapq.html | the n smallest elements | nsmallest | heapq.nsmallest(n, iterable, key=None)
python | c-api/list.html | does PyList_GetItem return a borrowed reference | PyList_GetItem | Borrowed reference
python | library/textwrap.html | remove common leading whitespace | dedent | textwrap.dedent(text)
python | library/signal.html | limits on a handler from threads | main thread | main thread of the main interpreter
python | howto/argparse.html | count how often an option is given | action="count" | count
python | library/sched.html | run all scheduled events without blocking | blocking | scheduler.run(blocking=True)
python | library/graphlib.html | error when there is a cycle | CycleError | graphlib.CycleError
""".splitlines()
]
"""Documentation, page, need in words, words to find, answer."""


async def run_tasks(bars: Bars) -> None:
    """Carry out every task."""
    costs: list[int] = []
    with Site(DOCS["git"]) as git, Site(DOCS["python"]) as python:
        urls = {"git": git.url, "python": python.url}
        async with Client(build_server(Pools(":memory:"))) as client:
            await client.call_tool("open_session", {"session": "tasks"})
            for docs, path, need, find, answer in TASKS:
                cost, found = await solve(client, f"{urls[docs]}/{path}", need, find, answer)
                costs += cost
                bars.require(found, f"{path}: not found in {MOST_CALLS} calls")
                print(f"{path:24} {len(cost)} calls {sum(cost):>6} tokens  {need}")
    print(
        f"{len(TASKS)} tasks, {len(costs)} calls, {sum(costs):,} tokens, largest {max(costs):,} (bar {MOST_TOKENS:,})"
    )
    bars.require(max(costs) <= MOST_TOKENS, f"an answer of {max(costs)} tokens")


async def solve(client: Client, url: str, need: str, find: str, answer: str) -> tuple[list[int], bool]:
    """Return the tokens of each call until the answer was shown, and whether it was."""
    costs: list[int] = []
    for tool, arguments in (("page_open", {"url": url, "need": need}), ("page_read", {"find": find})):
        text = join_texts(await client.call_tool(tool, {"session": "tasks", **arguments}))
        costs.append(count(text))
        if answer.lower() in " ".join(text.lower().split()):
            return costs, True
    return costs, False


def main() -> int:
    """Carry out every task and judge."""
    parser = make_parser("page_tasks", __doc__)
    parser.parse_args()
    if missing := [name for name in ("git", "python") if not DOCS[name].is_dir()]:
        parser.error(f"install git-doc and python3-doc first; missing: {', '.join(missing)}")
    bars = Bars()
    with temporary_home():
        anyio.run(run_tasks, bars)
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
