"""A run that was stopped goes on where it was, to the report of one that was not."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import (
    agent,
    agents,
    always_right,
    probe_pair,
    probe_suite,
    probe_sweep,
    probe_widening,
    widened_agents,
)
from tiny_run import contents, timeless

import harness
import protocols
from envs.errors import InputError
from harness import cli, evaluate, load_report
from harness.policies.sources import load_policies
from harness.policy import policy
from harness.reporting.export import dump, to_dict
from harness.rollouts import atomic, measure
from harness.rollouts.measure import Watcher
from harness.run import Settings, as_suite, run

pytestmark = pytest.mark.slow

EPISODES = 6
UNVERIFIED = (
    "agent has no fingerprint: its code is the same as before, what else it reads is unverified"
)


class Killed(BaseException):
    """As SIGKILL: nothing that comes after it happens."""


@pytest.fixture
def played(monkeypatch):
    """Count the cells that are played; set `limit` to be killed before the next one."""

    class Played(list):
        limit = None

    calls, real = Played(), measure.play

    def play(env, params, one, **settings):
        if len(calls) == calls.limit:
            raise Killed
        calls.append((one.name, settings["training_seed"]))
        return real(env, params, one, **settings)

    monkeypatch.setattr(measure, "play", play)
    return calls


def same(report, other):
    first, second = (to_dict(one) for one in (report, other))
    first.pop("timing"), second.pop("timing")
    return dump(first) == dump(second)


CASES = {
    "suite": lambda: (agents(2), probe_suite(60, 150)),
    "sweep": lambda: (agents(2), probe_sweep()),
    "widening": lambda: (widened_agents(2), probe_widening()),
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_killed_before_any_cell_continues_to_the_same_report(case, played, tmp_path):
    """Between any two cells; each start with another number of environments."""
    policies, what = CASES[case]()
    go = partial(evaluate, policies, what, episodes=EPISODES, policy_shift=case == "suite")
    whole = go(out=tmp_path / "whole")
    total = len(played)
    assert same(whole, go())
    for place, limit in enumerate(range(0, total, 5)):
        out = tmp_path / str(limit)
        played.clear()
        played.limit = limit
        with pytest.raises(Killed):
            go(out=out, num_envs=1 + place)
        played.clear()
        played.limit = None
        resumed = go(out=out, num_envs=300)
        assert len(played) == total - limit
        assert same(resumed, whole)
        assert contents(out).keys() == contents(tmp_path / "whole").keys()


def test_the_same_command_many_times_plays_every_cell_once(played, tmp_path):
    """Killed after each cell, started again each time: nothing is played twice."""
    go = partial(evaluate, agents(2), probe_suite(150), episodes=EPISODES, out=tmp_path)
    for _ in range(40):
        played.limit = len(played) + 1
        try:
            go()
        except Killed:
            continue
        break
    played.limit = None
    cells = len(list((tmp_path / "cells").iterdir()))
    assert cells == len(played) == 4 + 2 + 1  # policies, baseline, self-test
    assert same(load_report(tmp_path), evaluate(agents(2), probe_suite(150), episodes=EPISODES))


def test_two_equal_runs_give_equal_files_apart_from_timing(tmp_path):
    for name in ("one", "other"):
        evaluate(agents(2), probe_suite(150), episodes=EPISODES, out=tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "other")
    cells = list((tmp_path / "one" / "cells").iterdir())
    for file in [*cells, tmp_path / "one" / "report.json"]:
        text = file.read_bytes()
        assert len(text) > len(timeless(text)) > 0  # times stand on one line, and can be removed
        assert json.loads(text).keys() - json.loads(timeless(text)).keys() == {"timing"}


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evaluate(always_right, probe_pair(), episodes=2)
    assert list(tmp_path.iterdir()) == []


def test_a_finished_run_plays_nothing_and_keeps_its_report(played, tmp_path):
    go = partial(evaluate, agents(1), probe_suite(150), episodes=EPISODES, out=tmp_path)
    first = go()
    before, calls = (tmp_path / "report.json").read_bytes(), len(played)
    again = go(num_envs=1)
    assert len(played) == calls
    assert (tmp_path / "report.json").read_bytes() == before == dump(to_dict(again)).encode()
    assert str(again) == str(first) == str(load_report(tmp_path))


def test_another_gate_judges_the_same_cells_again(played, tmp_path):
    go = partial(evaluate, agents(2), probe_suite(150), episodes=EPISODES, out=tmp_path)
    assert go().gates == ()
    calls = len(played)
    judged = go(max_gap={"success": 0.0})
    assert len(played) == calls
    assert judged.gates[0].status == load_report(tmp_path).gates[0].status


def test_a_policy_shift_asked_for_later_plays_only_that(played, tmp_path):
    go = partial(evaluate, agents(1), probe_suite(150), episodes=EPISODES, out=tmp_path)
    go()
    calls = len(played)
    report = go(policy_shift=True)
    assert len(played) == calls
    assert report.records.shift["grey-150"]["heldout"]["share"] is not None


def test_episodes_that_are_not_finite_are_kept_as_such(monkeypatch, tmp_path):
    real = measure.play

    def play(*arguments, **settings):
        batch = real(*arguments, **settings)
        columns = {**batch.columns, "success": np.full(batch.episodes, np.inf)}
        return replace(batch, columns=columns)

    monkeypatch.setattr(measure, "play", play)
    go = partial(evaluate, agents(1), probe_suite(150), episodes=EPISODES)
    report = go(out=tmp_path)
    assert report.exit_code == 4
    assert same(report, go(out=tmp_path))


def test_a_cell_whose_policy_changed_its_weights_is_not_kept(tmp_path):
    def drifting(weights, carry, obs, key):
        weights["steps"] += 1
        return np.ones(len(obs), int), carry

    for _ in range(2):
        one = harness.Policy("drifting", drifting, "host-batch", {"steps": np.zeros(1)},
                             origin={"path": "ckpt"}, declared=True)  # fmt: skip
        with pytest.raises(harness.RunError, match="drifting changed its weights or statistics"):
            evaluate(one, probe_pair(), episodes=2, out=tmp_path)
        assert list((tmp_path / "cells").iterdir()) == []


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"episodes": 7}, "settings.episodes is 6 there, 7 here"),
        ({"seed": 1}, "settings.seed is 0 there, 1 here"),
        ({"what": probe_suite(60)}, r"suite.digest is [0-9a-f]{12} there, [0-9a-f]{12} here"),
        ({"policy": agents(2)}, "policies.probe seed 1 is missing there, present here"),
        ({"policy": agents(1, base=0.03)}, "policies.probe seed 0.unverified_code is .* there, "),
        ({"policy": [agent(fingerprint="f")]}, "policies.probe seed 0.fingerprint is None there"),
        ({"policy": [agent(actions="greedy")]}, "seed 0.actions is own there, greedy here"),
    ],
)
def test_another_measurement_in_the_same_folder_is_refused(changed, expected, tmp_path):
    setting = {"policy": agents(1), "what": probe_suite(150), "episodes": 6, "out": tmp_path}
    evaluate(**setting)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=expected) as refused:
        evaluate(**{**setting, **changed})
    assert "\n" not in str(refused.value)
    assert contents(tmp_path) == before


def test_policies_in_python_keep_their_batch_size(tmp_path):
    """Some networks round otherwise in other batches, so for these it decides the numbers."""

    def act(obs, seed):
        return np.ones(len(obs), int)

    host = policy(act, kind="host-batch")
    evaluate(host, probe_pair(), episodes=3, num_envs=3, out=tmp_path)
    with pytest.raises(InputError, match=r"settings.num_envs is 3 there, 2 here"):
        evaluate(host, probe_pair(), episodes=3, num_envs=2, out=tmp_path)


def test_another_version_or_device_is_refused(tmp_path, monkeypatch):
    evaluate(always_right, probe_pair(), episodes=2, out=tmp_path)
    real = harness.run.provenance

    def elsewhere(command):
        facts = real(command)
        return {**facts, "versions": {**facts["versions"], "jax": "0.9"}}

    monkeypatch.setattr("harness.run.provenance", elsewhere)
    with pytest.raises(InputError, match=r"versions.jax is \S+ there, 0.9 here"):
        evaluate(always_right, probe_pair(), episodes=2, out=tmp_path)


def test_a_run_that_was_continued_on_another_machine_names_both(played, tmp_path, monkeypatch):
    played.limit = 2
    with pytest.raises(Killed):
        notes_of(agents(1), probe_suite(150), tmp_path)
    played.limit = None
    first = json.loads((tmp_path / "manifest.json").read_text())["machine"]
    monkeypatch.setattr("harness.rollouts.manifest._cpu_model", lambda: "Z80")
    assert f"begun on {first}, continued on Z80: last digits may differ" in notes_of(
        agents(1), probe_suite(150), tmp_path
    )
    assert load_report(tmp_path).provenance["device"]["cpu"] == f"{first}, Z80"


def test_an_unfinished_run_is_no_report_and_says_so(played, tmp_path):
    played.limit = 2
    with pytest.raises(Killed):
        evaluate(agents(1), probe_suite(150), episodes=EPISODES, out=tmp_path)
    with pytest.raises(InputError, match=r"the run is not finished; its command goes on"):
        load_report(tmp_path)


# ------------------------------------------------------------------------------ what is said


class Notes(Watcher):
    def __init__(self):
        self.lines = []

    def note(self, text):
        self.lines.append(text)

    def reported(self, file):
        self.lines.append(f"report: {file}")


def notes_of(source, suite, out):
    notes = Notes()
    suite = as_suite(suite)
    env, _ = suite.pairs[0].train.build()
    run(load_policies(source, env=env), suite, Settings(episodes=EPISODES), notes, out=out)
    return notes.lines


def test_it_is_said_what_was_found(played, tmp_path):
    played.limit = 3
    with pytest.raises(Killed):
        notes_of(agents(2), probe_suite(60, 150), tmp_path)
    played.limit = None
    damaged = next((tmp_path / "cells").glob("policy-probe-probe-0-*.json"))
    damaged.write_text("{")
    lines = notes_of(agents(2), probe_suite(60, 150), tmp_path)
    assert lines == [
        f"{damaged} is damaged; it is played again",
        f"{tmp_path} holds 2 finished cells and 0 of baselines; they are not played again",
        UNVERIFIED,
        f"report: {tmp_path / 'report.json'}",
    ]
    assert notes_of(agents(2), probe_suite(60, 150), tmp_path)[0] == (
        f"{tmp_path} holds every cell; nothing is played again"
    )


def stopped_when(command, folder, cells, how):
    """Send a signal as soon as so many cells are finished, and return how the command ended."""
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as started:
        while started.poll() is None:
            there = len(list(folder.glob("cells/*.json")))
            if (folder / "manifest.json").exists() and there >= cells:
                started.send_signal(how)
                break
            time.sleep(0.001)
    return started.returncode


def smoke(out):
    return ["--policy", "builtin:noop", "--suite", "smoke", "--episodes", "1", "--out", str(out)]


def test_the_command_ends_in_one_line_whatever_stops_it(tmp_path, monkeypatch, capsys):
    """Interrupted, terminated, out of disk space: what is finished stays, and it goes on."""
    real, kept = measure.play, "1 finished cell in " + str(tmp_path / "run")
    calls = []
    command = ["--policy", "harness_probes:always_right", "--suite", "probes", "--episodes", "1",
               "--out", str(tmp_path / "run")]  # fmt: skip

    def stopping(stop):
        def play(*arguments, **settings):
            calls.append(1)
            if len(calls) == 2:
                stop()
            return real(*arguments, **settings)

        return play

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def terminate():
        os.kill(os.getpid(), signal.SIGTERM)

    def fill_the_disk():
        monkeypatch.setattr(atomic.os, "write", full)

    def interrupt_where_it_is_lost():
        with contextlib.suppress(KeyboardInterrupt):  # as in a callback of a library
            signal.raise_signal(signal.SIGINT)

    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    for stop, code, expected in [
        (partial(signal.raise_signal, signal.SIGINT), 130, f"interrupted; {kept}"),
        (terminate, 130, "interrupted; 2 finished cells in "),
        (interrupt_where_it_is_lost, 130, "interrupted; 3 finished cells in "),
        (fill_the_disk, 4, "No space left on device; 4 finished cells in "),
    ]:
        calls.clear()
        with monkeypatch.context() as patch:
            patch.setattr(measure, "play", stopping(stop))
            patch.setattr(protocols, "load_suite", lambda name: probe_suite(150, 200, name=name))
            assert cli.main(command) == code
        monkeypatch.undo()
        error = capsys.readouterr().err.splitlines()[-1]
        assert expected in error
        assert error.startswith("heldout: ")
        assert error.endswith("the same command goes on from there")
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == handlers
    monkeypatch.setattr(protocols, "load_suite", lambda name: probe_suite(150, 200, name=name))
    assert cli.main(command) == 0


def test_the_real_command_killed_for_good_goes_on(tmp_path):
    """SIGTERM when it has begun, kill -9 as soon as three cells are there; then with other
    environments."""
    command = [sys.executable, "-m", "harness.evaluate", *smoke(tmp_path / "run")]
    whole = subprocess.run(
        [*command[:-1], str(tmp_path / "whole")], capture_output=True, text=True, check=True
    )
    assert stopped_when(command, tmp_path / "run", 0, signal.SIGTERM) == 130
    assert stopped_when(command, tmp_path / "run", 3, signal.SIGKILL) == -9
    again = subprocess.run([*command, "--num-envs", "64"], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert again.stdout == whole.stdout
    reports = [
        json.loads((tmp_path / name / "report.json").read_text()) for name in ("run", "whole")
    ]
    for report in reports:
        report.pop("timing"), report["provenance"].pop("command")
    assert reports[0] == reports[1]


def test_the_same_function_made_again_continues_and_an_edited_one_does_not(tmp_path):
    def make(chance):
        return lambda obs, key: jnp.where(jax.random.uniform(key) < chance, 1, 0)

    go = partial(evaluate, what=probe_pair(), episodes=2, out=tmp_path)
    go(make(0.5))
    go(make(0.5))
    with pytest.raises(InputError, match="unverified_code"):
        go(make(0.6))
