"""A workspace as text within a budget."""
