"""Who can make each decision from where, as a table that is filled by doing it."""
