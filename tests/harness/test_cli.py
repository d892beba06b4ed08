"""The command line: exit codes, one-line errors, clean streams."""

import json
import os
import subprocess
import sys

import jax
import numpy as np
import probe_command
import pytest

import protocols
from harness import cli
from harness.policies.checkpoint import build_network, save_policy

SMOKE = ["--suite", "smoke", "--episodes", "4"]


def run(capsys, *arguments):
    try:
        code = cli.main([str(one) for one in arguments])
    except SystemExit as stop:  # argparse's way out
        code = stop.code
    streams = capsys.readouterr()
    return code, streams.out, streams.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--policy", "builtin:noop", "--suite", "hrad"], "no suite 'hrad'; did you mean 'hard'?"),
        (["--policy", "no/such/ckpt", *SMOKE], "no policy 'no/such/ckpt'"),
        (["--policy", "builtin:pop", *SMOKE], "no built-in policy 'pop'; did you mean 'ppo'?"),
        (["--policy", "nomodule:act", *SMOKE], "no module 'nomodule'"),
        (["--policy", "json:lods", *SMOKE], "json has no 'lods'; did you mean 'loads'?"),
        (["--policy", "builtin:noop", *SMOKE, "--pair", "nothng"], "did you mean 'nothing'?"),
        (["--policy", "builtin:noop", *SMOKE, "--max-gap", "sucess=1"], "did you mean 'success'?"),
        (["--policy", "builtin:noop", *SMOKE, "--max-gap", "success"], "METRIC=VALUE"),
        (["--policy", "builtin:noop", *SMOKE, "--max-gap", "success=-1"], "at least 0"),
        (["--policy", "builtin:noop", "--suite", "smoke", "--episodes", "0"], "at least 1, got 0"),
        (["--policy", "builtin:noop", "--epsiodes", "3"], "did you mean --episodes?"),
        (["--suite", "smoke"], "--policy is missing"),
        (["--policy", "builtin:noop", "--paper"], "--paper and --step all belong together"),
        (["--policy", "builtin:noop", "--step", "first"], "'first' is not a number"),
        (
            ["--policy", "builtin:ppo", "--paper", "--step", "all", "--max-gap", "success=1"],
            "--paper never gates",
        ),
        (["--policy", "builtin:noop", *SMOKE, "--baseline", "no/run"], "no report 'no/run'"),
        (["--policy", "builtin:noop", *SMOKE, "--max-worsening", "success=1"], "--baseline"),
    ],
)
def test_bad_input_is_one_helpful_line_and_exit_code_2(capsys, arguments, expected):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert expected in err
    assert err.count("\n") == 1


def test_an_output_folder_that_cannot_be_made_is_refused_before_the_run(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, "--policy", "builtin:noop", *SMOKE, "--out", tmp_path / "file" / "x")
    assert code == 2
    assert "cannot be written" in err
    assert "cell" not in err


@pytest.fixture
def probes(monkeypatch):
    monkeypatch.setattr(protocols, "load_suite", probe_command.load_suite)
    return ["--suite", "probes", "--policy", "harness_probes:often_right"]


def test_a_dry_run_says_what_would_run_and_leaves_nothing(capsys, probes, tmp_path):
    """Three sides of at most 200 steps, and the random baseline on the training side."""
    out_folder = tmp_path / "run"
    code, out, _ = run(capsys, *probes, "--episodes", 10, "--dry-run", "--out", out_folder)
    assert code == 0
    assert "every policy fits every side" in out
    assert "3 cells of 10 episodes" in out
    assert "at most 6,000 steps; 1 cell of baselines" in out
    assert "compiling 2 programs " in out
    assert "nothing was evaluated" in out
    assert max(map(len, out.splitlines())) <= 100
    assert not out_folder.exists()


