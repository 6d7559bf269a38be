"""What chooses the next step of a run: a model, the explorer that needs none, or a decider for answers with a JSON schema."""
