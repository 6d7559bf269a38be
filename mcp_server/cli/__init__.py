"""The commands `serve`, `wrap`, `install` and `uninstall`."""
