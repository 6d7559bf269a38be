"""What a task compares is read from its words or its addresses; amounts are told by their units, rows by their names; nothing is guessed."""

import pytest

from browser_agent.deciders.alternatives import comparison
from browser_agent.deciders.amounts import amount, row
from browser_agent.observation.values import Observation, Section


@pytest.mark.parametrize(
    ("task", "names", "asked"),
    [
        ("Compare the Aurora lamp and the Boreal lamp on price.", ["aurora-lamp", "boreal-lamp"], "What is the price of Aurora lamp?"),
        ("Compare the price of the Aurora, the Boreal and the Comet.", ["aurora", "boreal", "comet"], "What is the price of Aurora?"),
        ("Which is cheaper: the Aurora or the Boreal?", ["aurora", "boreal"], "What is the price of Aurora?"),
        ("Which is less expensive, the Aurora or the Boreal?", ["aurora", "boreal"], "What is the price of Aurora?"),
        ("train vs. bus: travel time", ["train", "bus"], "What is the travel time of train?"),
    ],
)  # fmt: skip
def test_a_task_that_names_alternatives_is_asked_of_each(task: str, names: list[str], asked: str) -> None:
    found = comparison(task)
    assert found is not None
    assert [each.name for each in found.alternatives] == names
    assert found.alternatives[0].task == asked


@pytest.mark.parametrize(
    "task",
    [
        "What does os.walk yield?",
        "What is the difference between os.walk and os.scandir?",
        "Which function compares two strings?",
        "How do I compare floats?",
        "",
    ],
)
def test_a_task_that_compares_nothing_has_no_alternatives(task: str) -> None:
    assert comparison(task) is None


def test_several_addresses_are_alternatives_by_what_tells_them_apart() -> None:
    sites = comparison("Which shop sells lamp 7 cheaper?", ("https://www.north.example/a", "https://south.example/a"))
    pages = comparison("Compare the price of lamp 7", ("http://127.0.0.1:9/north", "http://127.0.0.1:9/south.html"))
    alike = comparison("Compare the price of lamp 7", ("http://127.0.0.1:9/?shop=1", "http://127.0.0.1:9/?shop=2"))
    assert sites is not None
    assert pages is not None
    assert alike is not None
    assert [each.name for each in sites.alternatives] == ["north-example", "south-example"]
    assert [each.name for each in pages.alternatives] == ["north", "south"]
    assert [each.name for each in alike.alternatives] == ["page-1", "page-2"]
    assert (sites.best, sites.measure, sites.least) == ("cheaper", "price", True)
    assert {each.alternatives[0].thing for each in (sites, pages, alike)} == {"lamp 7"}


@pytest.mark.parametrize(
    ("text", "measure", "found"),
    [
        ("The price is 89 EUR, it weighs 2.1 kg.", "price", (89.0, "eur")),
        ("The price is 89 EUR, it weighs 2.1 kg.", "weight", (2.1, "kg")),
        ("€1,299.50 in all", "price", (1299.5, "€")),
        ("from 89 EUR to 99 EUR", "price", None),
        ("89 pieces", "price", None),
        ("nothing", "", None),
    ],
)
def test_an_amount_is_the_only_one_with_a_unit_of_what_is_measured(text: str, measure: str, found: object) -> None:
    assert amount(text, measure) == found


def test_a_row_tells_of_a_thing_where_it_alone_is_called_so() -> None:
    table = "Lamp\tStock\tPrice\nlamp 7\t3\t89 EUR\nlamp 17\t5\t70 EUR\nlamp 8\t1\t10 EUR\nlamp 8\t2\t11 EUR"
    page = Observation(
        url="https://shop.example/list", title="", status=200, fingerprint="", text="", tokens=0, full="", refs={},
        sections=(Section(title="Lamps", level=1, anchor="lamps", text=table),),
    )  # fmt: skip
    assert row(page, "Lamp 7", "price") == ("lamp 7\t3\t89 EUR", "89 EUR", "https://shop.example/list#lamps")
    assert row(page, "lamp 17", "stock") == ("lamp 17\t5\t70 EUR", "5", "https://shop.example/list#lamps")
    assert row(page, "lamp 8", "price") is None
    assert row(page, "lamp", "price") is None
