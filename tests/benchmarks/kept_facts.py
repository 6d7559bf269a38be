"""How many of the facts that a run opened 24 pages for are still in its context once it is folded.

    python -m tests.benchmarks.kept_facts [--seed 1] [--budget 8000]

A run opens 16 product pages and 8 documentation pages, all made up, with a need in words on each, and asks by `find`
for what an answer does not show. Then the session is consolidated and `context` is read. Of the facts that the needs
asked for, 95 % must be in it, and all where the run passed each as `found`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import anyio
from mcp import Client

from ctxfold import Session
from ctxfold.tokens import count as count_tokens
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.benchmarks.shared.harness import Bars, join_texts, make_parser, temporary_home
from tests.sites.server import Site

LEAST = {False: 0.95, True: 1.0}
"""The share of the facts that must be kept without `found`, and with it."""

PRODUCTS, CHAPTERS = 16, 8

_MADE = "Oak Pine Steel Glass Brass Linen Cork Slate".split()
_THINGS = "lantern bench kettle shelf easel cabinet stool tent".split()
_UNITS = {
    "Price": "EUR", "In stock": "pieces", "Height": "cm", "Weight": "g", "Delivery time": "hours", "Warranty": "months",
    "Cable length": "mm", "Power": "W", "Noise": "dB", "Colour temperature": "K", "Customs number": "HS",
    "Operating life": "h",
}  # fmt: skip
_VERBS = "open read write seek flush close merge split index prune".split()
_NOUNS = "ledger parcel signal cursor bundle stream".split()


@dataclass(frozen=True)
class Visit:
    """A page and the need of the run; `facts` are pairs of the words to find an answer by and the answer itself."""

    path: str
    title: str
    html: str
    need: str
    facts: tuple[tuple[str, str], ...]

    @property
    def found(self) -> str:
        """The facts as a run passes them."""
        return f"{self.title}: " + "; ".join(f"{words} {value}" for words, value in self.facts)


def make_products(chance: random.Random, numbers: Iterator[int]) -> list[Visit]:
    """Make pages of a shop, each with a table, reviews and links; each need asks for three rows of the table."""
    names = [f"{chance.choice(_MADE)} {chance.choice(_THINGS)} {n}" for n in range(PRODUCTS)]
    visits = []
    for n, name in enumerate(names):
        values = {label: f"{next(numbers)} {unit}" for label, unit in _UNITS.items()}
        rows = "".join(f"<tr><th>{label}<td>{value}" for label, value in values.items())
        reviews = "".join(
            f"<li><b>{chance.randint(1, 5)} stars</b> After {next(numbers)} days the {chance.choice(_THINGS)} "
            f"stands as on the first; order {next(numbers)}."
            for _ in range(10)
        )
        beside = "".join(f"<li><a href=/p/{at}>{names[at]}</a>" for at in chance.sample(range(PRODUCTS), 6))
        asked = ["Price", "In stock", "Delivery time"] if n % 2 else chance.sample(list(_UNITS), 3)
        words = [label.lower() for label in asked]
        html = (
            f"<title>{name}</title><nav><a href=/>Shop</a> <a href=/cart>Cart</a></nav><main><h1>{name}</h1>"
            f"<p>Made for rooms of up to {next(numbers)} m, tested {next(numbers)} times.</p><table>{rows}</table>"
            f"<form action=/cart method=post><button>Add to cart</button></form><h2>Reviews</h2><ul>{reviews}</ul>"
            f"<h2>Also viewed</h2><ul>{beside}</ul></main><footer>Imprint, terms</footer>"
        )
        need = f"{words[0]}, {words[1]} and {words[2]}, of the {name}"
        visits.append(Visit(f"/p/{n}", name, html, need, tuple((label, values[label]) for label in asked)))
    return visits


def make_chapters(chance: random.Random, numbers: Iterator[int]) -> list[Visit]:
    """Make pages of a reference with ten functions each; each need asks for two facts of one of them."""
    visits = []
    for n in range(CHAPTERS):
        noun = f"{_NOUNS[n % len(_NOUNS)]}s{n}"
        parts, facts = [], {}
        for verb in _VERBS:
            wait, code, since = next(numbers), next(numbers), next(numbers)
            parts.append(
                f"<dl><dt><code>{noun}.{verb}(source, *, timeout={wait}, retries={next(numbers)})</code>"
                f"<dd><p>{verb.capitalize()} what the source holds, in blocks of {next(numbers)} bytes. "
                f"The default timeout is {wait} ms; a source that is longer in coming raises "
                f"<code>{verb.capitalize()}Error</code> with code {code}.</p>"
                f"<p>New in version 3.{since}: the source may be a path.</p></dl>"
            )
            facts[verb] = ((f"{verb} timeout", f"{wait} ms"), (f"{verb} code", f"code {code}"))
        verb = chance.choice(_VERBS)
        page = f"<main><h1>{noun}</h1>{''.join(parts)}</main>"
        html = f"<title>{noun} - reference</title><nav><a href=/>Contents</a></nav>{page}"
        need = f"default timeout of {noun}.{verb} and the code of its error"
        visits.append(Visit(f"/d/{n}", noun, html, need, facts[verb]))
    return visits


async def collect(visits: Sequence[Visit], store: str, budget: int, finds: bool) -> tuple[str, int]:
    """Carry out the run. Returns the context after consolidation, and the number of facts that no answer showed."""
    unseen, before = 0, ""
    with Site(pages={visit.path: visit.html for visit in visits}) as site:
        async with Client(build_server(Pools(store))) as client:
            await client.call_tool("open_session", {"session": "collect", "goal": "Compare.", "budget": budget})
            for visit in visits:
                arguments = {"url": f"{site.url}{visit.path}", "need": visit.need, "found": before if finds else ""}
                shown = join_texts(await client.call_tool("page_open", {"session": "collect", **arguments}))
                for find, value in visit.facts:
                    if value not in shown:
                        shown += join_texts(await client.call_tool("page_read", {"session": "collect", "find": find}))
                unseen += sum(value not in shown for _, value in visit.facts)
                before = visit.found
            if finds:
                await client.call_tool("page_read", {"session": "collect", "found": before})
            with Session.open("collect", store=store, create=False) as session:
                session.consolidate(budget=budget)
            return await read_context(client, budget), unseen


async def read_context(client: Client, budget: int) -> str:
    """Read all parts of the context, each without its last line, which names the next part."""
    text, more = "", True
    while more:
        arguments = {"session": "collect", "budget": budget, "offset": len(text)}
        part, _, last = join_texts(await client.call_tool("context", arguments)).rpartition("\n")
        text, more = text + part, "offset=" in last
    return text


def main() -> int:
    """Run once without `found` and once with it."""
    parser = make_parser("kept_facts", __doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=int, default=8_000)
    given = parser.parse_args()
    chance, bars = random.Random(given.seed), Bars()
    numbers = count(chance.randint(20_000, 60_000), 7)  # every number of the site occurs once
    visits = make_products(chance, numbers) + make_chapters(chance, numbers)
    chance.shuffle(visits)
    asked = sum(len(visit.facts) for visit in visits)
    for finds, least in LEAST.items():
        with temporary_home() as home:
            context, unseen = anyio.run(collect, visits, str(home / "ctxfold.db"), given.budget, finds)
        lost = [f"{words} of {visit.title}" for visit in visits for words, value in visit.facts if value not in context]
        kept = asked - len(lost)
        name = f"{'with' if finds else 'without'} found"
        print(f"{name}: {kept} of {asked} facts kept in {count_tokens(context):,} tokens; {unseen} in no answer")
        bars.require(kept / asked >= least, f"{name}: {kept / asked:.3f} kept, bar {least:.2f}; lost {lost}")
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
