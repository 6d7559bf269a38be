"""Records, steps, refs, and the compact rendering of a record into lines with ledger keys."""
