"""The benchmark itself, on a page of ours with the same script interface: it starts, is solved or not, and what no ref reaches is named."""

import pytest

from browser_agent.browser.browser import Browser
from tests.benchmarks.miniwob.load import load
from tests.benchmarks.miniwob.play import Task, play
from tests.benchmarks.miniwob.pressing import best_move, quoted_button
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

TASK = """<title>Task</title><div id=wrap><div id=query></div><div id=area><button>Yes</button><button>No</button>
<canvas></canvas></div></div><script>
const core = { startEpisodeReal() { query.textContent = 'Click on the "' + (Math.seed % 2 ? 'Yes' : 'No') + '" button.' } }
Math.seedrandom = seed => Math.seed = +seed
for (const button of document.querySelectorAll('button')) button.onclick = () => {
  window.WOB_DONE_GLOBAL = true; window.WOB_RAW_REWARD_GLOBAL = query.textContent.includes(button.textContent) ? 1 : -1 }
</script>"""


@pytest.fixture
def anyio_backend() -> str:
    """Playwright knows asyncio alone."""
    return "asyncio"


async def first_button(task: Task) -> None:
    """Click the first button, whatever is asked."""
    await task.click(task.all("button")[0].ref)


async def test_an_episode_is_rewarded_as_its_page_says_and_a_page_names_what_no_ref_reaches() -> None:
    far = TASK.replace("<canvas", f"<p id=far onclick=1>{'Word ' * 60}</p><canvas")
    with Site(pages={"/task": TASK, "/far": far}) as site:
        async with await Browser.launch() as browser:
            window = await browser.window()
            url = f"{site.url}/task"
            assert [await play(window, url, quoted_button, seed) for seed in (0, 1)] == ["", ""]
            assert "reward -1" in await play(window, url, first_button, 0)
            assert (await load(window, url)).ok
            assert (await load(window, f"{site.url}/far")).unreached == ("p#far",)
            await window.close()


def test_a_game_is_won_where_it_can_be_and_not_lost() -> None:
    assert best_move(["x", "x", "", "o", "o", "", "", "", ""]) == 2
    assert best_move(["x", "", "", "o", "o", "", "", "", "x"]) == 5
