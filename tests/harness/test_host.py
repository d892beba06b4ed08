"""Policies that run in Python: what they are given, what they may answer, and how long it takes."""

import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
from lane_probes import HORIZON, Tell, counting, starts

from harness import policy
from harness.errors import RunError
from harness.policies.settling import settle
from harness.rollouts.host import AnswerError, NoAnswer, TimeLimit, call_on_host, host_memory
from harness.rollouts.rollout import play

pytestmark = pytest.mark.slow

KINDS = ("host-batch", "host-single")


def tell(function, kind="host-batch", *, length="coin", carry=None, **kwargs):
    one = policy(function, kind=kind, carry=carry, **kwargs.pop("made", {}))
    return play(Tell(length), None, one, **kwargs)


def ones(obs):
    """Return action 1 for a batch [N, 2, 2, 1], or for one picture."""
    return np.ones(len(obs), np.int32) if obs.ndim == 4 else 1


def counts(obs, count, seed):
    """The counter of `lane_probes`, in NumPy."""
    return count % 3, count + 1


def same(one, other):
    assert all(np.array_equal(one.columns[name], other.columns[name]) for name in other.columns)
    assert np.array_equal(one.action_counts, other.action_counts)


# ------------------------------------------------------------------------------------ episodes


@pytest.mark.parametrize("kind", [*KINDS, "jax-batch"])
def test_all_kinds_of_policies_give_the_same_records(kind):
    def act(obs, key):
        return jnp.ones(len(obs), jnp.int32) if kind == "jax-batch" else ones(obs)

    same(
        tell(act, kind, episodes=30, num_envs=4),
        play(Tell(), None, policy(lambda obs: jnp.int32(1)), episodes=30),
    )


@pytest.mark.parametrize("length", [1, 3, HORIZON])
def test_no_step_is_lost_or_added_around_a_reset(length):
    """30 episodes in 4 lanes."""
    batch = tell(ones, length=length, episodes=30, num_envs=4)
    assert batch.episodes == 30
    assert set(batch.columns["length"]) == set(batch.columns["return"]) == {length}
    assert set(batch.columns["truncated"]) == {length == HORIZON}
    assert set(batch.columns["terminated"]) == {length < HORIZON}
    assert np.array_equal(batch.columns["start"], np.float64(starts(jnp.arange(30))))


@pytest.mark.parametrize("num_envs", [1, 5, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_memory_starts_anew_in_every_episode(kind, num_envs):
    """Episodes of 1 and 100 steps: a lane is given another one while its neighbours go on."""
    batch = tell(counts, kind, carry=np.int64(0), episodes=12, num_envs=num_envs)
    assert set(batch.columns["first"]) == {0}
    same(batch, play(Tell(), None, policy(counting, carry=jnp.int32(0)), episodes=12))


def test_a_memory_that_is_changed_in_place_stays_in_its_episode():
    def act(obs, memory, seed):
        memory["steps"].append(1)
        return (len(memory["steps"]) - 1) % 3, memory

    batch = tell(act, "host-single", carry={"steps": []}, episodes=12, num_envs=3)
    assert set(batch.columns["first"]) == {0}


def test_a_batch_keeps_its_size_and_a_single_policy_is_asked_about_live_episodes_only():
    sizes, asked = [], []
    tell(lambda obs: (sizes.append(len(obs)), ones(obs))[1], length=3, episodes=10, num_envs=4)
    assert set(sizes) == {4}
    single = lambda obs: asked.append(1) or 1  # noqa: E731
    tell(single, "host-single", length=3, episodes=10, num_envs=4)
    assert len(asked) == 30


def test_seeds_repeat_themselves_and_differ_between_steps_and_episodes():
    def recorded(kind, episodes):
        seen = []
        tell(lambda obs, seed: (seen.append(seed), ones(obs))[1], kind, length=3,
             episodes=episodes, num_envs=4)  # fmt: skip
        return seen

    assert len(set(recorded("host-single", 8))) == 24
    assert len(set(recorded("host-batch", 8))) == 6
    assert recorded("host-batch", 8)[:3] == recorded("host-batch", 4)


def test_a_policy_that_writes_into_its_input_changes_nothing():
    def vandal(obs, seed):
        action = np.int32(obs[..., 0, 0, 0] % 3)
        obs *= 0
        obs += 255
        return action

    for kind in KINDS:
        batch = tell(vandal, kind, episodes=6, num_envs=3)
        same(batch, play(Tell(), None, policy(lambda obs: obs[0, 0, 0] % 3), episodes=6))


def test_the_time_spent_in_the_policy_is_told_apart():
    def slow(obs):
        time.sleep(0.02)
        return ones(obs)

    inside, total = tell(slow, length=3, episodes=8, num_envs=4).seconds
    assert 6 * 0.02 <= inside < total
    assert play(Tell(3), None, policy(lambda obs: jnp.int32(1)), episodes=2).seconds is None


# ------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (np.array([1, 3, 0]), r"chose 3, an action outside \[0, 3\)"),
        (np.array([1, 0, -1]), r"chose -1, an action outside \[0, 3\)"),
        (np.array([1.0, np.nan, 0.0]), "returned the action nan, expected a whole number"),
        (np.array([1.0, np.inf, 0.0]), "returned the action inf, expected a whole number"),
        (np.array([1.0, 0.0, 0.0]), "returned float64, expected whole numbers"),
        (np.array(["left"] * 3), "returned <U4, expected whole numbers"),
        (None, r"returned object\[\] for 3 observations"),
        (np.ones((3, 2), int), r"returned int64\[3, 2\] for 3 observations"),
        (np.ones((3, 3)), "look like scores"),
    ],
)
def test_an_answer_that_is_no_action_is_refused(answer, text):
    one = SimpleNamespace(
        kind="host-batch", carry=None, weights=None, apply=lambda *_: (answer, None)
    )
    with pytest.raises(AnswerError, match=text):
        call_on_host(one, None, np.zeros((3, 2)), [0], 3)


