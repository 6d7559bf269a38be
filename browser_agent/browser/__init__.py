"""The browser: found or installed, started and ended, with its windows and their events."""
