"""Playing both sides finds what declarations cannot: inert axes, hidden leaks, lost causes."""

from dataclasses import replace

import numpy as np
import pytest
from audit_probes import WIDTH, WalkerConfig, foreign_pair, walker_pair

from protocols import Pair, audit, audit_rollouts
from protocols.audit.text import FAIL, OK, WARN, pair_lines, status
from protocols.audit.text import WIDTH as COLUMNS
from protocols.playing import differs_from, play


def proof_of(pair):
    audit(pair)
    (proof,) = audit_rollouts(pair)
    return proof


def test_a_visual_pair_is_the_same_task_in_another_picture():
    proof = proof_of(walker_pair(grey=60.0))
    assert proof.visual
    assert proof.differs_at is None
    assert proof.has_latent
    assert (proof.failures, proof.warnings) == ((), ())
    assert (proof.solved.script, proof.solved.share) == ("right", 1)
    assert (proof.shown.usual, proof.shown.contrast, proof.shown.noise) == (200, 140, 0)


def test_an_axis_that_no_forward_policy_can_notice_is_inert():
    # As in the platformer, one step of input brings the top speed whatever the friction is.
    proof = proof_of(walker_pair(friction=0.3))
    assert proof.failures == (
        "inert: nothing that right sees or meets differs; only random notices",
    )


def test_an_axis_that_changes_what_a_forward_policy_meets_is_not_inert():
    proof = proof_of(walker_pair(goal=12.0))  # the same way, another end
    assert not proof.failures
    assert proof.visual is False
    assert proof.differs_at == 11  # steps until x, which starts at 1, is 12


def test_a_visual_parameter_that_changes_the_task_is_found():
    proof = proof_of(walker_pair(leak=0.25))
    assert proof.failures == ("changes the task (step 1), though only pictures may differ",)


def test_an_impossible_side_fails_unless_the_pair_says_so():
    failed = proof_of(walker_pair(goal=1000.0))
    assert failed.failures == ("may be impossible: 0/64 by any script (64 in training)",)
    noted = proof_of(walker_pair(goal=1000.0, note="Nobody gets there."))
    assert not noted.failures
    assert noted.warnings == (
        "may be impossible, as its note says: 0/64 by any script (64 in training)",
    )


def test_where_no_script_solves_training_either_solvability_is_unknown():
    proof = proof_of(walker_pair({"goal": 900.0}, grey=60.0))
    assert not proof.failures
    assert proof.warnings == ("solvability unknown: 0/64 by any script (0 in training)",)


@pytest.mark.parametrize("looks", [{"ink": 10.0}, {"ink": 20.0, "grey": 5.0}, {"noise": 200.0}])
def test_a_picture_that_hides_where_the_agent_is_brings_a_warning(looks):
    proof = proof_of(walker_pair(**looks))
    assert not proof.failures
    assert proof.shown.share < 0.9
    (warning,) = proof.warnings
    assert warning.startswith("hard to see: a move stands out in")


def test_a_little_noise_hides_nothing():
    proof = proof_of(walker_pair(noise=10.0))
    assert not proof.warnings
    assert 5 < proof.shown.noise < 20
    assert proof.shown.share == 1


def test_an_undeclared_environment_is_judged_by_what_it_does():
    proof = proof_of(foreign_pair(grey=60.0))
    assert proof.visual is None
    assert proof.differs_at is None
    assert proof.solved.share == 1
    _, proved = pair_lines(foreign_pair(grey=60.0), (proof,))
    assert "support unknown · latents equal · solved 64/64 by right" in proved
    assert "inert" in proof_of(foreign_pair(friction=0.3)).failures[0]


def test_a_widening_is_judged_from_both_training_sides_and_equal_sides_are_left_out():
    side, wide = WalkerConfig(), WalkerConfig().replace({"grey": {"uniform": [0, 20]}})
    held = {"heldout": side.replace({"grey": 60.0})}
    pair = Pair("w", "looks", "narrow", side, held, "widening", wide_name="wide", wide=wide)
    replayed = Pair("n", "looks", "t", side, {"heldout": side}, "null")
    assert audit_rollouts(replayed) == ()
    # A walker draws no ranges, so here the wide side stands for any other one.
    whole = replace(pair, wide=side.replace({"grey": 20.0}))
    assert [one.side for one in audit_rollouts(whole)] == ["heldout", "heldout, before wide"]


def test_equal_sides_are_played_once():
    memory = {}
    pair = walker_pair(grey=60.0)
    audit_rollouts(pair, memory)
    assert len(memory) == 2
    known = dict(memory)
    audit_rollouts(walker_pair(grey=60.0), memory)
    assert memory == known


def test_scripts_meet_the_same_episodes_and_states_are_kept_where_asked():
    played = play(WalkerConfig(), times=(0, 3, 500), episodes=5)
    assert played.scripts == ("noop", "right", "random")
    assert played.deliberate == ("right",)
    assert played.times == (0, 3)
    states = played.states([(0, "right", 1), (3, "right", 1), (3, "noop", 4)])
    assert np.array_equal(states.latent.x, [1, 4, 1])
    assert played.pictures(states).shape == (3, 4, WIDTH, 3)
    assert played.lengths["right"].tolist() == [20] * 5
    again = play(WalkerConfig(), episodes=5)
    assert differs_from(played, again, played.scripts) is None


def test_an_audit_is_two_lines_a_pair_and_what_is_wrong_comes_first():
    for pair, expected in (
        (walker_pair(grey=60.0), OK),
        (walker_pair(ink=10.0), WARN),
        (walker_pair(goal=1000.0), FAIL),
    ):
        proofs = audit_rollouts(pair)
        assert status(proofs) == expected
        head, proved = pair_lines(pair, proofs)
        assert max(len(head), len(proved)) <= COLUMNS
        assert head.startswith(expected)
        wrong = [text for proof in proofs for text in (*proof.failures, *proof.warnings)]
        assert proved.strip().startswith(wrong[0] if wrong else "axis looks")


def test_what_is_wrong_with_some_sides_is_said_of_them():
    side = WalkerConfig()
    sides = {"near": side.replace({"goal": 12.0}), "far": side.replace({"goal": 1000.0})}
    pair = Pair("goals", "looks", "walker", side, sides, "split")
    _, proved = pair_lines(pair, audit_rollouts(pair))
    assert proved.strip().startswith("far: may be impossible: 0/64 by any script (64 in training)")
