"""From what a user names to policies that can be played: checkpoints, functions, files, servers."""
