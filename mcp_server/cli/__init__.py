"""The commands `serve`, `install` and `uninstall`."""
