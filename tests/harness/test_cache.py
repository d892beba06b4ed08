"""Programs are compiled once for each that differs, kept on disk, and never needed from there."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from harness_probes import agents, probe_pair, probe_suite

from harness import evaluate
from harness.rollouts.cache import cache_folder, prepare
from harness.rollouts.compiling import Compilations, timing_line
from protocols import Suite, load_suite


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


# -------------------------------------------------------------------------------- the folder


def test_the_folder_is_in_the_users_cache(home, monkeypatch):
    assert cache_folder().parent == home / "heldout" / "jax"
    assert not (home / "heldout").exists()  # asking makes nothing
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the standard says to ignore it
    monkeypatch.setenv("HOME", "/somewhere")
    assert cache_folder().parent == Path("/somewhere/.cache/heldout/jax")


def test_the_folder_is_for_its_owner_only(home):
    assert prepare(cache_folder()) is None
    for folder in (home / "heldout", home / "heldout" / "jax", cache_folder()):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_could_fill_is_not_used(home, monkeypatch):
    """A program from it would run as ours."""
    assert prepare(cache_folder()) is None
    (home / "heldout").chmod(0o777)
    assert "can be written by others" in prepare(cache_folder())
    (home / "heldout").chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert "belongs to somebody else" in prepare(cache_folder())


def test_a_folder_that_cannot_be_made_is_not_used(home):
    (home / "heldout").write_text("in the way")
    assert "cannot be made" in prepare(cache_folder())


# ----------------------------------------------------------------------------------- its use

PROGRAM = """
import jax
from harness.rollouts.cache import use_cache
from harness.rollouts.compiling import Compilations
folder = use_cache()
with Compilations() as found:
    assert jax.jit(lambda x: 3 * x)(2) == 6
print(found.programs.total(), found.cached, folder)
"""


def in_a_new_process(cache_home, **environment):
    usual = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True,
        env={**usual, "XDG_CACHE_HOME": str(cache_home), **environment},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    programs, cached, folder = done.stdout.split()
    return int(programs), int(cached), folder


@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_damage_is_compiled_again(tmp_path):
    programs, cached, folder = in_a_new_process(tmp_path)
    assert cached == 0 < programs
    assert in_a_new_process(tmp_path) == (programs, programs, folder)
    entries = list(Path(folder).iterdir())
    assert entries
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:40])
    assert in_a_new_process(tmp_path) == (programs, 0, folder)


@pytest.mark.slow
def test_without_a_usable_folder_everything_is_compiled_without_a_word(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    programs, cached, folder = in_a_new_process(in_the_way)
    assert (cached, folder) == (0, "None")
    assert programs > 0


@pytest.mark.slow
def test_the_folder_that_jax_was_given_is_used_instead(tmp_path):
    own = str(tmp_path / "own")
    _, _, folder = in_a_new_process(tmp_path / "cache", JAX_COMPILATION_CACHE_DIR=own)
    assert folder == own
    assert not (tmp_path / "cache").exists()


# --------------------------------------------------------------------------------- counting


def test_equal_shapes_are_one_program_and_other_shapes_another():
    @jax.jit
    def tripled(x):
        return 3 * x

    inputs = [jnp.ones(3), jnp.zeros(3), jnp.ones(4)]
    with Compilations() as found:
        for x in inputs:
            tripled(x)
    assert found.programs["tripled"] == 2
    assert found.seconds > 0
    with Compilations() as found:
        tripled(inputs[0])
    assert (found.programs.total(), found.seconds) == (0, 0)


def test_time_inside_other_time_counts_once():
    found = Compilations()
    for start, end in [(0, 10), (2, 3), (9, 12), (20, 21)]:
        found._span("/jax/core/compile/jaxpr_trace_duration", start, end)
    found._span("/jax/something/else", 100, 200)
    assert found.seconds == 13


def test_numbers_are_traced_so_more_pairs_are_no_more_programs():
    evaluate(agents(3), probe_suite(60, 150), episodes=8)
    with Compilations() as found:
        report = evaluate(agents(4), probe_suite(*range(10, 100, 10)), episodes=8)
    assert found.programs.total() == 0
    assert report.timing["programs"] == 0


def test_programs_are_bounded_by_distinct_environments_and_policies():
    """Two horizons are two environments; two policies play: the agent and the random one."""
    pairs = tuple(probe_pair(f"{steps} steps", horizon=steps) for steps in (11, 13))
    report = evaluate(agents(3), Suite("lengths", 1, "", pairs), episodes=8)
    with Compilations() as found:
        again = evaluate(agents(3), Suite("lengths", 1, "", pairs), episodes=8)
    assert 2 <= report.timing["programs"] <= 2 * 2 + 4  # and four small ones of the set-up
    assert found.programs.total() == 0
    assert "compiled 0 programs" in timing_line(again.timing)


@pytest.mark.slow
def test_the_pairs_of_the_whole_benchmark_share_a_dozen_environments():
    suite = load_suite("kage")
    built = {config.build()[0] for pair in suite for config in pair.configs.values()}
    assert len(suite) == 34
    assert len(built) <= 12
