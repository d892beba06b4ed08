"""An evaluation says whether it plays what was frozen before its policies were trained."""

import pytest
from harness_probes import (
    ProbeConfig,
    agents,
    probe_pair,
    probe_suite,
    probe_widening,
    widened_agents,
)

from envs.errors import InputError
from harness import evaluate
from harness.policies.sources import PolicySet
from harness.policies.splits import NONE, OTHER, SAME, split_check, trained_for
from harness.reporting.export import to_dict
from protocols import Suite
from protocols.freeze import freeze

SIDE = {"name": "probe", "digest": ProbeConfig().digest}
FROZEN = probe_suite(60, 200)


def stamped(suite=FROZEN, side=SIDE):
    return trained_for(side, freeze(suite))


def facts(*trains):
    return [{"seed": seed, "train": train} for seed, train in enumerate(trains)]


def reported(what, train=None):
    return evaluate(agents(2, train=stamped() if train is None else train), what, episodes=8)


@pytest.fixture(scope="module")
def same():
    return reported(FROZEN)


def test_the_split_that_was_frozen_is_recognised(same):
    assert [pair.split for pair in same.pairs] == [SAME, SAME]
    assert [pair["split"] for pair in to_dict(same)["pairs"]] == [SAME, SAME]
    assert same.exit_code == 0
    line = next(line for line in str(same).splitlines() if line.startswith("split: "))
    digest = stamped()["split"]["digest"][:8]
    assert line.startswith("split: suite probes v1 frozen ")
    assert line.endswith(f"({digest}) · evaluated: same split")


def test_an_edit_after_the_freeze_makes_the_pair_invalid():
    edited = Suite("probes", 1, "", (FROZEN.pairs[0], probe_pair("grey-200", grey=201.0)))
    report = reported(edited)
    kept, changed = report.pairs
    assert (kept.split, changed.split) == (SAME, OTHER)
    assert kept.verdict.name != "invalid"
    assert changed.verdict.name == "invalid"
    assert "which has another pair of this name" in changed.verdict.reason
    assert report.exit_code == 4
    assert "evaluated: same split (1), another split (1)" in " ".join(str(report).split())


def test_a_pair_added_after_the_freeze_is_invalid():
    state, reason = split_check("probes", probe_pair("new", grey=99.0), facts(stamped()))
    assert state == OTHER
    assert "which has no pair of this name" in reason
    assert "needs a new name" in reason


def test_without_a_frozen_split_nothing_is_claimed():
    report = reported(FROZEN, train=SIDE)
    assert [pair.split for pair in report.pairs] == [NONE, NONE]
    assert "split:" not in str(report)
    assert report.pairs[0].verdict.name != "invalid"


def test_a_split_of_another_name_is_no_freeze_of_this_one():
    other = probe_suite(60, 150, name="others")
    one, new = other.pairs
    assert split_check("others", new, facts(stamped())) == (NONE, "")
    assert split_check("others", one, facts(stamped())) == (SAME, ""), "it was frozen as it stands"


def test_every_training_seed_counts():
    pair = FROZEN.pairs[0]
    assert split_check("probes", pair, facts(stamped(), SIDE))[0] == NONE
    other = stamped(probe_suite(61, name="probes"))
    state, reason = split_check("probes", pair, facts(stamped(), SIDE, other))
    assert state == OTHER
    assert reason.startswith("seed 2 was trained for suite probes")


def test_both_trainings_of_a_widening_are_checked():
    suite = Suite("wider", 1, "", (probe_widening(),))
    split = freeze(suite)
    policies = PolicySet(
        "agent",
        {
            name: tuple(
                agents(2, train=trained_for(some[0].train, split if name == "wide" else None))
            )
            for name, some in widened_agents(2).by_training.items()
        },
    )
    result = evaluate(policies, suite, episodes=8).pairs[0]
    assert (result.split, result.wide.split) == (NONE, SAME)


def test_a_training_outside_the_split_cannot_be_stamped(tmp_path):
    elsewhere = {"name": "grey", "digest": ProbeConfig(grey=7.0).digest}
    with pytest.raises(InputError, match="no pair that is trained on 'grey', only on probe"):
        stamped(side=elsewhere)
    with pytest.raises(InputError, match="say what was trained on as well"):
        stamped(side={})
    with pytest.raises(InputError, match="there is no such file"):
        trained_for(SIDE, tmp_path / "split.json")
    assert trained_for(SIDE, None) == SIDE
