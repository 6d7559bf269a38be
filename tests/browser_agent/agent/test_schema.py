"""An answer in the form that was asked for: it validates, or the run says what is missing."""

import json
from collections.abc import Callable
from contextvars import Context
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pydantic import BaseModel

from browser_agent.agent.agent import BrowserAgent
from browser_agent.cli.browse import browse as command
from tests.browser_agent.agent.scripts import decide, script
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

FARES = (
    "<title>Fares to Elba</title><main><h1>Fares to Elba</h1><p>What a ferry to Elba costs.</p><table><tr><th>Route<th>Price (EUR)"
    "<th>Daily</tr><tr><td>Piombino<td>17.50<td>✓</tr><tr><td>Livorno<td>1,024<td>✗</tr></table></main>"
)


class Fare(BaseModel):
    route: str
    price: float
    daily: bool


class Fares(BaseModel):
    fares: list[Fare]


WANTED = {
    "fares": [{"route": "Piombino", "price": 17.5, "daily": True}, {"route": "Livorno", "price": 1024, "daily": False}]
}


async def test_a_models_answer_is_held_to_the_schema_and_may_be_what_it_extracted(serve: Serve, tmp_path: Path) -> None:
    site = serve({"/": FARES})
    model = script(
        tmp_path,
        decide("Guess.", {"kind": "answer", "text": "x", "data": {"fares": [{"route": "Piombino"}]}}),
        decide("Take it.", {"kind": "extract"}),
        decide("There.", {"kind": "answer", "text": "Here they are."}),
    )
    async with BrowserAgent(model) as agent:
        result = await agent.run("Fares of the ferry to Elba", site.url, schema=Fares)
    assert result.data == WANTED
    assert result.decider.startswith("script:")
    assert result.usage.refused == 0


def invoked(task: str, site: Site, schema: Path) -> Result:
    """The command's end, run with nothing of an event loop that other tests keep."""
    arguments = [task, "--start-url", site.url, "--schema", str(schema)]
    return Context().run(lambda: CliRunner().invoke(command, arguments, standalone_mode=False))


def test_the_command_without_a_model_prints_candidates_and_exits_with_1(tmp_path: Path) -> None:
    schema = tmp_path / "fares.json"
    schema.write_text(json.dumps(Fares.model_json_schema()))
    with Site(pages={"/": FARES}) as site:
        done = invoked("Fares of the ferry to Elba", site, schema)
    assert done.return_value == 1, done.output
    assert "--model" in done.stdout
    assert site.url in done.stdout
