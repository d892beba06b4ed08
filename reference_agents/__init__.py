"""Reference agents, trained through the same public interfaces that users have."""
