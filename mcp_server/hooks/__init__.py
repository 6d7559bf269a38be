"""The command that coding hosts run at their hooks: it bounds long results and gives the view back after a compaction.

Nothing is imported here: most hooks end before anything is needed.
"""
