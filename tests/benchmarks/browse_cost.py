"""What a run with a model costs beside lean pages appended, over documentation and shop pages, by the account of a
prefix cache.

    python -m tests.benchmarks.browse_cost [--steps 20 50 200 500] [--streams folds every none] [--budget 8000]

Prices are relative to a token read in full: .05 from the cache, 1.25 into it, 5 written by the model. `rewritten`
counts the requests that did not read all that the one before had put into the cache: those after a fold. Streams:
`folds` folds two of three steps, and several at once every twentieth; `every` folds each step; `none` folds nothing.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

import browser_agent.agent.steps as steps_module
from browser_agent.actions import ActionResult, ExtractValues, Find, Navigate, Outcome, PageAction, Read
from browser_agent.actions.perform import perform
from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import Keeping, RunLimits
from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from ctxfold.messages.apis import CACHE_MARK
from ctxfold.models import Reply, Request, Usage
from ctxfold.models.anthropic import body
from ctxfold.tokens import count
from tests.benchmarks.shared.harness import Bars, make_parser
from tests.benchmarks.shared.real_sites import DOCS
from tests.sites.server import Site
from tests.support.messages.cache import PrefixCache
from tests.support.messages.rules import checked

STREAMS = ("folds", "every", "none")
BARS = {20: 1.0, 50: 1.0, 200: 0.35, 500: 0.20}
"""The most that a run of so many steps may cost, as a share of append-only."""
BESIDE = 2_400
"""Tokens that system and schema may take beside the budget."""
CACHE_READ, CACHE_WRITE, OUTPUT = 0.05, 1.25, 5.0
"""Prices relative to a token read in full."""
WORDS = ("return", "raise", "default", "file", "object", "price", "stars", "error", "string", "delivery")
_KINDS = "Lamps Tables Chairs Rugs Shelves".split()
_MENU = "".join(f"<li><a href=/kind/{n}>{kind}</a>" for n, kind in enumerate(_KINDS))


def make_shop(many: int) -> dict[str, str]:
    """Make the product pages of a shop, by path."""
    chance = random.Random(5)
    names = [f"{chance.choice('Oak Pine Steel Glass'.split())} lantern {n * 37 + 11}" for n in range(many)]
    pages: dict[str, str] = {}
    for n, name in enumerate(names):
        reviews = "".join(
            f"<li><b>{chance.randint(1, 5)} stars</b> It arrived on day {chance.randint(2, 19)}; the {word} is as "
            f"shown, order {chance.randint(10**5, 10**6)}."
            for word in chance.choices("handle lamp glass base cable packing".split(), k=9)
        )
        price, stock = chance.randint(900, 9000) / 100, chance.randint(0, 60)
        rows = (
            f"<tr><th>Price<td>{price} EUR<tr><th>Stock<td>{stock}<tr><th>Height<td>{chance.randint(10, 90)} cm"
            f"<tr><th>Article<td>LN-{chance.randint(1000, 9999)}"
        )
        beside = "".join(f"<li><a href=/p/{at}>{names[at]}</a>" for at in chance.sample(range(many), 6))
        pages[f"/p/{n}"] = (
            f"<title>{name}</title><nav><ul>{_MENU}</ul></nav><main><h1>{name}</h1><table>{rows}</table>"
            f"<form action=/cart method=post><button>Add to cart</button></form><h2>Reviews</h2><ul>{reviews}</ul>"
            f"<h2>Also viewed</h2><ul>{beside}</ul></main><footer>Imprint, terms, delivery within 4 days.</footer>"
        )
    return pages


class Pages:
    """Real observations by address, taken once: each page as it looks after every kind of action that only reads."""

    def __init__(self, looks: dict[str, dict[str, Observation]]) -> None:
        self.looks = looks
        self._here = next(iter(looks))

    def begin(self) -> None:
        """Return to the first page."""
        self._here = next(iter(self.looks))

    async def perform(self, window: Window, actions: Sequence[PageAction], need: str | None = None) -> Outcome:
        """Return what `browser_agent.actions.perform` would, without a browser."""
        kind = "page"
        for action in actions:
            kind = action.kind if isinstance(action, Find | Read | ExtractValues) else "page"
            if isinstance(action, Navigate):
                self._here = action.url
        results = tuple(ActionResult(action=action, kind="done", message="done") for action in actions)
        return Outcome(kind="done", message="done", observation=self.looks[self._here][kind], results=results)


async def observe_sites(many: int) -> Pages:
    """Observe `many` pages of Python's documentation and of the shop."""
    docs = DOCS["python"].resolve()
    names = sorted(str(page.relative_to(docs)) for page in (docs / "library").glob("*.html"))[: 4 * many : 4]
    with Site(docs) as documentation, Site(pages=make_shop(many)) as shop:
        urls = [url for n, name in enumerate(names) for url in (f"{documentation.url}/{name}", f"{shop.url}/p/{n}")]
        async with await Browser.launch() as browser:
            window = await browser.window()
            return Pages({url: await _observe(window, url, WORDS[n % len(WORDS)]) for n, url in enumerate(urls)})


