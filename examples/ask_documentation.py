"""A research question over a small documentation site: the explorer reads it, answers, and quotes the passage. No model, no key.

python examples/ask_documentation.py
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from browser_agent import BrowserAgent, Keeping, StepTaken, Watching

PAGES = {
    "index.html": """<title>Harbour office</title><main><h1>Harbour office</h1><p>Everything a skipper needs to know.</p>
        <ul><li><a href=berths.html>Berths and fees</a><li><a href=pilots.html>Pilots</a><li><a href=radio.html>Radio</a></ul></main>""",
    "berths.html": """<title>Berths and fees</title><main><h1>Berths and fees</h1><p>A berth is booked a day ahead.</p>
        <h2 id=fees>Fees</h2><p>The fee for one night is 18 EUR up to a length of 10 m, and 31 EUR above.</p>
        <h2 id=late>Late arrival</h2><p>Whoever comes after 22:00 ties up at the outer pier and pays in the morning.</p></main>""",
    "pilots.html": """<title>Pilots</title><main><h1>Pilots</h1><h2 id=duty>Who needs one</h2>
        <p>A pilot is compulsory for ships of more than 90 m, and for any tanker.</p></main>""",
    "radio.html": """<title>Radio</title><main><h1>Radio</h1><h2 id=channels>Channels</h2>
        <p>The harbour master listens on VHF channel 12; call before you pass the breakwater.</p></main>""",
}


@contextmanager
def site() -> Iterator[str]:
    """The pages, served on a free port of this machine."""
    with TemporaryDirectory() as folder:
        for name, page in PAGES.items():
            Path(folder, name).write_text(f"<!doctype html><html lang=en><meta charset=utf-8>{page}", encoding="utf-8")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def ask(question: str) -> str:
    print(f"\n{question}")
    return question


def tell(step: StepTaken) -> None:
    print(f"{step.step}. {step.did} ({step.view_tokens} of {step.budget} tokens)")


async def main() -> None:
    """Ask what the site answers, and what it does not."""
    with site() as url:
        async with BrowserAgent(model="explorer", budget=8000, keeping=Keeping(store=":memory:")) as agent:
            found = await agent.run(
                ask("Which VHF channel does the harbour master listen on?"), url, Watching(step=tell)
            )
            print(found.answer)
            assert found.status == "answered"
            assert "channel 12" in found.sources[0].quote
            assert found.sources[0].url == f"{url}radio.html#channels"

            missing = await agent.run(ask("What does a fishing licence cost in winter?"), url, Watching(step=tell))
            print(missing.reason)
            assert missing.status == "none_found", "what the site does not say is not made up"


if __name__ == "__main__":
    anyio.run(main)
