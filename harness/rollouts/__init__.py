"""Playing episodes, and keeping what was played."""
