"""An episode on a page of ours with MiniWoB's interface is rewarded or not, and a control without a ref is a fault."""

import pytest

from browser_agent.browser.browser import Browser
from tests.benchmarks.miniwob.play import Task, find_faults, play
from tests.benchmarks.miniwob.solvers import SOLVERS
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
    """Choose asyncio, the only loop that Playwright knows."""
    return "asyncio"


async def click_first(task: Task) -> None:
    """Click the first button, whatever the task."""
    await task.do("click", task.ref("button"))


async def test_an_episode_is_rewarded_as_its_page_says_and_a_control_without_a_ref_is_a_fault() -> None:
    far = TASK.replace("<canvas", f"<p id=far onclick=1>{'Word ' * 60}</p><canvas")
    with Site(pages={"/task": TASK, "/far": far}) as site:
        async with await Browser.launch() as browser:
            window, url = await browser.window(), f"{site.url}/task"
            assert [await play(window, url, SOLVERS["click-button"], seed) for seed in (0, 1)] == ["", ""]
            assert "reward -1" in await play(window, url, click_first, 0)
            assert await find_faults(window, url) == []
            assert await find_faults(window, f"{site.url}/far") == ["no ref reaches p#far"]
            await window.close()
