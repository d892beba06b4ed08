"""Folders of the user's that are called as ours are: both sides see their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from envs.errors import InputError
from harness.policies.importing import attribute, own_attribute
from harness.policies.sources import load_policies

FILES = {
    "envs/__init__.py": "WHOSE = 'theirs'\n",
    "envs/maze.py": "from envs import WHOSE\nSIZE = 7\n",
    "protocols.py": "WHOSE = 'theirs'\n",
    "helper.py": "import envs\nWHOSE = envs.WHOSE\n",
    "mine.py": (
        "import envs, protocols, helper\n"
        "from envs.maze import SIZE\n"
        "SEEN = (envs.WHOSE, protocols.WHOSE, helper.WHOSE, SIZE)\n"
        "def act(obs):\n"
        "    return 1 if envs.WHOSE == 'theirs' else 0\n"
    ),
}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """A folder with packages called as ours are, where the user stands."""
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("helper", "mine", "agents", "agents.net"):
        sys.modules.pop(name, None)


def modules(name):
    return {key: one for key, one in sys.modules.items() if key.partition(".")[0] == name}


@pytest.mark.parametrize("spelling", ["mine.py:SEEN", "{}/mine.py:SEEN", "mine:SEEN"])
def test_a_policy_file_sees_its_own_envs_and_ours_stay_ours(theirs, spelling):
    before = {name: modules(name) for name in ("envs", "protocols", "harness")}
    path = list(sys.path)
    assert attribute(spelling.format(theirs)) == ("theirs", "theirs", "theirs", 7)
    assert {name: modules(name) for name in before} == before
    assert sys.path == path
    import envs

    assert envs.InputError is InputError


def test_the_policy_keeps_its_envs_when_it_acts(theirs):
    (one,) = load_policies("mine.py:act", env=None)
    assert one.apply(None, None, "obs", "key")[0] == 1


def test_a_file_in_a_folder_sees_the_packages_where_the_user_stands(theirs):
    write(theirs, {"agents/net.py": "from envs.maze import SIZE\n"})
    assert attribute("agents/net.py:SIZE") == 7
    assert attribute("agents.net:SIZE") == 7


def test_a_policy_that_uses_our_packages_gets_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"ours.py": "import envs, harness\nKNOWN = envs.InputError, harness\n"})
    import harness

    assert attribute("ours.py:KNOWN") == (InputError, harness)


def test_a_package_called_harness_is_theirs_for_their_file_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {
        "harness/__init__.py": "WHOSE = 'theirs'\n", "net.py": "from harness import WHOSE\n"
    })  # fmt: skip
    before = modules("harness")
    assert attribute("net.py:WHOSE") == "theirs"
    assert modules("harness") == before


def test_a_file_that_fails_leaves_everything_in_place(theirs):
    write(theirs, {"broken.py": "import envs\nraise KeyError('no luck')\n"})
    before = {name: modules(name) for name in ("envs", "protocols")}
    with pytest.raises(InputError, match=r"broken\.py failed: KeyError: 'no luck'"):
        attribute("broken.py:act")
    assert {name: modules(name) for name in before} == before
    assert not any(name.startswith("policy_file_broken") for name in sys.modules)


def test_a_changed_file_is_read_again_and_an_equal_one_is_not(tmp_path):
    file = tmp_path / "net.py"
    file.write_text("VALUE = [1]\n")
    first = attribute(f"{file}:VALUE")
    assert attribute(f"{file}:VALUE") is first
    file.write_text("VALUE = [2]\n")
    os.utime(file, ns=(1, 1))
    assert attribute(f"{file}:VALUE") == [2]


def test_what_is_ours_never_comes_from_where_the_user_stands(tmp_path, monkeypatch):
    """A checkpoint may name our factories, so a folder called as ours must not provide them."""
    from harness.policies.checkpoint import build_network
    from reference_agents.bundled import ppo

    trap = "raise RuntimeError('the wrong reference_agents')\n"
    write(tmp_path, {"reference_agents/__init__.py": trap, "envs/__init__.py": trap})
    monkeypatch.chdir(tmp_path)
    assert own_attribute("reference_agents.bundled:ppo") is ppo
    network = build_network("reference_agents.networks:patch", {"num_actions": 17})
    assert network.num_actions == 17
    with pytest.raises(InputError, match="nothing of ours is called"):
        own_attribute("reference_agents.missing:make")


def listed(command, folder):
    done = subprocess.run(
        [*command, "--list"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "smoke v1" in done.stdout


def test_the_module_runs_where_envs_and_protocols_are_others(theirs):
    listed([sys.executable, "-m", "harness.evaluate"], theirs)


def test_the_console_script_runs_where_even_harness_is_anothers(theirs):
    write(theirs, {"harness/__init__.py": "raise RuntimeError('the wrong harness')\n"})
    script = Path(sys.executable).with_name("heldout")
    main = "from harness.evaluate import main; main()"
    listed([script] if script.exists() else [sys.executable, "-P", "-c", main], theirs)
