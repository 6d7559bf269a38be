"""Records, steps, refs, and the full form of a record as lines."""
