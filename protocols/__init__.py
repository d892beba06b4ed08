"""Suites of train/held-out pairs: which configurations are compared, as data."""
