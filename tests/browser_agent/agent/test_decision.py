"""The decision is one value whose schema is derived, and says what a model may do."""

import pytest
from pydantic import ValidationError

from browser_agent.deciders import Decision


def test_the_schema_names_every_action_and_demands_a_thought_and_actions():
    schema = Decision.model_json_schema()
    assert set(schema["required"]) == {"thought", "actions"}
    kinds = set(schema["properties"]["actions"]["items"]["discriminator"]["mapping"])
    assert {"navigate", "click", "type", "read", "find", "answer", "give_up"} <= kinds


def test_an_end_stands_alone():
    with pytest.raises(ValidationError, match="come alone"):
        Decision.model_validate(
            {"thought": "both", "actions": [{"kind": "back"}, {"kind": "answer", "text": "42"}]},
        )


def test_a_fold_rides_on_a_decision():
    decision = Decision.model_validate(
        {"thought": "on", "fold": {"summary": "Found nothing.", "first_step": 2}, "actions": [{"kind": "back"}]}
    )
    assert decision.fold is not None
    assert (decision.fold.first_step, decision.fold.summary) == (2, "Found nothing.")
