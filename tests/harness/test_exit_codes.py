"""Every exit code of the table, end to end; through a pipe it is still there."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import probe_command
import pytest

import protocols
from harness import cli

HERE = Path(__file__).parent
RUN = ["--suite", "probes", "--episodes", "64"]
RIGHT, READER, SLIPS = (
    f"harness_probes:{name}" for name in ("always_right", "right_in_training", "often_right")
)


@pytest.fixture
def command(capsys, monkeypatch):
    """Run the command in this process; returns (exit code, stdout, stderr)."""
    monkeypatch.setattr(protocols, "load_suite", probe_command.load_suite)

    def run(*arguments):
        try:
            code = cli.main([str(one) for one in arguments])
        except SystemExit as stop:  # argparse's way out
            code = stop.code
        return code, *capsys.readouterr()

    return run


def from_outside(*arguments, pipe="", **how):
    """Run the command in a shell of its own as CI does: bash with pipefail."""
    words = [sys.executable, str(HERE / "probe_command.py"), *map(str, arguments)]
    line = f"set -euo pipefail; {shlex.join(words)}{pipe}"
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(HERE)}, **how,
    )  # fmt: skip


def test_a_gate_that_holds_is_0(command):
    code, out, _ = command("--policy", RIGHT, *RUN, "--max-gap", "success=0.3")
    assert code == 0
    assert "passed" in out


@pytest.mark.parametrize(
    ("policy", "threshold", "expected", "status"),
    [(READER, "0.1", 1, "fail"), (SLIPS, "0.49", 3, "inconclusive")],
)
def test_a_breach_is_1_and_too_little_evidence_3_and_the_json_says_why(
    command, policy, threshold, expected, status
):
    code, out, _ = command("--policy", policy, *RUN, "--max-gap", f"success={threshold}", "--json")
    data = json.loads(out)
    assert code == data["exit_code"] == expected
    assert data["gates"][0]["status"] == status
    assert data["gates"][0]["reason"]
    assert data["verdict"]["reason"]


@pytest.mark.parametrize("what", ["--suite probse --policy builtin:noop", "--suite probes"])
def test_a_misspelt_suite_and_a_missing_policy_are_2(command, what):
    code, out, err = command(*what.split())
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_a_missing_checkpoint_is_2(command, tmp_path):
    code, out, err = command("--policy", tmp_path / "ckpt", *RUN)
    assert (code, out) == (2, "")
    assert "no policy" in err
    assert list(tmp_path.iterdir()) == []


def broken(obs):
    raise RuntimeError("out of luck")


@pytest.mark.parametrize("gate", [[], ["--max-gap", "success=1"]])
def test_a_policy_that_raises_on_every_call_is_4_and_never_passes(command, gate):
    code, out, err = command("--policy", "test_exit_codes:broken", *RUN, *gate)
    assert (code, out) == (4, "")
    assert "RuntimeError: out of luck" in err
    assert "Traceback" not in err


def test_help_is_0_and_shows_the_table(command):
    code, out, _ = command("--help")
    assert code == 0
    assert cli.EXIT_CODES in out


def test_the_readme_has_the_same_table():
    readme = (HERE.parent.parent / "README.md").read_text()
    shown = re.findall(r"^\| (\d+) \| (.*) \|$", readme, re.MULTILINE)
    plain = [(code, text.replace("`", "").replace("\\|", "|")) for code, text in shown]
    assert plain == re.findall(r"^  (\d+) +(.*)$", cli.EXIT_CODES, re.MULTILINE)


@pytest.mark.slow
def test_a_breach_fails_the_job_through_a_pipe(tmp_path):
    log = tmp_path / "log.txt"
    breach = ["--policy", READER, *RUN, "--max-gap", "success=0.1"]
    done = from_outside(*breach, pipe=f" | tee {log}")
    assert done.returncode == 1
    assert done.stdout == log.read_text()
    assert done.stdout.startswith("heldout ")
    assert "FAILED" in done.stdout
    assert "cells of" in done.stderr


@pytest.mark.slow
def test_json_alone_goes_through_a_pipe_and_notes_do_not():
    reader = shlex.join(
        [sys.executable, "-c", "import json, sys; print(json.load(sys.stdin)['exit_code'])"]
    )
    done = from_outside("--policy", RIGHT, *RUN, "--json", "--verbose", pipe=f" | {reader}")
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert "compiled" in done.stderr


@pytest.mark.slow
def test_an_interrupted_run_is_130(tmp_path):
    """A policy that never answers, stopped once it was asked for the second time."""
    (tmp_path / "waits.py").write_text(
        "import pathlib, time\nimport numpy as np\n"
        "import harness\n"
        "def act(obs):\n"
        "    if not obs.any():\n        return np.ones(len(obs), int)\n"
        "    pathlib.Path('asked').touch()\n    time.sleep(60)\n"
        "wait = harness.policy(act, kind='host-batch')\n"
    )
    words = [sys.executable, HERE / "probe_command.py", "--policy", "waits.py:wait", *RUN]
    running = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(HERE)},
    )  # fmt: skip
    while not (tmp_path / "asked").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (130, "")
    assert "interrupted" in err
    assert "Traceback" not in err
