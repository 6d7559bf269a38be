"""A run in a real browser: it acts as decided, records before it is_actionable, keeps its budget, and ends as it should."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits
from ctxfold import Session, sessions
from ctxfold.errors import BrowserGone, InputError, PageUnreachable
from tests.browser_agent.agent.scripts import browse, decide, script
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

HOME = "<title>Harbour</title><main><h1>Harbour</h1><p>Ships and tides.</p><a href=/tides>Tides</a></main>"
TIDES = (
    "<title>Tides</title><main><h1>Tides</h1><h2 id=spring>Spring tides</h2>"
    "<p>A spring tide comes twice a month, at new moon and at full moon.</p></main>"
)
PRESS = {"kind": "press", "key": "a"}


async def test_a_scripted_run_answers_with_an_exact_quote_and_the_ref_of_its_page(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    model = script(
        tmp_path,
        decide(
            "The tides page will say.", {"kind": "navigate", "url": f"{site.url}/tides"}, fold="Opened the harbour."
        ),
        decide(
            "There it is.", {"kind": "answer", "text": "Twice a month.", "quote": "A spring tide comes  twice a month"}
        ),
    )
    result, told = await browse("How often is spring tide?", site.url, model, Keeping("tides"))
    assert (result.status, result.answer, result.steps) == ("answered", "Twice a month.", 3)
    (source,) = result.sources
    assert source.quote == "A spring tide comes twice a month"
    assert source.url == f"{site.url}/tides#spring"
    assert [step.did for step in told] == [f"open 127.0.0.1:{site.port}", "open tides", "answer"]
    with Session.open("tides", create=False) as session:
        assert source.quote in session.recall(source.ref).text
        assert "Opened the harbour." in session.view().text
        assert session.goal == "How often is spring tide?"


async def test_a_quote_that_is_on_no_page_goes_back_to_the_model(serve: Serve, tmp_path: Path):
    site = serve({"/": TIDES})
    model = script(
        tmp_path,
        decide("I know it.", {"kind": "answer", "text": "Weekly.", "quote": "A spring tide comes every week"}),
        decide("I was wrong.", {"kind": "answer", "text": "Twice a month.", "quote": "twice a month"}),
    )
    result, _ = await browse("How often is spring tide?", site.url, model)
    assert result.answer == "Twice a month."
    assert result.usage.refused == 0


async def test_a_model_that_twice_gives_what_does_not_fit_is_replaced_for_that_step_and_that_is_said(
    serve: Serve, tmp_path: Path
):
    site = serve({"/": HOME, "/tides": TIDES})
    model = script(
        tmp_path,
        {"thought": "no actions"},
        {"thought": "none again", "actions": []},
        decide("Enough.", {"kind": "give_up", "reason": "the script ends here"}),
    )
    result, told = await browse("How often do spring tides come?", site.url, model)
    assert result.usage.refused == 1
    assert told[1].decider == "explorer"
    assert "the explorer decided this step" in told[1].note
    assert told[2].decider.startswith("script:")


async def test_the_same_try_on_one_page_is_stopped_at_the_sixth(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME})
    model = script(tmp_path, *[decide("Perhaps now.", PRESS) for _ in range(20)])
    result, told = await browse("Find the depth.", site.url, model)
    assert result.status == "stopped"
    assert "six times" in result.reason
    assert result.steps == 7
    assert [step.ok for step in told] == [True, True, True, False, False, False, False]


async def test_every_view_keeps_the_budget_and_every_observation_is_recalled_byte_for_byte(
    serve: Serve, tmp_path: Path
):
    rows = "".join(f"<tr><td>row {n}<td>{n * 7919 % 1000}</tr>" for n in range(400))
    pages = {f"/{n}": f"<title>Page {n}</title><main><h1>Page {n}</h1><table>{rows}</table></main>" for n in range(12)}
    site = serve(pages)
    visits = [decide(f"Look at {n}.", {"kind": "navigate", "url": f"{site.url}/{n}"}) for n in range(1, 12)]
    model = script(tmp_path, *visits, decide("Done.", {"kind": "give_up", "reason": "seen enough"}))
    result, told = await browse("Read all pages.", f"{site.url}/0", model, Keeping("rows"))
    assert len(told) == 13
    assert all(step.view_tokens <= 8000 for step in told)
    assert result.usage.unfolded_tokens > 20_000 > result.usage.peak_view_tokens
    with Session.open("rows", create=False) as session:
        for step in range(1, 13):
            assert "row 399" in session.recall(f"s{step}").text


@pytest.mark.long
async def test_limits_of_steps_and_time_end_a_run_with_what_was_found(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME})
    keys = ["a", "b", "c", "d", "e", "f"]
    model = script(tmp_path, *[decide("On.", {"kind": "press", "key": key}) for key in keys])
    result, _ = await browse("Wait.", site.url, model, limits=RunLimits(steps=4))
    assert (result.status, result.steps) == ("stopped", 4)
    assert "--max-steps" in result.reason
    slow = script(tmp_path, decide("Wait.", {"kind": "wait_for", "text": "never shown", "seconds": 25}))
    result, _ = await browse("Wait.", site.url, slow, Keeping("slow"), RunLimits(seconds=3))
    assert result.status == "stopped"
    assert "--timeout" in result.reason
    assert result.usage.seconds < 6


async def test_a_run_that_was_cut_off_goes_on_without_repeating_what_may_have_been_done(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    wait = {"kind": "wait_for", "text": "never shown", "seconds": 25}
    first = script(
        tmp_path,
        decide("Go.", {"kind": "navigate", "url": f"{site.url}/tides"}),
        decide("Send it.", wait),
    )
    cut, _ = await browse("How often is spring tide?", site.url, first, Keeping("cut"), RunLimits(seconds=4))
    assert cut.status == "stopped"
    with Session.open("cut", create=False) as session:
        assert '"never shown"' in session.recall(f"s{session.tip}").text
    asked = len(site.seen)
    again = script(tmp_path, decide("There.", {"kind": "answer", "text": "Twice.", "quote": "twice a month"}))
    result, told = await browse("", None, again, Keeping("cut", resume=True))
    assert result.status == "answered"
    assert told[0].did == "open tides"
    assert [path for path in site.seen[asked:] if path != "/favicon.ico"] == ["/tides"]


async def test_a_start_page_that_cannot_be_opened_is_an_error_that_names_the_next_move(serve: Serve):
    site = serve({"/": HOME})
    for url in (f"{site.url}/nowhere", "http://127.0.0.1:9/"):
        with pytest.raises(PageUnreachable, match=r"cannot be opened \([^;]+\); check the address$"):
            await browse("Find it.", url)
    with pytest.raises(InputError, match="give one such as https"):
        await browse("Find it.", "gopher://127.0.0.1/")


async def test_a_session_that_is_there_is_not_written_over(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME})
    Session.open("mine", goal="other").close()
    with pytest.raises(InputError, match="--resume"):
        await browse("Find it.", site.url, keeping=Keeping("mine"))


@pytest.mark.parametrize("trouble", ["no cookies", "nothing listens"])
async def test_a_run_whose_browser_or_storage_cannot_be_used_leaves_no_session_behind(
    serve: Serve, tmp_path: Path, trouble: str
):
    site = serve({"/": HOME})
    state = tmp_path / "state.json"
    match trouble:
        case "nothing listens":
            with socket.create_server(("127.0.0.1", 0)) as free:
                choice = BrowserChoice(endpoint=f"http://127.0.0.1:{free.getsockname()[1]}")
        case _:
            state.write_text('{"cookies": [{"name": "a"}]}', "utf-8")
            choice = BrowserChoice(storage_state=state)
    async with BrowserAgent(browser=choice, keeping=Keeping("tides")) as agent:
        with pytest.raises((InputError, BrowserGone)):
            await agent.run("Find it.", start_url=site.url)
    assert sessions() == []
