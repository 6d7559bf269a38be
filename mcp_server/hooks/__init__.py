"""What a coding host runs at its hooks: long results are bounded, and what a compaction left out is put back.

Nothing is imported here: most hooks end before anything needs to be.
"""

__all__: tuple[str, ...] = ()
