"""Compares two shops' listings of 300 rows each: every page goes into the log in full, and the view stays within 2,000 tokens.

python examples/compare_listings.py
"""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio

from browser_agent import Browser, Window, perform
from browser_agent.actions import Navigate
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


async def record(window: Window, session: Session, shop: str, url: str) -> str:
    """Open a shop's listing and record it; the ref of the whole page."""
    outcome = await perform(window, [Navigate(kind="navigate", url=url)], need="prices of lamps")
    page = outcome.observation
    assert page is not None
    call = {"name": "open", "args": {"url": url}, "id": "c1"}
    result = {"id": "c1", "text": page.full, "origin": "page", "shown": page.text}
    step = session.record_step(f"Look at the {shop} shop.", calls=[call], results=[result])
    return f"s{step}.3"


def prices(session: Session, ref: str) -> dict[int, int]:
    """Every row's price, from the exact page in the log."""
    text = session.recall(ref).text
    found = re.findall(r'"lamp (\d+)" \[ref=\w+\]\s+- cell "(\d+) EUR"', text)
    return {int(row): int(euros) for row, euros in found}


async def main() -> None:
    """Look at both, compare all rows, and say which shop is cheaper for how many."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shops)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Session.open("lamps", goal="Which shop sells the lamps cheaper?", store=":memory:") as session:
        async with await Browser.launch() as browser:
            window = await browser.window()
            refs = [
                await record(window, session, shop, f"http://127.0.0.1:{server.server_address[1]}/{shop}")
                for shop in SHOPS
            ]
        north, south = (prices(session, ref) for ref in refs)
        cheaper = [row for row in north if north[row] < south[row]]
        session.record_reply(f"The north shop is cheaper for {len(cheaper)} of {len(north)} lamps.")
        view = session.view(BUDGET)
        print(view.text)
        print(f"\n{view.tokens} tokens; unfolded, the log would cost {view.unfolded}.")
        assert len(north) == len(south) == ROWS
        assert cheaper == [row for row in range(ROWS) if price("north", row) < price("south", row)]
        assert view.tokens <= BUDGET < view.unfolded
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    anyio.run(main)
