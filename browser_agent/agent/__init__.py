"""Running one task from start to end: the loop, its record in a session, its to-do, its settings and its result."""
