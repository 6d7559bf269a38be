"""Who decides a step of a run: the protocol, a model, the explorer, and the decider for an answer with a schema."""
