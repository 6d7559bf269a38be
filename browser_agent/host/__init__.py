"""Browsing for a host: live pages that a host's model drives call by call, and whole runs that go on in the background.

::

    reach    which address may be opened at a host's word
    page     one live page: guarded, acted on, written down in full
    pages    the live pages of one host, one a session
    runs     runs under way, each with a name to ask after it by

It knows no protocol. A session's handle is lent to it (`SessionLease`), one piece of work at a time, by whoever holds it.
"""
