"""The frozen values of a working context."""
