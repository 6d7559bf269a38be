"""The sessions that a server holds open, with their locks, users, subscriptions and browsers."""
