"""Small tools for looking at the environments: `python -m envs`."""
