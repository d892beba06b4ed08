"""What all tests share."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _compiled_programs_stay_out_of_the_users_cache(tmp_path_factory):
    """Commands keep them on disk; those that tests start share a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
