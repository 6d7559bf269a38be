"""A task from end to end: the run loop, its journal in a session, its to-do, its settings and its result."""