@pytest.mark.parametrize("answer", [1, np.int8(1), [1], np.array([[1]])[0]])
def test_one_action_may_have_any_of_the_usual_forms(answer):
    one = policy(lambda obs: answer, kind="host-single")
    actions, _ = call_on_host(one, None, np.zeros((2, 4)), [0, 1], 3)
    assert actions.tolist() == [1, 1]


def test_what_lanes_without_an_episode_get_does_not_count():
    one = policy(lambda obs: np.array([1, 99]), kind="host-batch")
    live = np.array([True, False])
    assert call_on_host(one, None, np.zeros((2, 4)), [0], 3, live)[0].tolist() == [1, 0]


def test_a_memory_of_another_structure_is_refused():
    one = policy(lambda obs, memory, seed: (ones(obs), (memory, memory)), kind="host-batch",
                 carry=np.zeros(2))  # fmt: skip
    with pytest.raises(AnswerError, match="memory of structure"):
        call_on_host(one, host_memory(one, 3), np.zeros((3, 2, 2, 1)), [0], 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_names_policy_step_episode_and_seeds(kind):
    """Lane 1 of 4 is at step 2 of episode 5, its second one."""

    def wrong(obs, memory, seed):
        memory = memory + 1
        return np.where((memory == 3) & (obs[..., 0, 0, 0] == 2), 7, 1), memory

    with pytest.raises(
        RunError,
        match=r"policy wrong chose 7, an action outside \[0, 3\) at step 2 of episode 0 "
        r"\(training seed 5, master seed 6\)",
    ):
        tell(wrong, kind, length=3, carry=np.int64(0), episodes=4, num_envs=4, training_seed=5,
             master_seed=6)  # fmt: skip


def test_the_episode_that_is_named_is_the_one_that_failed():
    calls = []

    def wrong(obs):
        calls.append(1)
        return np.array([1, 1, 5 if len(calls) == 5 else 1, 1])

    with pytest.raises(RunError, match="at step 1 of episode 6 "):
        tell(wrong, length=3, episodes=12, num_envs=4)


@pytest.mark.parametrize(("kind", "others"), [("host-batch", r" \(asked about 4 ep.*\)"),
                                              ("host-single", "")])  # fmt: skip
def test_a_policy_that_raises_is_named_with_its_error(kind, others):
    def failing(obs):
        raise ZeroDivisionError("no luck\nand more")

    with pytest.raises(
        RunError, match=f"policy failing failed: ZeroDivisionError: no luck{others} at step 0 of"
    ):
        tell(failing, kind, episodes=4)


# ----------------------------------------------------------------------------------- time limit


def forever():
    while True:
        pass


@pytest.mark.parametrize("hang", [forever, lambda: time.sleep(1000)], ids=["busy", "asleep"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_that_hangs_is_ended_and_named(hang, kind):
    def hanging(obs):
        hang()

    with pytest.raises(RunError, match=r"policy hanging gave no answer within 0\.2 s .* at step 0"):
        tell(hanging, kind, episodes=2, made={"time_limit": 0.2})


def test_a_policy_that_hangs_ends_the_dry_run_already():
    def hanging(obs):
        return forever() if isinstance(obs, np.ndarray) else obs.no_such_attribute

    one = policy(hanging, time_limit=0.2)
    with pytest.raises(RunError, match="policy hanging gave no answer within"):
        settle(one, Tell())


def test_a_policy_cannot_swallow_the_end_of_its_time():
    def stubborn():
        while True:
            try:
                forever()
            except Exception:
                continue

    with TimeLimit(0.2, "stubborn") as limit, pytest.raises(NoAnswer, match="within 0"):
        limit.call(stubborn)


def test_many_quick_calls_may_take_longer_than_one_may():
    with TimeLimit(0.2, "quick") as limit:
        for _ in range(8):
            limit.call(time.sleep, 0.05)


def test_code_that_cannot_be_interrupted_ends_with_the_process_and_exit_code_4():
    """A long computation in C, which lets other threads run but never comes back to Python."""
    script = """
        import hashlib
        from harness.rollouts import host

        host.GRACE = 0.3
        with host.TimeLimit(0.3, "stuck") as limit:
            limit.call(hashlib.pbkdf2_hmac, "sha256", b"", b"", 2**31 - 1)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 4
    assert "policy stuck did not answer within 0.3 s" in done.stderr
    assert len(done.stderr.splitlines()) == 1
