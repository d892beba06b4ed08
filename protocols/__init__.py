"""Suites of train/held-out pairs: which configurations are compared, as data that proves itself."""

from protocols.audit import audit
from protocols.loader import load_suite, load_train_config, suite_names, training_configs
from protocols.pair import Pair, Suite

__all__ = [
    "Pair",
    "Suite",
    "audit",
    "load_suite",
    "load_train_config",
    "suite_names",
    "training_configs",
]
