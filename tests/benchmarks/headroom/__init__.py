"""The same session through our bounded results and through Headroom, side by side in one run."""
