"""What a search of a page shows: its places with what explains them, and addresses by which the rest is read."""

import pytest

from browser_agent.actions.look import Look, Sight, share
from browser_agent.observation import Observation
from browser_agent.observation.capture import Capture, Structure
from browser_agent.observation.observe import Lean, Part, Places, View, observe, without_repeats
from browser_agent.observation.shorten import NOTHING_BEFORE
from ctxfold.tokens import count

pytestmark = pytest.mark.anyio

URL = "https://town.example/notes"
MINUTES = """- main [ref=e2]:
  - heading "Minutes" [level=1] [ref=e3]
  - paragraph [ref=e4]: The council met in the old hall.
  - heading "Bridges" [level=2] [ref=e5]
  - generic [ref=e6]: Ada Byron, engineer
  - generic [ref=e7]: The north bridge bears twelve tonnes.
  - generic [ref=e8]: Adopted by nine votes.
  - heading "Schools" [level=2] [ref=e9]
  - paragraph [ref=e10]: The roof is to be mended before winter.
  - paragraph [ref=e11]: A second gym waits for money."""
RATES = [f'      - row [ref=e{30 + n}]:\n        - cell "{n} kg"\n        - cell "{n * 3} crowns"' for n in range(40)]


def table(rows: int) -> str:
    return "\n".join(
        [
            "- main [ref=e2]:",
            '  - heading "Postage" [level=1] [ref=e3]',
            "  - table [ref=e20]:",
            "    - rowgroup [ref=e21]:",
            "      - row [ref=e22]:",
            '        - columnheader "Weight"',
            '        - columnheader "Price"',
            "    - rowgroup [ref=e23]:",
            *RATES[:rows],
        ]
    )


def page(yaml: str, view: View, budget: int = 900, pages: int = 0, need: str = "") -> Observation:
    capture = Capture(URL, 200, yaml, Structure(title="Town"))
    return observe(capture, view=view, budget=budget, pages=pages, need=need)


def found(yaml: str, *queries: str, budget: int = 900) -> str:
    return page(yaml, Places(queries), budget).text


def test_the_only_place_is_shown_with_the_line_before_and_the_line_after() -> None:
    text = found(MINUTES, "twelve tonnes")
    assert "Ada Byron, engineer\nThe north bridge bears twelve tonnes.\nAdopted by nine votes." in text
    assert "old hall" not in text
    assert "second gym" in found(MINUTES, "roof")
    assert "roof" in found(MINUTES, "second gym")


def test_a_place_names_its_heading_by_a_ref_that_reads_what_stands_under_it_whatever_the_room() -> None:
    for budget in (120, 900):
        assert "§ Bridges[e5]" in found(MINUTES, "twelve tonnes", budget=budget)
    under = page(MINUTES, Part(ref="e5")).text
    assert "Ada Byron" in under
    assert "nine votes" in under
    assert "Schools" not in under
    assert "second gym" in page(MINUTES, Part(ref="e3")).text


def test_what_is_left_out_is_named_by_the_headings_it_stands_under() -> None:
    text = found(table(40), "crowns", budget=200)
    shown = int(text.split("\n")[1].split()[0])
    assert 3 < shown < 40
    assert f"{shown} of 40 places" in text
    assert f"… {40 - shown} more in Postage[e3]" in text
    assert count(text) <= 200


def test_the_head_of_a_small_table_brings_its_rows_and_that_of_a_large_one_their_ref() -> None:
    small = found(table(4), "weight")
    assert all(f"{n} kg | {n * 3} crowns" in small for n in range(4))
    large = found(table(40), "weight")
    assert "39 kg" not in large
    assert "… 40 rows below that head: read [e20]" in large


def test_the_number_of_a_page_holds_where_less_room_is_left() -> None:
    long = MINUTES + "".join(
        f"\n  - paragraph [ref=e{100 + n}]: Point {n} was put off to the spring." for n in range(90)
    )
    wide, narrow = (page(long, Part(page=2), budget, pages=600) for budget in (600, 250))
    assert (wide.pages, narrow.pages) == (wide.pages, wide.pages)
    lines = [line for line in wide.text.split("\n") if line.startswith("Point")]
    fewer = [line for line in narrow.text.split("\n") if line.startswith("Point")]
    assert fewer == lines[: len(fewer)]
    assert f"… {len(lines) - len(fewer)} more lines of this page: read it by itself" in narrow.text
    assert narrow.tokens <= 250
    marked = page(long, Lean(), 250, pages=600)
    assert [cut.page for cut in marked.cut] == [cut.page for cut in marked.cut if cut.page and cut.page <= wide.pages]


