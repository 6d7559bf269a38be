"""A browser agent whose every observation is budgeted and whose every step is recorded in full.

This package owns the browser: pages become frozen observations, actions are applied to them, and the loop decides what
comes next. It knows no MCP and no storage; a `ctxfold.Session` keeps the log.
"""
