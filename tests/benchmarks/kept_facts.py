"""What stands of a collecting run once it is folded: `python -m tests.benchmarks.kept_facts [--seed 1] [--budget 8000] [--other] [--show]`.

A run opens 16 product pages and 8 documentation pages, all made up, with a need in words on each; what an answer does not show it asks for by `find`.
Then the session is consolidated and `context` is read: of the facts that the needs asked for, 95 % must stand in it, and all where the run said each with
`found`. The pages hold many facts that nobody asked for. `--other` asks in words that the pages do not use, for which there is no bar: what stands then is
told. Exits 1 below a bar.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from mcp import Client
from mcp_types import CallToolResult, TextContent

from ctxfold import Session
from ctxfold.tokens import count as count_tokens
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.sites.server import Site

LEAST = {False: 0.95, True: 1.0}
"""The share that must stand without `found`, and with it."""

PRODUCTS, CHAPTERS = 16, 8

_MADE = "Oak Pine Steel Glass Brass Linen Cork Slate".split()
_THINGS = "lantern bench kettle shelf easel cabinet stool tent".split()
_UNITS = {
    "Price": "EUR", "In stock": "pieces", "Height": "cm", "Weight": "g", "Delivery time": "hours", "Warranty": "months",
    "Cable length": "mm", "Power": "W", "Noise": "dB", "Colour temperature": "K", "Customs number": "HS", "Operating life": "h",
}  # fmt: skip
_OTHER = dict(zip(_UNITS, (
    "what it costs", "how many are left", "how tall it is", "how heavy it is", "how soon it comes", "how long the maker answers for defects",
    "reach of the cord", "what it draws", "how loud it is", "how warm its light is", "tariff code", "how long it lasts",
), strict=True))  # fmt: skip
_VERBS = "open read write seek flush close merge split index prune".split()
_NOUNS = "ledger parcel signal cursor bundle stream".split()


@dataclass(frozen=True)
class Visit:
    """A page, what a run needs of it in words, and the facts that answer: each as the words to find it by and what must stand."""

    path: str
    title: str
    html: str
    need: str
    facts: tuple[tuple[str, str], ...]

    @property
    def found(self) -> str:
        """The facts as a run would say them."""
        return f"{self.title}: " + "; ".join(f"{words} {value}" for words, value in self.facts)


def products(chance: random.Random, numbers: Iterator[int], other: bool) -> list[Visit]:
    """Pages of a shop: a table of twelve rows, prose, reviews and links; each need asks for three of the rows."""
    names = [f"{chance.choice(_MADE)} {chance.choice(_THINGS)} {n}" for n in range(PRODUCTS)]
    usual = ["Price", "In stock", "Delivery time"]
    visits = []
    for n, name in enumerate(names):
        values = {label: f"{next(numbers)} {unit}" for label, unit in _UNITS.items()}
        rows = "".join(f"<tr><th>{label}<td>{value}" for label, value in values.items())
        reviews = "".join(
            f"<li><b>{chance.randint(1, 5)} stars</b> After {next(numbers)} days the {chance.choice(_THINGS)} stands as on the first; order {next(numbers)}."
            for _ in range(10)
        )
        beside = "".join(f"<li><a href=/p/{at}>{names[at]}</a>" for at in chance.sample(range(PRODUCTS), 6))
        asked = usual if n % 2 else chance.sample(list(_UNITS), 3)
        words = [_OTHER[label] if other else label.lower() for label in asked]
        visits.append(
            Visit(
                f"/p/{n}",
                name,
                f"<title>{name}</title><nav><a href=/>Shop</a> <a href=/cart>Cart</a></nav><main><h1>{name}</h1><p>Made for rooms of up to {next(numbers)} m, "
                f"tested {next(numbers)} times.</p><table>{rows}</table><form action=/cart method=post><button>Add to cart</button></form>"
                f"<h2>Reviews</h2><ul>{reviews}</ul><h2>Also viewed</h2><ul>{beside}</ul></main><footer>Imprint, terms</footer>",
                f"{words[0]}, {words[1]} and {words[2]}, of the {name}",
                tuple((label, values[label]) for label in asked),
            )
        )
    return visits


def chapters(chance: random.Random, numbers: Iterator[int], other: bool) -> list[Visit]:
    """Pages of a reference: ten functions each, with their defaults and errors; each need asks for two facts of one of them."""
    visits = []
    for n in range(CHAPTERS):
        noun = f"{_NOUNS[n % len(_NOUNS)]}s{n}"
        parts, facts = [], {}
        for verb in _VERBS:
            wait, code, since = next(numbers), next(numbers), next(numbers)
            parts.append(
                f"<dl><dt><code>{noun}.{verb}(source, *, timeout={wait}, retries={next(numbers)})</code><dd><p>{verb.capitalize()} what the source holds, "
                f"in blocks of {next(numbers)} bytes. The default timeout is {wait} ms; a source that is longer in coming raises <code>{verb.capitalize()}Error</code> "
                f"with code {code}.</p><p>New in version 3.{since}: the source may be a path.</p></dl>"
            )
            facts[verb] = ((f"{verb} timeout", f"{wait} ms"), (f"{verb} code", f"code {code}"))
        verb = chance.choice(_VERBS)
        html = f"<title>{noun} - reference</title><nav><a href=/>Contents</a></nav><main><h1>{noun}</h1>{''.join(parts)}</main>"
        need = f"default timeout of {noun}.{verb} and the code of its error"
        if other:
            need = f"how patient {noun}.{verb} is, and which number it fails with"
        visits.append(Visit(f"/d/{n}", noun, html, need, facts[verb]))
    return visits


def said(result: CallToolResult) -> str:
    """What a host's model reads of a reply."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def collect(visits: Sequence[Visit], store: str, budget: int, finds: bool) -> tuple[str, int]:
    """Carry the run out. Returns the session's context after consolidation, and how many facts no answer had shown."""
    unseen, before = 0, ""
    with Site(pages={visit.path: visit.html for visit in visits}) as site:
        async with Client(build_server(Pools(store))) as client:
            await client.call_tool("open_session", {"session": "collect", "goal": "Compare.", "budget": budget})
            for visit in visits:
                words = {"need": visit.need, "found": before if finds else ""}
                url = f"{site.url}{visit.path}"
                shown = said(await client.call_tool("page_open", {"session": "collect", "url": url, **words}))
                for find, value in visit.facts:
                    if value not in shown:
                        shown += said(await client.call_tool("page_read", {"session": "collect", "find": find}))
                unseen += sum(value not in shown for _, value in visit.facts)
                before = visit.found
            if finds:
                await client.call_tool("page_read", {"session": "collect", "found": before})
            with Session.open("collect", store=store, create=False) as session:
                session.consolidate(budget=budget)
            return await whole(client, budget), unseen


