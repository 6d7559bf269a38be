"""The fold decision: a tile in place of a stretch of steps."""
