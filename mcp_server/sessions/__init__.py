"""Open sessions by name and principal, with their locks, tokens, subscriptions and browsers."""
