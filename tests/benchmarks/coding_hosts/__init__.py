"""What real coding hosts send after a compaction, with our hooks and without, against a model's double on loopback."""
