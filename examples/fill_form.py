"""Fills a form from a file, row by row, with typed actions on a real page: look, fill, submit, read what came back.

python examples/fill_form.py
"""

import csv
import io
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import anyio

from browser_agent import Browser, Observation, Window, perform
from browser_agent.actions import Click, FieldValue, FillForm, Navigate

FILE = "name,boat,nights\nAda,Kittiwake,2\nGrace,Sandpiper,5\n"
FORM = """<!doctype html><html lang=en><title>Book a berth</title><main><h1>Book a berth</h1><form action=/booked>
    <p><label>Name <input name=name></label><p><label>Boat <input name=boat></label>
    <p><label>Nights <select name=nights><option>1<option>2<option>5</select></label><p><button>Book</button></form></main>"""


class Office(BaseHTTPRequestHandler):
    """Shows the form, and what it was sent."""

    def do_GET(self) -> None:
        """Answer with a page."""
        parts = urlsplit(self.path)
        sent = {name: values[0] for name, values in parse_qs(parts.query).items()}
        lines = "".join(f"<p>{escape(name)}: {escape(value)}</p>" for name, value in sent.items())
        page = (
            FORM if parts.path == "/" else f"<!doctype html><html lang=en><title>Booked</title><h1>Booked</h1>{lines}"
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def ref(page: Observation, role: str, name: str) -> str:
    """The ref of one control; refs hold for the page as it was just seen."""
    return next(control.ref for control in page.refs.values() if (control.role, control.name) == (role, name))


async def book(window: Window, url: str, row: dict[str, str]) -> Observation:
    """Book for one row of the file; the page that came back."""
    form = (await perform(window, [Navigate(kind="navigate", url=url)])).observation
    assert form is not None
    fields = (
        FieldValue(ref=ref(form, "textbox", "Name"), value=row["name"]),
        FieldValue(ref=ref(form, "textbox", "Boat"), value=row["boat"]),
        FieldValue(ref=ref(form, "combobox", "Nights"), value=row["nights"]),
    )
    done = await perform(
        window, [FillForm(kind="fill_form", fields=fields), Click(kind="click", ref=ref(form, "button", "Book"))]
    )
    assert done.ok, done.message
    assert done.observation is not None
    return done.observation


async def main() -> None:
    """One booking a row."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Office)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    async with await Browser.launch() as browser:
        window = await browser.window()
        for row in csv.DictReader(io.StringIO(FILE)):
            answer = await book(window, f"http://127.0.0.1:{server.server_address[1]}/", row)
            print(answer.text)
            assert answer.title == "Booked"
            assert all(f"{name}: {value}" in answer.text for name, value in row.items())
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    anyio.run(main)
