"""A page is made anew of its snapshot in the log: its sections, its links, and none of what stands around them."""

from browser_agent.observation.observe import from_log

SNAPSHOT = """
- navigation [ref=e1]:
  - link "Home" [ref=e2]:
    - /url: /
- main [ref=e3]:
  - heading "Fees" [level=1] [ref=e4]
  - paragraph [ref=e5]: One night costs 18 EUR.
  - list [ref=e6]:
    - listitem [ref=e7]:
      - paragraph [ref=e8]: "Pay at the office: by card."
    - listitem [ref=e9]:
      - link "Radio" [ref=e10]:
        - /url: radio.html
  - term [ref=e11]: fees.reduce(length)
  - definition [ref=e12]: Less for short ships.
  - table [ref=e13]:
    - row [ref=e14]:
      - cell "Winter" [ref=e15]
      - cell "9 EUR" [ref=e16]
""".strip()


def test_sections_and_links_are_those_of_the_page() -> None:
    page = from_log("http://harbour.test/fees", SNAPSHOT)
    told = [(section.title, section.text.splitlines(), section.defined_name) for section in page.sections]
    assert told == [
        ("", [], None),
        ("Fees", ["One night costs 18 EUR.", "Pay at the office: by card.", "Radio"], None),
        ("fees.reduce(length)", ["Less for short ships.", "Winter | 9 EUR"], "fees.reduce"),
    ]
    assert (page.title, page.full) == ("Fees", SNAPSHOT)
    assert [link.url for link in page.links] == ["http://harbour.test/", "http://harbour.test/radio.html"]


def test_what_is_no_snapshot_is_a_page_without_text() -> None:
    assert [section.text for section in from_log("http://harbour.test/", "gone").sections] == [""]
