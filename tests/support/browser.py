"""Gets a browser ready before the tests need one: `python -m tests.support.browser`.

It goes through the product's own door, which finds a browser or provides one. Done here, that takes no test's time, and what it
does can be seen.
"""

import sys

import anyio

from browser_agent.browser.browser import Browser
from ctxfold.errors import CtxfoldError


async def start_and_end_one() -> None:
    """Start a browser, saying what that takes, and end it."""
    browser = await Browser.launch(report=lambda said: print(f"browser: {said}", file=sys.stderr, flush=True))
    await browser.close()


if __name__ == "__main__":
    try:
        anyio.run(start_and_end_one)
    except CtxfoldError as error:
        print(f"browser: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
