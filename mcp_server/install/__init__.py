"""Our entry in a host's configuration: written, and undone to the byte. Everything here but `files` is pure: values in, text out.

::

    hosts     which hosts there are: where their file lies on each system, how an entry is shaped
    jsonc     one member put into, or dropped from, JSON text, every other byte left alone
    plan      what installing or uninstalling would do to one file, decided before anything is written
    files     the one writer: back up, replace, restore
"""

__all__: tuple[str, ...] = ()