async def whole(client: Client, budget: int) -> str:
    """The session's context, its parts laid end to end, without the last line of each, which tells of the next."""
    text, more = "", True
    while more:
        arguments = {"session": "collect", "budget": budget, "offset": len(text)}
        part, _, last = said(await client.call_tool("context", arguments)).rpartition("\n")
        text, more = text + part, "offset=" in last
    return text


def main() -> int:
    """Run twice, print what stands, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=int, default=8_000)
    parser.add_argument("--other", action="store_true", help="ask in other words than those of the pages")
    parser.add_argument("--show", action="store_true", help="print the contexts")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    start = chance.randint(20_000, 60_000)
    numbers = count(start, 7)  # every number of the site occurs once
    visits = products(chance, numbers, given.other) + chapters(chance, numbers, given.other)
    chance.shuffle(visits)
    held = True
    for finds, least in LEAST.items():
        with tempfile.TemporaryDirectory() as folder:
            os.environ["CTXFOLD_HOME"] = folder
            store = str(Path(folder) / "ctxfold.db")
            context, unseen = asyncio.run(collect(visits, store, given.budget, finds))
        lost = [(visit.title, words) for visit in visits for words, value in visit.facts if value not in context]
        asked = sum(len(visit.facts) for visit in visits)
        kept = (asked - len(lost)) / asked
        held &= kept >= least or (given.other and not finds)
        bar = "no bar" if given.other and not finds else f"bar {least:.2f}"
        if given.show:
            print(context)
        print(
            f"{'with' if finds else 'without'} found: {asked - len(lost)} of {asked} facts asked for stand in {count_tokens(context):,} tokens ({kept:.3f}, {bar}); "
            f"{unseen} were in no answer"
        )
        for title, words in lost:
            print(f"  lost: {words} of {title}")
    print("held" if held else "MISSED")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
