"""What browsing with a model costs beside the same run with lean pages appended and nothing folded."""
