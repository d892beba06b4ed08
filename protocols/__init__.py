"""Suites of train/held-out pairs: which configurations are compared, as data that proves itself."""

from protocols.audit import audit, audit_rollouts
from protocols.loader import load_suite, load_train_config, suite_names, training_configs
from protocols.pair import Pair, Suite

__all__ = [
    "Pair",
    "Suite",
    "audit",
    "audit_rollouts",
    "load_suite",
    "load_train_config",
    "suite_names",
    "training_configs",
]
