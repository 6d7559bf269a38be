"""Live pages that a host's model drives call by call, and whole runs that go on in the background."""
