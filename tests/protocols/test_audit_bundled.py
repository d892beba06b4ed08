"""What the audits say about the platformer, where the answers are known."""

import pytest

from envs import PlatformerConfig
from protocols import Pair, Suite, audit_rollouts
from protocols import __main__ as command

pytestmark = pytest.mark.slow

SKELETON = {"use_shape": False, "use_sprites": True, "sprite_paths": "skeleton"}
IMAGE = {
    "character": SKELETON, "background": {"mode": "image", "image_paths": "bg-1"},
}  # fmt: skip
MEMORY: dict = {}


def pair_of(axis, heldout, train=None, name="mine", **more):
    side = PlatformerConfig().replace(train or {})
    return Pair(name, axis, "train", side, {"heldout": side.replace(heldout)}, **more)


def proof_of(*arguments, **more):
    (proof,) = audit_rollouts(pair_of(*arguments, **more), MEMORY)
    return proof


def test_friction_is_inert_at_the_default_acceleration():
    proof = proof_of("physics", {"physics": {"ground_friction": 0.3}})
    assert proof.failures == (
        "inert: nothing that right, right-jump, oracle sees or meets differs; only random notices",
    )


def test_gravity_that_makes_walls_too_high_is_solvable_in_part():
    proof = proof_of("gravity", {"physics": {"gravity": 0.8}})
    assert not proof.failures
    assert proof.warnings[0].startswith("solvable in part: ")
    assert 0.6 < proof.solved.share < 0.9 < proof.solved_train.share


def test_a_goal_beyond_the_episode_may_be_impossible():
    proof = proof_of("goal", {"dist_to_success": 501})
    assert proof.failures == ("may be impossible: 0/64 by any script (64 in training)",)


def test_a_filter_that_hides_the_agent_is_named_and_one_that_recolours_it_is_not():
    vignette = proof_of("filters", {"filters": {"vignette_strength": 10.0}}, IMAGE)
    assert not vignette.failures
    assert vignette.warnings[0].startswith("hard to see: a move stands out in")
    assert not proof_of("filters", {"filters": {"hue_shift": 180}}, IMAGE).warnings


def test_the_command_prints_the_proof_of_every_pair_and_returns_4_where_one_fails(
    capsys, monkeypatch
):
    assert command.main(["audit", "smoke"]) == 0
    shown = capsys.readouterr().out
    assert "background.color_names: #000000 -> #8a2be2" in shown
    assert "axis background · disjoint · pictures only · solved 64/64 by oracle" in shown
    assert "2 pairs: 2 ok, 0 with warnings, 0 failed" in shown
    failing = Suite("mine", 1, "", (pair_of("gravity", {"dist_to_success": 501}),))
    monkeypatch.setattr(command, "load_suite", lambda name: failing)
    assert command.main(["audit", "mine"]) == 4
    assert "1 pair: 0 ok, 0 with warnings, 1 failed" in capsys.readouterr().out
