"""What all tests share."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _compiled_programs_stay_out_of_the_users_cache(tmp_path_factory):
    """Commands keep them on disk; those that tests start share a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def interruptible():
    """Shells start background jobs with Ctrl-C ignored, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
