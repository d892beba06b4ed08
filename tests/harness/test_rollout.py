"""Every requested episode counts exactly once, whatever the batching."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import ProbeConfig, always_right
from lane_probes import HORIZON, Tell, alone, counting, sampled, starts

from envs.keys import LEVEL, episode_key
from harness.errors import RunError
from harness.policy import Policy, network_policy, policy
from harness.rollouts import memory, rollout
from harness.rollouts.rollout import ROWS, Part, lanes_per_block, plan_parts, play
from reference_agents import networks

pytestmark = pytest.mark.slow

LANES = lanes_per_block()
COUNTING = policy(counting, carry=jnp.int32(0))


def build(**values):
    return ProbeConfig(**values).build()


def roll(env_and_params, function=always_right, **kwargs):
    return play(*env_and_params, policy(function), **kwargs)


def tell(what=sampled, *, length="coin", broken=None, **kwargs):
    return play(Tell(length, broken), None, policy(what), **kwargs)


def assert_same(one, other, episodes=None):
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        assert column[:episodes].tobytes() == other.columns[name][:episodes].tobytes(), name
    if episodes is None:
        assert np.array_equal(one.action_counts, other.action_counts)


# ---------------------------------------------------------------------------------- identity


@pytest.mark.parametrize("episodes", [1, 3, LANES, LANES + 1, ROWS * LANES + 5])
def test_every_requested_episode_counts_once(episodes):
    """Beyond ROWS * LANES the program is called several times."""
    batch = roll(build(), episodes=episodes, num_envs=LANES)
    assert batch.episodes == episodes
    assert batch.columns["length"].tolist() == [3] * episodes
    assert batch.columns["return"].tolist() == [3] * episodes
    assert batch.columns["terminated"].all()
    assert not batch.columns["truncated"].any()
    assert batch.action_counts.tolist() == [0, 3 * episodes, 0]


def test_every_episode_is_what_it_is_alone_wherever_it_is_played():
    """Start, sampled actions, ending and return; later rows of a lane begin at any step."""
    batch = tell(episodes=5 * LANES, num_envs=LANES)
    for episode in (0, LANES + 7, 2 * LANES + 30, 5 * LANES - 1):
        expected = alone(Tell(), sampled, episode)
        found = {name: float(column[episode]) for name, column in batch.columns.items()}
        assert found == expected, episode


def test_every_episode_has_a_start_of_its_own():
    batch = tell(episodes=3 * LANES, num_envs=LANES)
    assert np.array_equal(batch.columns["start"], np.float64(starts(jnp.arange(3 * LANES))))
    assert len(np.unique(batch.columns["start"])) == 3 * LANES


@pytest.mark.parametrize("num_envs", [1, 64, 256, 1000])
def test_records_do_not_depend_on_num_envs(num_envs):
    setting = {"episodes": 290, "training_seed": 4}
    assert_same(tell(num_envs=128, **setting), tell(num_envs=num_envs, **setting))


def test_two_runs_are_equal_byte_for_byte():
    assert_same(tell(episodes=100), tell(episodes=100))


def test_episodes_keep_their_identity_when_more_are_asked_for():
    assert_same(tell(episodes=10), tell(episodes=300), episodes=10)


@pytest.mark.parametrize("num_envs", [1, 8, 32, 64, 100])
def test_the_mean_return_has_no_trend_with_num_envs(num_envs):
    """1 or HORIZON by a coin; a first-finished selection would favour the short ones."""
    runs = [tell(episodes=64, num_envs=num_envs, training_seed=seed) for seed in range(20)]
    returns = np.concatenate([batch.columns["return"] for batch in runs])
    assert len(returns) == 20 * 64
    error = (HORIZON - 1) / 2 / np.sqrt(returns.size)
    assert abs(returns.mean() - (HORIZON + 1) / 2) < 3 * error


def test_short_episodes_are_not_counted_more_often_than_long_ones():
    """Half of the episodes last 1 step, half 100: each lasts what its own key says."""
    batch = tell(episodes=200, num_envs=64)
    keys = [episode_key(0, 0, episode) for episode in range(200)]
    long = [bool(jax.random.bernoulli(jax.random.fold_in(key, LEVEL))) for key in keys]
    assert batch.columns["length"].tolist() == [HORIZON if one else 1 for one in long]
    assert 0.35 < np.mean(long) < 0.65


@pytest.mark.parametrize("length", [1, 3, HORIZON])
def test_no_step_is_lost_or_added_around_a_reset(length):
    batch = tell(length=length, episodes=4 * LANES - 30, num_envs=LANES)
    assert set(batch.columns["length"]) == set(batch.columns["return"]) == {length}
    capped = length == HORIZON
    assert set(batch.columns["truncated"]) == {capped}
    assert set(batch.columns["terminated"]) == {not capped}


def test_the_time_limit_truncates():
    batch = roll(build(lengths="endless", horizon=7), episodes=5)
    assert batch.columns["length"].tolist() == [7] * 5
    assert batch.columns["truncated"].all()
    assert not batch.columns["terminated"].any()


def test_training_seeds_and_master_seeds_get_their_own_episodes():
    batches = [
        tell(episodes=40, master_seed=master, training_seed=seed).columns["start"]
        for master, seed in [(0, 0), (0, 1), (1, 0)]
    ]
    assert len(np.unique(np.concatenate(batches))) == 120


@pytest.mark.parametrize("num_envs", [1, 64, 256])
def test_memory_starts_anew_in_every_episode(num_envs):
    batch = tell(COUNTING, episodes=200, num_envs=num_envs)
    assert set(batch.columns["first"]) == {0}
    long = int(batch.columns["truncated"].sum())
    assert batch.action_counts.tolist() == [200 - long + 34 * long, 33 * long, 33 * long]
    assert_same(batch, tell(COUNTING, episodes=200, num_envs=64))


def test_a_network_does_not_see_its_neighbours_in_the_batch():
    """At a fixed shape, whatever the other lanes show, an action is the same bit for bit."""
    network = networks.patch(8)
    pictures = jax.random.randint(jax.random.key(0), (2, LANES, 64, 64, 3), 0, 256, jnp.uint8)
    shapes = jax.eval_shape(network.init, jax.random.key(1), pictures[0, 0])
    draws = np.random.default_rng(2)
    weights = jax.tree.map(lambda leaf: jnp.float32(draws.normal(0, 0.1, leaf.shape)), shapes)
    logits = jax.jit(jax.vmap(lambda picture: network.apply(weights, picture)[0]))
    mixed = jnp.where((jnp.arange(LANES) % 3 == 0)[:, None, None, None], *pictures)
    assert np.array_equal(logits(pictures[0])[::3], logits(mixed)[::3])


def test_episodes_are_divided_evenly_and_stay_in_their_lanes():
    assert plan_parts(128, 64, 1) == [Part(0, 2)]
    assert plan_parts(129, 64, 2) == [Part(0, 2), Part(2, 1)]
    assert plan_parts(10, 64, 8) == [Part(0, 1)]
    many = plan_parts(64 * 100, 64, 2)
    assert max(part.rows for part in many) == ROWS
    assert [row for part in many for row in range(part.first, part.first + part.rows)] == [
        *range(100)
    ]


def test_progress_counts_every_episode_once():
    finished = []
    tell(episodes=300, num_envs=128, progress=finished.append)
    assert sum(finished) == 300


# ----------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("what", "text"), [("reward", "got a reward"), ("code", "got a 'code' that is not finite")]
)
def test_a_number_that_is_not_finite_is_named_with_its_step_episode_and_seeds(what, text):
    episode = LANES + 7  # in the second row of its lane
    env = Tell(3 if what == "code" else HORIZON, (what, float(starts(jnp.array([episode]))[0])))
    with pytest.raises(RunError) as error:
        play(env, None, policy(sampled), episodes=LANES + 20, num_envs=64)
    assert text in str(error.value)
    assert f"at step 2 of episode {episode} (training seed 0, master seed 0)" in str(error.value)


def test_an_action_that_does_not_exist_stops_the_run_and_is_named():
    def wrong_later(obs, count, key):
        return jnp.where(count == 2, 9, 1), count + 1

    with pytest.raises(RunError, match=r"wrong_later chose .* outside \[0, 3\) at step 2 of ep"):
        play(*build(), policy(wrong_later, carry=jnp.int32(0)), episodes=4)


class Scores:
    """A network whose logits are its weights where it sees a 2, else those of action 1."""

    def apply(self, weights, obs):
        return jnp.where(obs[0, 0, 0] == 2, weights, jnp.float32([0, 1, 0]))


def scoring(later, mode):
    return Policy("net", network_policy(SCORES, mode), weights=jnp.float32(later))


SCORES = Scores()


@pytest.mark.parametrize("mode", ["sample", "greedy"])
@pytest.mark.parametrize("later", [[0, jnp.nan, 0], [0, jnp.inf, 0], [-jnp.inf] * 3])
def test_logits_that_are_not_finite_stop_the_run_and_are_named(mode, later):
    one = scoring(later, mode)
    with pytest.raises(RunError, match="policy net has logits that are not finite at step 2 of"):
        play(Tell(3), None, one, episodes=4)


def test_minus_infinity_only_rules_an_action_out():
    one = scoring([0, -jnp.inf, 0], "greedy")
    assert play(Tell(3), None, one, episodes=4).action_counts.tolist() == [4, 8, 0]


class Starved:
    """The program of the device, which runs out of memory `times` times."""

    def __init__(self, times):
        self.times, self.program = times, rollout.play_blocks

    def __call__(self, *arguments):
        if self.times > 0:
            self.times -= 1
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte")
        return self.program(*arguments)

    def __getattr__(self, name):
        return getattr(self.program, name)


def test_where_memory_runs_out_half_as_many_are_played_with_the_same_records(monkeypatch):
    plenty = tell(episodes=300, num_envs=256)
    finished = []
    monkeypatch.setattr(rollout, "play_blocks", Starved(times=2))
    assert_same(plenty, tell(episodes=300, num_envs=256, progress=finished.append))
    assert sum(finished) == 300


def test_one_block_that_does_not_fit_is_an_error(monkeypatch):
    monkeypatch.setattr(rollout, "play_blocks", Starved(times=3))
    with pytest.raises(RunError, match=f"out of memory: policy sampled .* {LANES} episodes"):
        tell(episodes=300, num_envs=256)


def test_as_many_blocks_are_in_flight_as_memory_holds(monkeypatch):
    asked = []

    def fits(*arguments):
        asked.append(memory.blocks_that_fit(*arguments))
        return asked[-1]

    monkeypatch.setattr(rollout, "blocks_that_fit", fits)
    plenty = tell(episodes=300, num_envs=256)
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1000)
    assert_same(plenty, tell(episodes=300, num_envs=256))
    assert asked[0] > 100
    assert asked[1] == 1
