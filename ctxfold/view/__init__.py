"""Turns a workspace into text that fits a budget."""
