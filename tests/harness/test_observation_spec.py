"""What a policy sees is declared with it, checked, frozen, and the same in all kinds."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
from seeing_probes import SHAPE, Stripes, picture, rolled, same_records

import harness
from envs.errors import InputError
from harness.policies.observations import Obs, bind
from harness.policies.settling import settle
from harness.policy import policy

pytestmark = pytest.mark.slow

WEIGHTS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]).reshape(SHAPE)
NETWORK_SEES = Obs("CHW", "float32", (0, 1))


def on_raw(obs):
    return (obs.astype(jnp.int32) * WEIGHTS).sum() % 5


def on_seen(numpy, obs):
    """The same network for [..., C, H, W] in 0 … 1; any leading axes."""
    assert obs.shape[-3:] == (2, 2, 3) and obs.dtype == numpy.float32
    whole = numpy.rint(numpy.moveaxis(obs, -3, -1) * 255).astype(numpy.int32)
    return (whole * WEIGHTS).sum((-3, -2, -1)) % 5


FORMS = {
    "jax": lambda obs: on_seen(jnp, obs),
    "jax-batch": lambda obs: on_seen(jnp, obs),
    "host-batch": lambda obs: on_seen(np, obs),
    "host-single": lambda obs: int(on_seen(np, obs)),
}


@pytest.fixture(scope="module")
def raw_records():
    return rolled(on_raw, kind="jax")


@pytest.mark.parametrize("kind", FORMS)
def test_the_same_network_gives_the_same_records_in_every_form(kind, raw_records):
    assert len(set(raw_records.columns["trace"])) > 4
    assert same_records(rolled(FORMS[kind], kind=kind, obs=NETWORK_SEES), raw_records)


@pytest.mark.parametrize("kind", ["jax-batch", "host-batch"])
def test_a_column_of_actions_is_accepted(kind, raw_records):
    def column(obs):
        return FORMS[kind](obs)[:, None]

    assert same_records(rolled(column, kind=kind, obs=NETWORK_SEES), raw_records)


def test_two_actions_each_are_an_error_that_names_both_shapes():
    with pytest.raises(InputError, match=r"int64\[2, 2\] for 2 observations, expected \[2\]"):
        rolled(lambda obs: np.ones((len(obs), 2), np.int64), kind="host-batch")
    with pytest.raises(InputError, match=r"int32\[2, 2\], expected two whole numbers"):
        rolled(lambda obs: jnp.ones((len(obs), 2), jnp.int32), kind="jax-batch")


# ---------------------------------------------------------------------------------------- frames


def expected_frames(numpy, newest, fill, stack):
    """What a stack has to hold, told from the newest frame: its first pixel says t and length."""
    length = (newest.reshape(-1)[0].astype(int) - 1) % 12 + 1
    t = (newest.reshape(-1)[0].astype(int) - length) // 12
    frames = []
    for back in range(stack - 1, -1, -1):
        whole = picture_at(numpy, numpy.maximum(t - back, 0), length)
        frames.append(whole if fill == "repeat" else numpy.where(t - back < 0, 0, whole))
    return numpy.concatenate(frames, -1)


def picture_at(numpy, t, length):
    return t * 12 + numpy.arange(12).reshape(SHAPE) + length


@pytest.mark.parametrize(
    ("kind", "fill"),
    [("jax", "zeros"), ("host-single", "repeat"), ("host-batch", "zeros")],
)
def test_frames_are_the_last_ones_of_this_episode_and_no_other(kind, fill):
    numpy = jnp if kind == "jax" else np

    def one(obs):
        assert obs.shape == (2, 3, 6)
        right = (obs == expected_frames(numpy, obs[..., 4:], fill, 3)).all()
        return right.astype(numpy.int32)

    def batch(obs):
        return np.stack([one(single) for single in obs])

    function = batch if kind == "host-batch" else one
    records = rolled(function, kind=kind, obs=Obs(stack=3, fill=fill))
    assert records.columns["return"].tolist() == records.columns["length"].tolist()
    assert records.columns["length"].max() >= 4  # more steps than frames


def test_a_policy_that_writes_into_its_frames_changes_nothing():
    def vandal(obs):
        right = np.stack([(one == expected_frames(np, one[..., 2:], "repeat", 2)).all()
                          for one in obs])  # fmt: skip
        obs[:] = 0
        return right.astype(int)

    records = rolled(vandal, kind="host-batch", obs=Obs(stack=2))
    assert records.columns["return"].tolist() == records.columns["length"].tolist()


@pytest.mark.parametrize(
    ("kind", "num_envs"), [("jax", 1), ("host-batch", 1), ("host-batch", 8), ("host-single", 8)]
)
def test_memory_and_frames_start_anew_together(kind, num_envs):
    """Memory counts steps: it has to agree with the step that the newest frame shows."""
    numpy = jnp if kind == "jax" else np

    def counting(obs, count, key):
        newest = numpy.asarray(obs)[..., 0, 0, 2].astype(numpy.int32)
        right = (newest - 1) // 12 == count  # lengths are 1 … 5
        return right.astype(numpy.int32), count + 1

    records = rolled(
        counting, episodes=9, num_envs=num_envs, kind=kind, carry=np.int32(0), obs=Obs(stack=2)
    )
    assert records.columns["return"].tolist() == records.columns["length"].tolist()


@pytest.mark.parametrize("kind", ["jax", "host-batch"])
def test_memory_stays_where_frames_are_not_stacked(kind):
    def counting(obs, count, key):
        return count % 5, count + 1

    records = rolled(counting, kind=kind, carry=np.int32(0), obs=Obs(dtype="float32"))
    assert records.action_counts[0] == len(records.columns["length"])
    assert records.action_counts[1] == (records.columns["length"] > 1).sum()


def test_vectors_are_stacked_too():
    shown = SimpleNamespace(observation_shape=(3,), observation_dtype=np.float32, num_actions=5)
    bound = bind(policy(lambda obs: obs, kind="host-single", obs=Obs(dtype="float32", stack=2)),
                 shown)  # fmt: skip
    first = np.arange(3, dtype=np.float32)
    seen, carry = bound.apply(bound.weights, bound.carry, first, 0)
    assert seen.tolist() == [0, 1, 2, 0, 1, 2]
    seen[:] = 9
    assert bound.apply(bound.weights, carry, first + 5, 0)[0].tolist() == [0, 1, 2, 5, 6, 7]


# ------------------------------------------------------------------------------------ statistics


def seen_by(spec, obs):
    made = bind(policy(lambda seen: seen, kind="host-single", obs=spec), Stripes())
    return made.apply(made.weights, made.carry, obs, 0)[0]


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
@pytest.mark.parametrize("shape", ["number", "channel", "whole"])
def test_statistics_are_taken_off_in_the_unit_of_the_range(layout, shape):
    raw = picture(3) / np.float32(255) * 2 - 1
    raw = raw if layout == "HWC" else np.moveaxis(raw, -1, 0)
    mean, std = {
        "number": (np.array(0.25), np.array(0.5)),
        "channel": (np.array([0.25, 0.5]), np.array([0.5, 2.0])),
        "whole": (np.linspace(0, 1, 12).reshape(raw.shape), np.full(raw.shape, 0.5)),
    }[shape]
    spec = Obs(layout, "float32", (-1, 1), mean=mean, std=std, clip=1.5)
    if shape == "channel" and layout == "CHW":
        mean, std = mean[:, None, None], std[:, None, None]
    found = seen_by(spec, picture(3))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.clip((raw - mean) / std, -1.5, 1.5), atol=1e-6)


def test_statistics_are_copied_and_cannot_change():
    mean = np.zeros(2)
    spec = Obs(dtype="float32", mean=mean, std=1.0)
    before = spec.fingerprint, seen_by(spec, picture(0)).copy()
    mean += 100
    assert spec.fingerprint == before[0]
    assert np.array_equal(seen_by(spec, picture(0)), before[1])
    with pytest.raises(ValueError, match="read-only"):
        spec.mean[0] = 1


def test_policies_that_differ_only_in_statistics_share_one_program():
    def act(obs):
        return (obs.sum() > 0).astype(jnp.int32)

    one, other = (
        settle(policy(act, obs=Obs(dtype="float32", mean=mean, std=1.0)), Stripes())[0]
        for mean in (0.0, 1000.0)
    )
    assert one.apply is other.apply
    assert one.apply(one.weights, None, picture(1), None)[0] == 1
    assert other.apply(other.weights, None, picture(1), None)[0] == 0


def test_every_setting_is_in_the_fingerprint():
    changed = [
        Obs(), Obs("CHW"), Obs(dtype="float32"), Obs(dtype="float32", range=(0, 1)), Obs(stack=2),
        Obs(stack=2, fill="zeros"), Obs(dtype="float32", mean=0.0, std=1.0),
        Obs(dtype="float32", mean=0.0, std=2.0), Obs(dtype="float32", mean=0.0, std=2.0, clip=5.0),
    ]  # fmt: skip
    assert len({one.fingerprint for one in changed}) == len(changed)
    for one in changed:
        assert Obs.from_dict(one.to_dict()).fingerprint == one.fingerprint


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layout": "WHC"}, "did you mean 'CHW'|did you mean 'HWC'"),
        ({"dtype": "float"}, "did you mean 'float32'"),
        ({"fill": "zero"}, "did you mean 'zeros'"),
        ({"stack": 0}, "stack: expected a whole number of at least 1"),
        ({"range": (0, 1)}, "need dtype='float32'"),
        ({"dtype": "float32", "range": 1}, "expected two numbers"),
        ({"dtype": "float32", "range": (1, 0)}, "the lower end first"),
        ({"dtype": "float32", "mean": 0.0}, "belong together"),
        ({"dtype": "float32", "mean": 0.0, "std": 0.0}, "above zero"),
        ({"dtype": "float32", "mean": float("nan"), "std": 1.0}, "finite"),
        ({"dtype": "float32", "clip": 1.0}, "clip"),
    ],
)
def test_contradictions_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Obs(**values)


def test_what_does_not_fit_the_environment_is_refused_before_an_episode():
    five = Obs(dtype="float32", mean=np.zeros(5), std=np.ones(5))
    with pytest.raises(InputError, match=r"mean has shape \(5,\), expected a number, \(2,\)"):
        rolled(lambda obs: 1, obs=five)
    vectors = SimpleNamespace(observation_shape=(4,), observation_dtype=np.float32, num_actions=5)
    with pytest.raises(InputError, match="layout CHW is for pictures"):
        settle(policy(lambda obs: 1, obs=Obs("CHW", "float32")), vectors)
    with pytest.raises(InputError, match="shows float32, not pictures"):
        settle(policy(lambda obs: 1, obs=Obs()), vectors)
    with pytest.raises(InputError, match=r"expected harness\.Obs"):
        policy(lambda obs: 1, obs={"layout": "CHW"})
    with pytest.raises(InputError, match="did you mean 'layout'"):
        Obs.from_dict({"layuot": "CHW"})


# --------------------------------------------------------------------------------------- dry run


def picky(obs):
    """As networks of PyTorch are: channels first, floats, a batch."""
    if not isinstance(obs, np.ndarray) or obs.shape[1:] != (2, 2, 3) or obs.dtype != np.float32:
        raise RuntimeError("expected float32 with 2 channels")
    return obs


def test_one_message_says_what_was_wrong_and_how_to_wrap_it():
    with pytest.raises(InputError) as caught:
        settle(policy(lambda obs: picky(obs).sum((1, 2, 3)).astype(int) % 5), Stripes())
    text = str(caught.value)
    assert "\n" not in text
    assert "as JAX: RuntimeError: expected float32 with 2 channels" in text
    assert "the environment shows uint8[2, 3, 2]" in text
    wrap = "harness.policy(..., kind='host-batch', obs=harness.Obs(layout='CHW', dtype='float32', "
    assert wrap + "range=(0, 1)))" in text
    spec = harness.Obs(layout="CHW", dtype="float32", range=(0, 1))
    act = harness.policy(
        lambda obs: picky(obs).sum((1, 2, 3)).astype(int) % 5, kind="host-batch", obs=spec
    )
    assert settle(act, Stripes())[0].kind == "host-batch"


def test_scores_instead_of_actions_are_recognized():
    with pytest.raises(InputError, match=r"kind='host-batch'.*but it returned.*argmax\(-1\)"):
        settle(policy(lambda obs: picky(obs)[:, 0, 0, :1] * np.ones(5, np.float32)), Stripes())


def test_a_kind_that_was_said_is_the_only_one_tried():
    def act(obs):
        return np.asarray([int(one.sum()) % 5 for one in obs])

    assert settle(policy(act, kind="host-batch"), Stripes())[0].kind == "host-batch"
    with pytest.raises(InputError) as caught:
        settle(policy(act, kind="jax"), Stripes())
    assert "as host" not in str(caught.value)
