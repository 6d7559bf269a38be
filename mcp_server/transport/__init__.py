"""Runs a server over stdio or HTTP: its start, cancellation and end."""
