"""The commands `browse` and `demo`, and how they print a run."""