def test_where_no_place_has_all_words_the_few_with_most_are_shown() -> None:
    text = found(MINUTES, "roof bridge money")
    assert "no such words in one place of this page: roof in 1, bridge in 2, money in 1" in text
    assert "with most of them, 1 of 3" in text
    assert all(words in text for words in ("The roof", "waits for money", "bears twelve"))
    many = "- main:\n" + "\n".join(f"  - paragraph: Lamp number {n}" for n in range(30))
    assert "Lamp number 3" not in found(many, "lamp zebra")


def test_several_queries_are_looked_for_at_once_and_each_is_counted() -> None:
    text = found(MINUTES, "gym", "votes", "zebra")
    assert "2 of 2 places: gym 1, votes 1, zebra none" in text
    assert "A second gym" in text
    assert "nine votes" in text
    assert found(MINUTES, "zebra", "yak").endswith("no such words on this page")


def test_a_list_with_many_options_is_shown_whole_where_there_is_room_and_running_text_around_what_was_found() -> None:
    options = "\n".join(f'    - option "Department of affairs number {n}" [ref=e{50 + n}]' for n in range(20))
    form = f'- main:\n  - listbox "Departments" [ref=e40]:\n{options}\n  - paragraph: {"Long words. " * 200}Rare.'
    assert "affairs number 19" in found(form, "departments")
    assert count(found(form, "rare")) < 250
    menu = "- main:\n  - paragraph:\n" + "\n".join(
        f'    - link "Affairs of county {n}" [ref=e{50 + n}]:\n      - /url: /c/{n}' for n in range(12)
    )
    assert "county 11[e61](/c/11)" in page(menu, Places(("county 2",), links=True)).text
    assert count(found(form, "departments", budget=200)) <= 200


def test_a_picture_beside_its_own_name_is_not_named_twice() -> None:
    card = '- main:\n  - generic:\n    - img "Red kite"\n    - link "Red kite" [ref=e5]:\n      - /url: /kite\n    - text: 5 EUR\n    - img "A hawk"'
    assert "Red kite[e5] 5 EUR (image: A hawk)" in found(card, "kite")
    assert "Red kite[e5](/kite) 5 EUR" in page(card, Places(("kite",), links=True)).text


def test_where_a_line_names_all_that_is_needed_its_neighbours_do_not_fill_the_room() -> None:
    points = "".join(
        f"\n  - paragraph [ref=e{100 + n}]: The harbour board spoke of mooring fees at pier {n}, of dredging and of the lights along the quay there."
        for n in range(60)
    )
    clear = page(
        f"{MINUTES}{points}\n  - paragraph: The harbour crane lifts ninety.", Lean(), need="harbour crane lifts"
    )
    assert "crane lifts ninety" in clear.text
    assert clear.tokens < 500
    vague = page(MINUTES + points, Lean(), need="harbour mooring fees")
    assert vague.tokens > 600


def sight(yaml: str, view: View) -> Sight:
    capture = Capture(URL, 200, yaml, Structure(title="Town"))
    return Sight(observe(capture, view=view, budget=900), capture, Look(view), NOTHING_BEFORE, 900)


async def test_the_looks_of_one_call_share_its_room_so_that_small_ones_are_whole() -> None:
    large, small = sight(table(40), Places(("crowns",))), sight(MINUTES, Places(("roof",)))
    shared = await share([large, small], 300)
    texts = without_repeats([one.seen for one in shared])
    assert "40 of 40" not in texts[0]
    assert "second gym" in texts[1]
    assert 240 < sum(map(count, texts)) < 300
    whole = await share([small, small, large], 900)
    assert "40 of 40 places" in whole[2].seen.text


async def test_a_page_is_named_once_in_an_answer_and_a_place_is_shown_once() -> None:
    looks = [sight(MINUTES, Places((query,))) for query in ("twelve tonnes", "bridge bears", "roof")]
    first, again, other = without_repeats([one.seen for one in await share(looks, 900)])
    assert URL in first
    assert "bears twelve" in first
    assert again == "1 of 1 place, 1 of them above"
    assert URL not in other
    assert "The roof" in other
