"""Scripts for the scripted model, and a run of one against a site."""

import json
from pathlib import Path
from typing import Any

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import RunResult, Safety, StepTaken
from browser_agent.agent.settings import Keeping, RunLimits, Watching


def decide(thought: str, *actions: dict[str, Any], fold: str | None = None) -> dict[str, Any]:
    """One decision as a model would give it."""
    return {"thought": thought, "actions": list(actions), **({"fold": {"summary": fold}} if fold else {})}


def script(folder: Path, *decisions: dict[str, Any]) -> str:
    """The name of a model that decides so."""
    file = folder / "script.jsonl"
    file.write_text("\n".join(json.dumps(decision) for decision in decisions), encoding="utf-8")
    return f"script:{file}"


async def browse(
    task: str,
    start_url: str | None,
    model: str = "explorer",
    keeping: Keeping | None = None,
    limits: RunLimits | None = None,
    safety: Safety | None = None,
) -> tuple[RunResult, list[StepTaken]]:
    """One run, and what was told of its steps."""
    told: list[StepTaken] = []
    async with BrowserAgent(model, 8000, limits, None, keeping, safety) as agent:
        return await agent.run(task, start_url, Watching(step=told.append)), told