async def _observe(window: Window, url: str, word: str) -> dict[str, Observation]:
    """Observe a page when it is opened, searched and read."""
    actions: dict[str, PageAction] = {
        "page": Navigate(kind="navigate", url=url),
        "find": Find(kind="find", query=word),
        "read": Read(kind="read"),
    }
    looks: dict[str, Observation] = {}
    for kind, action in actions.items():
        outcome = await perform(window, [action], word)
        if outcome.observation is None:
            raise RuntimeError(f"{url} could not be observed: {outcome.message}")
        looks[kind] = outcome.observation
    return looks


@dataclass
class Bill:
    """Tokens of the requests of one run by how they are charged."""

    requests: list[int] = field(default_factory=list)
    read: int = 0
    written: int = 0
    full: int = 0
    output: int = 0
    rewritten: int = 0
    _cache: PrefixCache = field(default_factory=PrefixCache)
    _kept: int = 0

    def add(self, request: Mapping[str, Any], output: int) -> Usage:
        """Charge one request and its reply of so many tokens."""
        charge = self._cache.charge(checked(dict(request), counting=False))
        self.rewritten += charge.cache_read < self._kept
        self._kept = charge.cache_read + charge.cache_write
        self.requests.append(charge.input + charge.cache_read + charge.cache_write)
        self.read += charge.cache_read
        self.written += charge.cache_write
        self.full += charge.input
        self.output += output
        return Usage(charge.input, output, charge.cache_read, charge.cache_write)

    @property
    def cost(self) -> float:
        """The whole cost in tokens read in full."""
        return self.full + CACHE_READ * self.read + CACHE_WRITE * self.written + OUTPUT * self.output


