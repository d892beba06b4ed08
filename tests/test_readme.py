"""Every command of the README runs, and what it prints is what the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()

# How each command is run here: with what added (to be quick), and the exit codes it may have.
# Set-up commands are what CI itself does.
SET_UP = ("git clone", "pip install", "python -m pytest")
QUICK = {
    "python -m harness.evaluate --policy builtin:ppo --suite hard": (
        ["--episodes", "4", "--pair", "red-ground"],
        {0},
    ),
    "python -m harness.evaluate --policy builtin:ppo --suite hard --max-gap success=0.10": (
        ["--episodes", "4", "--pair", "hue-180"],
        {1, 3},
    ),
    "python -m reference_agents.train --train-config base --seeds 0 1 2 --out ckpt/": (
        ["--steps", "8192"],
        {0},
    ),
    "python -m harness.evaluate --policy ckpt/ --suite hard --out runs/mine": (
        ["--episodes", "4", "--pair", "hue-180"],
        {0},
    ),
}


def commands():
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", README, re.DOTALL)
    for block in blocks:
        for line in block.splitlines():
            text = line.removeprefix("$ ").split("#")[0].strip()
            if text.startswith(("python", "pip", "git", "heldout")):
                yield from (part.strip() for part in text.split("&&") if "cd " not in part)


def test_every_command_is_known_here():
    found = set(commands())
    known = set(QUICK) | {one for one in found if one.startswith(SET_UP)}
    assert found == known


@pytest.mark.slow
def test_the_commands_run_one_after_another_in_an_empty_folder(tmp_path):
    order = [one for one in dict.fromkeys(commands()) if one in QUICK]
    for command in order:
        added, codes = QUICK[command]
        words = [sys.executable, *command.split()[1:], *added]
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, env={**os.environ}
        )
        assert done.returncode in codes, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_the_python_examples_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"


def test_the_readme_stays_short():
    assert len(README.splitlines()) < 200


def test_the_output_shown_is_the_recorded_report():
    from harness import load_report

    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL).group(1)
    assert shown.strip() == str(load_report(ROOT / "results" / "hard-ppo")).strip()
