"""Playwright and the browser process: found or installed, launched, reaped, and one window with its events."""
