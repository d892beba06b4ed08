"""Two policies side by side."""

import json

import pytest
from harness_probes import agents, probe_suite

from envs.errors import InputError
from harness import compare as command
from harness import evaluate
from harness.compare import compare, render
from harness.reporting.export import write_report

SUITE = probe_suite(60, 150)


@pytest.fixture(scope="module")
def reports():
    return {
        name: evaluate(agents(5, slope=slope), SUITE, episodes=64)
        for name, slope in (("steady", 0.05), ("easily disturbed", 0.5))
    }


def test_the_better_policy_is_better_on_every_pair_and_on_their_mean(reports):
    found = compare(reports["steady"], reports["easily disturbed"])
    assert list(found.pairs) == ["grey-60", "grey-150"]
    for one in (*found.pairs.values(), found.mean):
        assert one.difference.low > 0
        assert one.improvement.point == 1
        assert one.improvement.low < 1
    assert found.shared_levels


def test_the_order_turns_the_sign(reports):
    first, second = reports.values()
    one, other = compare(first, second), compare(second, first)
    for pair in one.pairs:
        assert one.pairs[pair].difference.point == -other.pairs[pair].difference.point
        assert one.pairs[pair].improvement.point == 1 - other.pairs[pair].improvement.point


def test_a_policy_is_not_better_than_itself(reports):
    found = compare(reports["steady"], reports["steady"])
    assert found.mean.difference.point == 0
    assert found.mean.improvement.point == 0.5
    assert found.mean.difference.low < 0 < found.mean.difference.high


def test_training_sides_are_compared_when_asked(reports):
    found = compare(*reports.values(), side="train")
    assert found.side == "train"
    assert abs(found.mean.difference.point) < 0.05


def test_single_checkpoints_are_compared_as_such(reports):
    one, other = (evaluate(agents(1, slope=s), SUITE, episodes=64) for s in (0.05, 0.6))
    found = compare(one, other)
    assert found.mean.difference.scope == "checkpoint"
    assert found.mean.improvement is None
    assert "these checkpoints only" in " ".join(render(found, ("a", "b")).split())


def test_no_success_interval_has_zero_width_even_without_a_differing_episode():
    report = evaluate(agents(1, 0.0, 0.0), SUITE, episodes=16)
    found = compare(report, report)
    for one in (*found.pairs.values(), found.mean):
        assert one.difference.low < 0 < one.difference.high


def test_only_shared_pairs_are_compared(reports):
    other = evaluate(agents(5), probe_suite(150, 200), episodes=64)
    found = compare(reports["steady"], other)
    assert list(found.pairs) == ["grey-150"]
    assert found.skipped == ("grey-200", "grey-60")
    with pytest.raises(InputError, match="share no pair"):
        compare(reports["steady"], evaluate(agents(1), probe_suite(77), episodes=4))


def test_an_unknown_metric_names_the_nearest(reports):
    with pytest.raises(InputError, match="no metric 'sucess'; did you mean 'success'"):
        compare(*reports.values(), metric="sucess")


def test_the_command_prints_a_table_or_json(reports, tmp_path, capsys):
    folders = []
    for name, report in reports.items():
        folders.append(str(tmp_path / name.split()[0]))
        write_report(report, tmp_path / name.split()[0])
    assert command.main(folders) == 0
    out = capsys.readouterr().out
    assert "mean over pairs" in out
    assert "P(A better)" in out
    assert max(map(len, out.splitlines())) <= 100
    assert command.main([*folders, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["mean"]["difference"]["point"] > 0
    assert command.main([folders[0], str(tmp_path / "nowhere")]) == 2