def make_decisions(stream: str, urls: Sequence[str], steps: int) -> list[dict[str, Any]]:
    """Make one decision a step: a page is opened, searched, read and looked at again. The last gives up."""
    decisions: list[dict[str, Any]] = []
    begun, before = 1, ""
    for at in range(steps - 1):
        url = urls[at // 4 % len(urls)]
        action = (
            {"kind": "navigate", "url": url},
            {"kind": "find", "query": "default"},
            {"kind": "read", "page": 1},
            {"kind": "scroll", "direction": "bottom"},
        )[at % 4]
        name = url.partition("//")[2].partition("/")[2]
        thought = f"Look at {name}, part {at % 4 + 1}, for what was asked."
        decision: dict[str, Any] = {"thought": thought, "actions": [action]}
        if at and stream == "folds" and at % 20 == 0:
            summary = f"Looked through the pages up to {before}; none of them answers."
            decision["fold"] = {"summary": summary, "first_step": begun}
            begun = at + 1
        elif at and (stream == "every" or (stream == "folds" and at % 3)):
            decision["fold"] = {"summary": f"Looked at {before}: it tells of its defaults, and not of what was asked."}
        decisions.append(decision)
        before = name
    return [*decisions, {"thought": "Seen enough.", "actions": [{"kind": "give_up", "reason": "the script ends here"}]}]


class PricedModel:
    """A model that decides by a script and keeps a bill of its requests."""

    name = "script:priced"

    def __init__(self, script: Sequence[dict[str, Any]]) -> None:
        self.bill = Bill()
        self.first: Request | None = None
        self._left = iter(script)

    async def decide(self, request: Request) -> Reply:
        """Return the next decision."""
        self.first = self.first or request
        decision = next(self._left)
        usage = self.bill.add(body("claude-priced", request), count(json.dumps(decision)))
        return Reply(arguments=decision, usage=usage, model=self.name)


def price_appended(first: Request, script: Sequence[dict[str, Any]], outcomes: Sequence[Outcome]) -> Bill:
    """Price the same run with each lean page appended and nothing folded, so that the whole past stays in the cache."""
    bill, blocks = Bill(), [{"type": "text", "text": first.messages[0]["content"][0]["text"]}]
    opening = body("claude-priced", first)
    for at, decision in enumerate(script):
        lean = json.dumps({key: value for key, value in decision.items() if key != "fold"})
        marked = [*blocks[:-1], {**blocks[-1], **CACHE_MARK}]
        bill.add({**opening, "messages": [{"role": "user", "content": marked}]}, count(lean))
        page = outcomes[at].observation if at < len(outcomes) else None
        blocks.append({"type": "text", "text": "\n".join((lean, page.text if page is not None else ""))})
    return bill


async def price(pages: Pages, stream: str, steps: int, budget: int) -> tuple[Bill, Bill]:
    """Return the bill of one run and that of its pages appended."""
    script = make_decisions(stream, list(pages.looks), steps)
    model = PricedModel(script)
    outcomes: list[Outcome] = []

    async def keep_outcome(window: Window, actions: Sequence[PageAction], need: str | None = None, **_: Any) -> Outcome:
        outcomes.append(outcome := await pages.perform(window, actions, need))
        window.last = outcome.observation
        return outcome

    vars(steps_module)["perform"] = keep_outcome
    pages.begin()
    limits = RunLimits(steps=steps + 5, seconds=3600)
    async with BrowserAgent(model, budget, limits, keeping=Keeping(f"{stream}-{steps}", ":memory:")) as agent:
        await agent.run("Find out which of these names a default that was asked for, and say where it stands.")
    if model.first is None:
        raise RuntimeError("the run asked its model nothing")
    return model.bill, price_appended(model.first, script, outcomes)


def main() -> int:
    """Print a line for each stream and length."""
    parser = make_parser("browse_cost", __doc__)
    parser.add_argument("--steps", type=int, nargs="*", default=list(BARS))
    parser.add_argument("--streams", nargs="*", default=list(STREAMS))
    parser.add_argument("--budget", type=int, default=8_000)
    parser.add_argument("--many", type=int, default=24, help="pages of each site")
    chosen = parser.parse_args()
    pages = anyio.run(observe_sites, chosen.many)
    bars, most = Bars(), chosen.budget + BESIDE
    for stream in chosen.streams:
        for steps in chosen.steps:
            ours, theirs = anyio.run(price, pages, stream, steps, chosen.budget)
            ratio, bar, largest = ours.cost / theirs.cost, BARS.get(steps, 1.0), max(ours.requests)
            tokens = (("read", ours.read), ("written", ours.written), ("full", ours.full), ("output", ours.output))
            share = ", ".join(f"{kind} {number / steps:,.0f}" for kind, number in tokens)
            print(
                f"{stream:6} {steps:4} steps  {ratio:.3f} of append-only (bar {bar:.2f}); a step: {share}; "
                f"largest {largest:,} (bar {most:,}); rewritten {ours.rewritten}",
                flush=True,
            )
            bars.require(ratio <= bar, f"{stream} {steps}: {ratio:.3f} of append-only")
            bars.require(largest <= most, f"{stream} {steps}: a request of {largest:,} tokens")
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