def test_a_dry_run_can_be_read_by_a_program(capsys, probes):
    code, out, _ = run(capsys, *probes, "--episodes", 100, "--dry-run", "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["cells"], data["episodes"], data["most_steps"]) == (3, 100, 60_000)
    assert data["probe"]["episodes"] == 64  # one block
    assert data["seconds"]["run"] >= 6 * data["probe"]["run_s"]  # two blocks on each of three sides


def test_a_dry_run_says_that_a_gate_cannot_be_decided(capsys, probes):
    gate = ["--episodes", 8, "--max-gap", "success=0.1"]
    code, out, _ = run(capsys, *probes, *gate, "--dry-run")
    assert code == 0
    assert "cannot pass a gate at success gap 0.10" in out


def test_a_dry_run_finds_the_same_faults(capsys, probes):
    code, out, err = run(capsys, *probes[:2], "--policy", "harness_probes:aways_right", "--dry-run")
    assert (code, out) == (2, "")
    assert "did you mean 'always_right'?" in err
    code, _, err = run(capsys, *probes, "--dry-run", "--paper", "--step", "all")
    assert code == 2
    assert "--dry-run looks at one checkpoint" in err


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU")
def test_a_device_that_is_not_there_is_one_line(capsys, probes):
    code, out, err = run(capsys, *probes, "--device", "gpu")
    assert (code, out) == (2, "")
    assert "--device gpu: JAX finds no gpu here, only cpu" in err
    assert err.count("\n") == 1


def test_the_device_is_in_the_header_and_verbose_says_where_the_time_went(capsys, probes):
    code, out, err = run(capsys, *probes, "--episodes", 4, "--device", "cpu", "--verbose")
    assert code == 0
    assert " on cpu (" in out.splitlines()[0]
    assert "compiled" in err and "rollouts" in err and "statistics" in err
    assert "━" not in err  # a bar is for terminals


def test_something_is_said_on_a_terminal_before_jax_is_imported():
    code = (
        "import io, sys\n"
        "from harness import cli\n"
        "said = []\n"
        "class Terminal(io.StringIO):\n"
        "    def isatty(self):\n        return True\n"
        "    def write(self, text):\n        said.append((text, 'jax' in sys.modules))\n"
        "sys.stderr = Terminal()\n"
        "assert cli.main(['--policy', 'builtin:noop', '--suite', 'hrad']) == 2\n"
        "assert said[0] == ('heldout: starting jax …', False), said\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_help_lists_the_exit_codes(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "130  interrupted" in out


def test_list_shows_every_suite_and_pair(capsys):
    code, out, _ = run(capsys, "--list")
    assert code == 0
    assert "noise-background" in out
    assert "smoke v1" in out


@pytest.mark.slow
@pytest.mark.parametrize("script", ["random", "noop"])
def test_a_policy_that_learned_nothing_never_passes_a_gate(capsys, script):
    for gate in ("--max-gap", "--max-pair-gap"):
        code, out, _ = run(
            capsys, "--policy", f"builtin:{script}", "--suite", "smoke", gate, "success=1"
        )
        assert code == 3
        assert "INCONCLUSIVE" in out
        assert "untrained" in out


@pytest.mark.slow
def test_json_alone_is_on_stdout_and_the_file_says_the_same(capsys, tmp_path):
    out_folder = tmp_path / "run"
    code, out, err = run(
        capsys, "--policy", "builtin:right-jump", *SMOKE, "--json", "--out", out_folder
    )
    assert code == 0
    assert json.loads(out) == json.loads((out_folder / "report.json").read_text())
    assert "2 cells" in err


@pytest.mark.slow
def test_a_run_is_gated_against_a_saved_one(capsys, tmp_path):
    """The same script on the same levels cannot have changed; too few episodes to prove it."""
    one = ["--policy", "builtin:right-jump", *SMOKE]
    code, _, _ = run(capsys, *one, "--out", tmp_path / "run")
    assert code == 0
    code, out, _ = run(capsys, *one, "--baseline", tmp_path / "run", "--max-worsening", "success=1")
    assert "gate: against the baseline" in out
    assert code in (0, 3)  # untrained scripts never hold
    code, out, _ = run(capsys, *one[:2], "--suite", "smoke", "--pair", "nothing", "--episodes",
                         "4", "--baseline", tmp_path / "run")  # fmt: skip
    assert "INCOMPATIBLE" not in out
    assert code in (0, 3)


@pytest.mark.slow
def test_a_policy_from_a_file_runs_and_one_that_raises_fails_with_4(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import jax.numpy as jnp\n"
        "def act(obs):\n    return jnp.int32(6)\n"
        "def broken(obs, seed, calls=[]):\n"
        "    import numpy as np\n"
        "    obs = np.asarray(obs)\n"
        "    calls.append(1)\n"
        "    if len(calls) > 5:\n        raise RuntimeError('out of luck')\n"
        "    return np.zeros(len(obs), int)\n"
    )
    code, out, _ = run(capsys, "--policy", "mine.py:act", *SMOKE)
    assert code == 0
    assert "policy mine.py:act: 1 training seed, training unverified" in out
    code, _, err = run(capsys, "--policy", "mine.py:broken", *SMOKE)
    assert code == 4
    assert "RuntimeError: out of luck" in err


@pytest.mark.slow
def test_the_module_runs_from_anywhere_without_a_warning(tmp_path):
    (tmp_path / "envs.py").write_text("raise RuntimeError('the wrong envs')")
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "harness.evaluate"]
    done = subprocess.run(
        [*command, "--policy", "builtin:noop", *SMOKE],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("heldout ")
    assert "Warning" not in done.stderr


def save_small_policy(path, steps):
    """An untrained network of a few weights, at full resolution."""
    arguments = {"num_actions": 8, "pool": 8, "widths": [4], "dense": 4}
    network = build_network("reference_agents.networks:patch", arguments)
    shown = np.zeros((1, 128, 128, 3), np.uint8)
    params = jax.jit(network.init)(jax.random.key(steps), shown)["params"]
    save_policy(
        path, params, "reference_agents.networks:patch", arguments, observations=shown,
        num_actions=8, steps=steps,
    )  # fmt: skip


@pytest.mark.slow
def test_the_envelope_over_checkpoints_says_what_it_is(capsys, tmp_path):
    for steps in (100, 200):
        save_small_policy(tmp_path / "seed-0" / f"step-{steps}", steps)
    code, out, _ = run(
        capsys, "--policy", tmp_path, *SMOKE, "--paper", "--step", "all", "--out", tmp_path / "runs"
    )
    assert code == 0
    assert out.startswith("envelope of 2 checkpoints (steps 100, 200)")
    assert "no evidence of a gap" in " ".join(out.split())
    assert sorted(entry.name for entry in (tmp_path / "runs").iterdir()) == ["step-100", "step-200"]


@pytest.mark.slow
def test_the_oracle_proves_that_the_puzzles_held_out_sides_are_solvable(capsys):
    code, out, _ = run(
        capsys, "--policy", "builtin:oracle", "--suite", "puzzle", "--episodes", 4, "--json"
    )
    assert code == 0
    for pair in json.loads(out)["pairs"]:
        success = pair["metrics"]["success"]
        assert (success["train"]["mean"], success["heldout"]["mean"]) == (1, 1)
