"""What all tests of the harness share."""

import pytest
from harness_probes import ProbeConfig

import envs


@pytest.fixture(autouse=True, scope="session")
def _probe_is_an_environment():
    """Stored reports name their environment; the probe has to be found as well."""
    envs.CONFIGS["probe"] = ProbeConfig
    yield
    del envs.CONFIGS["probe"]
