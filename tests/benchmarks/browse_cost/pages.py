"""Real observations of documentation and shop pages, taken once in a browser and replayed to every run."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from browser_agent.actions import ActionResult, ExtractValues, Find, Navigate, Outcome, PageAction, Read
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from tests.benchmarks.real_sites import DOCS
from tests.sites.server import Site

__all__ = ["Pages", "gather", "keep_pages", "read_pages"]

WORDS = ("return", "raise", "default", "file", "object", "price", "stars", "error", "string", "delivery")
_MENU = "".join(
    f"<li><a href=/kind/{n}>{kind}</a>" for n, kind in enumerate("Lamps Tables Chairs Rugs Shelves".split())
)


def shop(many: int) -> dict[str, str]:
    """Product pages of a shop, and lists of them."""
    chance = random.Random(5)
    names = [f"{chance.choice('Oak Pine Steel Glass'.split())} lantern {n * 37 + 11}" for n in range(many)]
    pages: dict[str, str] = {}
    for n, name in enumerate(names):
        reviews = "".join(
            f"<li><b>{chance.randint(1, 5)} stars</b> It arrived on day {chance.randint(2, 19)}; the {word} is as shown, order {chance.randint(10**5, 10**6)}."
            for word in chance.choices("handle lamp glass base cable packing".split(), k=9)
        )
        price, stock = chance.randint(900, 9000) / 100, chance.randint(0, 60)
        rows = f"<tr><th>Price<td>{price} EUR<tr><th>Stock<td>{stock}<tr><th>Height<td>{chance.randint(10, 90)} cm<tr><th>Article<td>LN-{chance.randint(1000, 9999)}"
        beside = "".join(f"<li><a href=/p/{at}>{names[at]}</a>" for at in chance.sample(range(many), 6))
        pages[f"/p/{n}"] = (
            f"<title>{name}</title><nav><ul>{_MENU}</ul></nav><main><h1>{name}</h1><table>{rows}</table>"
            f"<form action=/cart method=post><button>Add to cart</button></form><h2>Reviews</h2><ul>{reviews}</ul>"
            f"<h2>Also viewed</h2><ul>{beside}</ul></main><footer>Imprint, terms, delivery within 4 days.</footer>"
        )
    return pages


class Pages:
    """The pages by address, each as it looks after every kind of action that only reads."""

    def __init__(self, looks: dict[str, dict[str, Observation]]) -> None:
        self.looks = looks
        self._here = next(iter(looks))

    def begin(self) -> None:
        """Stand on no page that a run before left."""
        self._here = next(iter(self.looks))

    async def perform(self, window: Window, actions: Sequence[PageAction], need: str | None = None) -> Outcome:
        """What `browser_agent.actions.perform` would give."""
        kind = "page"
        for action in actions:
            match action:
                case Navigate(url=url):
                    self._here = url
                case Find() | Read() | ExtractValues():
                    kind = action.kind
                case _:
                    kind = "page"
        observation = self.looks[self._here][kind]
        results = tuple(ActionResult(action=action, kind="done", message="done") for action in actions)
        return Outcome(kind="done", message="done", observation=observation, results=results)


def read_pages(kept: Path) -> Pages:
    """The observations that an earlier run kept."""
    stored = json.loads(kept.read_text("utf-8"))
    return Pages(
        {url: {kind: Observation.model_validate(one) for kind, one in looks.items()} for url, looks in stored.items()}
    )


def keep_pages(pages: Pages, kept: Path) -> None:
    """Keep the observations for the next run."""
    stored = {url: {k: one.model_dump(mode="json") for k, one in looks.items()} for url, looks in pages.looks.items()}
    kept.write_text(json.dumps(stored), "utf-8")


async def gather(many: int) -> Pages:
    """Observe `many` pages of each site."""
    docs = DOCS["python"].resolve()
    names = sorted(str(page.relative_to(docs)) for page in (docs / "library").glob("*.html"))[: 4 * many : 4]
    with Site(docs) as documentation, Site(pages=shop(many)) as sold:
        urls = [url for n, name in enumerate(names) for url in (f"{documentation.url}/{name}", f"{sold.url}/p/{n}")]
        async with await Browser.launch() as browser:
            window = await browser.window()
            return Pages({url: await _looks(window, url, WORDS[n % len(WORDS)]) for n, url in enumerate(urls)})


async def _looks(window: Window, url: str, word: str) -> dict[str, Observation]:
    """A page as it looks when opened, searched, and read."""
    wanted: dict[str, PageAction] = {
        "page": Navigate(kind="navigate", url=url),
        "find": Find(kind="find", query=word),
        "read": Read(kind="read"),
    }
    found: dict[str, Observation] = {}
    for kind, action in wanted.items():
        outcome = await perform(window, [action], word)
        if outcome.observation is None:
            raise RuntimeError(f"{url} could not be observed: {outcome.message}")
        found[kind] = outcome.observation
    return found
