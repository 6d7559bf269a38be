"""Compares two shops' listings of 300 rows each, a branch for each: every page goes into the log in full, and the view stays within 2,000 tokens.

python examples/compare_listings.py
"""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory

import anyio

from browser_agent import BrowserAgent, Keeping
from ctxfold import Session

ROWS = 300
SHOPS = {"north": (40, 7, 90), "south": (35, 11, 100)}
BUDGET = 2_000


def price(shop: str, row: int) -> int:
    """What a lamp costs in a shop, in EUR."""
    least, step, span = SHOPS[shop]
    return least + row * step % span


class Shops(BaseHTTPRequestHandler):
    """Two shops, each with one long listing."""

    def do_GET(self) -> None:
        """Answer with a page."""
        shop = self.path.strip("/") if self.path.strip("/") in SHOPS else "north"
        rows = "".join(f"<tr><td>lamp {row}</td><td>{price(shop, row)} EUR</td></tr>" for row in range(ROWS))
        page = f"<!doctype html><html lang=en><title>Lamps</title><main><h1>Lamps</h1><table>{rows}</table></main>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def prices(session: Session, ref: str) -> dict[int, int]:
    """Every row's price, from the exact page in the log."""
    text = session.recall(ref).text
    found = re.findall(r'"lamp (\d+)" \[ref=\w+\]\s+- cell "(\d+) EUR"', text)
    return {int(row): int(euros) for row, euros in found}


async def main() -> None:
    """Ask which shop is cheaper for one lamp; then compare all rows, from the pages in the log."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shops)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_address[1]}"
    with TemporaryDirectory() as folder:
        store = f"{folder}/lamps.db"
        keeping = Keeping("lamps", store)
        async with BrowserAgent("explorer", BUDGET, keeping=keeping) as agent:
            result = await agent.run("Which shop sells lamp 7 cheaper?", [f"{home}/{shop}" for shop in SHOPS])
        print(result.answer)
        with Session.open("lamps", store=store, create=False) as session:
            (topic,) = session.tree()
            print("branches:", ", ".join(branch.name for branch in topic.branches))
            north, south = (prices(session, source.ref) for source in result.sources)
            cheaper = [row for row in north if north[row] < south[row]]
            session.record_reply(f"The north shop is cheaper for {len(cheaper)} of {len(north)} lamps.")
            view = session.view(BUDGET)
        print(view.text)
        print(f"\n{view.tokens} tokens; the pages cost {result.usage.unfolded_tokens} unfolded.")
    server.shutdown()
    server.server_close()
    assert result.answer is not None
    assert result.answer.startswith("Cheaper: north. north: lamp 7: 89 EUR")
    assert [branch.name for branch in topic.branches] == ["main", *SHOPS]
    assert len(north) == len(south) == ROWS
    assert cheaper == [row for row in range(ROWS) if price("north", row) < price("south", row)]
    assert view.tokens <= BUDGET < result.usage.unfolded_tokens


if __name__ == "__main__":
    anyio.run(main)
