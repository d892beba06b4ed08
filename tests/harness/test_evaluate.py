"""From policies and a pair to a report: known answers, verdicts, gates, files."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import ProbeConfig, always_right, often_right, probe_pair, right_in_training

import harness
from envs.errors import InputError
from harness import evaluate
from harness.policy import policy
from harness.reporting.export import dump, to_dict, write_report
from protocols import Pair, Suite


def seeds_of(function, count=3):
    return [function] * count


def trained_on(function, config, name="probe"):
    return harness.Policy(
        name="trained", apply=policy(function).apply, seed=0,
        train={"name": name, "digest": config.digest},
    )  # fmt: skip


def test_a_policy_that_ignores_the_picture_has_no_gap():
    report = evaluate(seeds_of(always_right), probe_pair(), episodes=32)
    gap = report.pairs[0].gap["success"]
    assert gap.point == 0
    assert gap.low < 0 < gap.high
    assert report.pairs[0].gap["return"].point == 0


def test_a_policy_that_reads_the_picture_loses_everything():
    report = evaluate(seeds_of(right_in_training), probe_pair(), episodes=32)
    result = report["grey"]
    assert result.results["success"].train.mean == 1
    assert result.results["success"].heldout.mean == 0
    assert result.gap["success"].point == 1
    assert result.verdict.name == "consistent-gap"


def test_gap_keeps_its_sign():
    def right_when_held_out(obs, key):
        return jnp.where(obs[0, 0, 0] < 100, 0, 1)

    gap = evaluate(seeds_of(right_when_held_out), probe_pair(), episodes=16).pairs[0].gap
    assert gap["success"].point == -1


def test_a_known_chance_of_failing_lies_in_the_interval():
    """Three steps, each wrong with probability 0.2: success 0.512 on the held-out side."""
    report = evaluate(often_right, probe_pair(), episodes=512)
    gap = report.pairs[0].gap["success"]
    assert gap.scope == "checkpoint"
    assert gap.low < 1 - 0.8**3 < gap.high
    assert gap.width < 0.1


def test_equal_sides_give_exactly_zero_for_a_sampling_policy_too():
    """Keys, and with them sampled actions, are the same on both sides of a pair."""
    report = evaluate(often_right, probe_pair(kind="null", grey=200.0), episodes=64)
    assert report.pairs[0].gap["success"].point == 0


def test_one_seed_speaks_of_this_checkpoint_only():
    report = evaluate(right_in_training, probe_pair(), episodes=32)
    assert report.pairs[0].verdict.name == "checkpoint-gap"
    assert report.pairs[0].gap["success"].scope == "checkpoint"
    assert "this checkpoint only" in str(report)


def test_a_side_that_pairs_share_is_rolled_out_once():
    first, second = probe_pair("a", grey=150.0), probe_pair("b", grey=200.0)
    report = evaluate(seeds_of(always_right), Suite("two", 1, "", (first, second)), episodes=4)
    assert len(report.cells) == 3 * 3  # three sides, three seeds
    assert report.mean["success"].interval.point == 0


def test_a_policy_trained_on_the_held_out_side_makes_the_pair_invalid():
    pair = probe_pair()
    report = evaluate(trained_on(always_right, pair.heldout["heldout"]), pair, episodes=16)
    assert report.pairs[0].verdict.name == "invalid"
    assert "trained on the held-out side" in report.pairs[0].training
    assert report.exit_code == 4


def test_a_policy_trained_elsewhere_makes_the_pair_invalid():
    stranger = trained_on(always_right, ProbeConfig(grey=33.0), "elsewhere")
    report = evaluate(stranger, probe_pair(), episodes=16)
    assert report.pairs[0].verdict.name == "invalid"
    assert "'elsewhere', not on 'probe'" in report.pairs[0].training


def test_training_is_verified_by_digest_and_else_called_unverified():
    pair = probe_pair()
    assert evaluate(trained_on(always_right, pair.train), pair).pairs[0].training == "verified"
    assert evaluate(always_right, pair).pairs[0].training == "unverified"


@pytest.mark.parametrize(
    ("function", "threshold", "status", "code"),
    [
        (always_right, 0.1, "pass", 0),
        (right_in_training, 0.1, "fail", 1),
        (lambda obs, key: jnp.int32(0), 0.1, "inconclusive", 3),  # learned nothing: untrained
        (often_right, 0.49, "inconclusive", 3),
    ],
)
def test_the_gate_has_three_outcomes(function, threshold, status, code):
    gate = {"max_gap": {"success": threshold}}
    report = evaluate(seeds_of(function), probe_pair(), episodes=64, **gate)
    assert report.gates[0].status == status
    assert report.exit_code == code
    every = evaluate(seeds_of(function), probe_pair(), episodes=64,
                     max_pair_gap={"success": threshold})  # fmt: skip
    assert every.exit_code == code


def test_an_inconclusive_gate_exits_as_asked():
    for wanted, code in [("pass", 0), ("fail", 1), ("exit3", 3)]:
        report = evaluate(
            seeds_of(often_right), probe_pair(), episodes=64, max_gap={"success": 0.49},
            on_inconclusive=wanted,
        )  # fmt: skip
        assert report.exit_code == code


def test_an_unknown_metric_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="no metric 'succes'; did you mean 'success'"):
        evaluate(always_right, probe_pair(), max_gap={"succes": 0.1})


def test_zero_episodes_are_refused():
    with pytest.raises(InputError, match="at least 1, got 0"):
        evaluate(always_right, probe_pair(), episodes=0)


def test_two_runs_give_equal_files_apart_from_timing():
    texts = []
    for _ in range(2):
        data = to_dict(evaluate(seeds_of(often_right), probe_pair(), episodes=20))
        data.pop("timing")
        texts.append(dump(data))
    assert texts[0] == texts[1]


def test_the_file_is_strict_json_and_holds_every_episode(tmp_path):
    report = evaluate(seeds_of(often_right), probe_pair(), episodes=20)
    text = write_report(report, tmp_path / "out").read_text()
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the file"))
    assert data["schema_version"] == 1
    assert len(data["cells"]) == 6
    heldout = [cell for cell in data["cells"] if cell["name"] == "grey"]
    means = [np.mean(cell["episodes"]["success"]) for cell in heldout]
    stored = data["pairs"][0]["metrics"]["success"]["heldout"]["per_seed"]
    assert stored == pytest.approx(means)
    assert data["pairs"][0]["metrics"]["success"]["gap"]["point"] == pytest.approx(
        1 - np.mean(means)
    )
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["report.json"]


def test_a_report_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(InputError, match=r"already holds report.json but no manifest.json"):
        evaluate(always_right, probe_pair(), episodes=1, out=tmp_path)


def test_the_table_fits_a_hundred_columns_and_names_every_pair():
    names = ("a", "a-pair-with-a-long-name")
    pairs = tuple(probe_pair(name, grey=150.0 + i) for i, name in enumerate(names))
    text = str(evaluate(seeds_of(often_right), Suite("two", 1, "", pairs), episodes=16))
    assert all(name in text for name in names)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "nan" not in text


def test_the_module_stays_callable_after_it_was_imported_as_a_module():
    import harness.evaluate as module

    assert module is evaluate
    assert module(always_right, probe_pair(), episodes=2).pairs[0].gap["success"].point == 0


def test_several_held_out_sides_average_within_a_seed():
    train = ProbeConfig()
    sides = {"dark": train.replace({"grey": 50.0}), "bright": train.replace({"grey": 200.0})}
    pair = Pair("two-sides", "background", "probe", train, sides)
    report = evaluate(seeds_of(right_in_training), pair, episodes=16)
    assert report.pairs[0].gap["success"].point == 0.5
    assert report.pairs[0].results["success"].sides["bright"].interval.point == 1
