"""Our entry in a host's configuration: written, and undone to the byte."""

__all__: tuple[str, ...] = ()
