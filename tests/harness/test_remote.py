"""A policy in another process plays like one in this process, and fails in one clear line."""

import socket
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from seeing_probes import SHAPE, Stripes, picture, rolled, same_records

from envs.errors import InputError
from harness.errors import RunError
from harness.policies.observations import Obs
from harness.policies.settling import settle
from harness.policies.sources import load_policies
from harness.policy import policy
from harness.rollouts.rollout import play

pytest.importorskip("websockets")
pytest.importorskip("msgpack")

from websockets.sync.server import serve as listen

from harness.policies import wire
from harness.policies.remote import connect, serving

pytestmark = pytest.mark.slow


def act(obs):
    return np.array([one.astype(int).sum() % 5 for one in obs])


def played(one, episodes=6):
    return play(Stripes(), None, settle(one, Stripes())[0], episodes=episodes, num_envs=4)


@contextmanager
def asked(url, **values):
    """The policy that a server offers, hung up afterwards."""
    made = connect(url, **values)
    try:
        yield made
    finally:
        made.apply.__self__.close()


@contextmanager
def answering(answer, metadata=None):
    """A server of somebody else: `answer(message)` gives a mapping or the text of an error."""

    def attend(connection):
        connection.send(wire.pack(metadata or {"server": "another"}))
        for data in connection:
            answered = answer(wire.unpack(data))
            connection.send(answered if isinstance(answered, str) else wire.pack(answered))

    with listen(attend, "127.0.0.1", 0, compression=None, max_size=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def own_records():
    return rolled(act, episodes=6, kind="host-batch")


# ----------------------------------------------------------------------------------------- wire


@pytest.mark.parametrize(
    "value",
    [
        3, 2.5, "text", None, True, [1, "two"], {"inside": [1, 2]},
        np.arange(6, dtype=np.uint8).reshape(1, 2, 3), np.zeros((0, 3), np.float32),
        np.array(7), np.array([True, False]), np.array(["a", "bc"]), np.float32(1.5), np.int64(4),
        np.arange(12).reshape(3, 4).T, np.array([1.0, np.nan]), np.arange(3, dtype=">i4"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_packed_comes_back_as_it_was(value):
    found = wire.unpack(wire.pack({"value": value}))["value"]
    assert type(found) is type(value)
    if isinstance(value, (np.ndarray, np.generic)):
        assert found.dtype == value.dtype and found.shape == value.shape
        np.testing.assert_array_equal(found, value)
    else:
        assert found == value


def test_arrays_are_packed_in_the_usual_manner():
    import msgpack

    packed = msgpack.unpackb(wire.pack({"image": np.array([[1, 2]], np.uint8)}))
    assert packed == {
        "image": {
            b"__ndarray__": True, b"data": b"\x01\x02", b"dtype": "|u1", b"shape": [1, 2],
        }
    }  # fmt: skip


@pytest.mark.parametrize("value", [np.array([{}]), np.zeros(1, "M8[s]"), object(), {1, 2}])
def test_objects_are_not_sent(value):
    with pytest.raises(wire.WireError, match=r"not sent|neither plain data"):
        wire.pack({"value": value})


def array_message(**changes):
    import msgpack

    array = {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": [1]}
    array.update({name.encode(): value for name, value in changes.items()})
    return msgpack.packb({"value": {k: v for k, v in array.items() if v is not None}})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xc1", "not a msgpack message"),
        (b"\x01", "a message is a mapping, not int"),
        (array_message(dtype="|O"), "dtype object are not sent"),
        (array_message(dtype="nonsense"), "no dtype 'nonsense'"),
        (array_message(dtype=[["a", "<f4"]]), "no dtype"),
        (array_message(shape=[2]), "4 bytes is not float32\\[2\\]"),
        (array_message(shape=[-1]), "is not float32"),
        (array_message(shape=None), "without its shape"),
    ],
)
def test_what_is_not_a_message_is_refused(data, problem):
    with pytest.raises(wire.WireError, match=problem):
        wire.unpack(data)


# ------------------------------------------------------------------------------- our own server


@pytest.mark.parametrize("kind", ["batch", "single"])
def test_records_equal_those_of_the_same_policy_in_this_process(kind, own_records):
    function = act if kind == "batch" else lambda obs: int(act(obs[None])[0])
    with serving(function) as url, asked(url) as one:
        assert same_records(played(one), own_records)


def test_the_command_line_takes_an_address(own_records):
    with serving(act) as url:
        (one,) = load_policies(url, env=Stripes())
        assert same_records(played(one), own_records)
        assert one.seed == 0
        one.apply.__self__.close()


def test_two_connections_to_one_server_count_as_the_same_policy():
    """What a run folder compares when it goes on: sockets and threads say nothing."""
    from harness.policies.identity import code_digest

    with serving(act) as url, asked(url) as one, asked(url) as other, asked(f"{url}#x") as third:
        digests = [code_digest(p.apply, p.weights, p.carry) for p in (one, other, third)]
    assert digests[0] == digests[1] != digests[2]


def test_memory_on_the_server_starts_anew_with_every_episode():
    """Nine episodes of unequal length by fours; 1 where memory agrees with the step shown."""

    def counting(obs, count, key):
        return ((obs[:, 0, 0, 0].astype(int) - 1) // 12 == count).astype(int), count + 1

    counted = policy(counting, kind="host-batch", carry=np.int32(0))
    with serving(counted) as url, asked(url) as one:
        records = played(one, episodes=9)
    assert records.columns["return"].tolist() == records.columns["length"].tolist()


def test_one_who_asks_about_the_same_states_again_disturbs_no_memory():
    """As the comparison with other batch sizes does, between the steps of a rollout."""

    def counting(obs, count, key):
        return np.minimum(count, 4), count + 1

    counted = policy(counting, kind="host-batch", carry=np.int32(0))
    with serving(counted) as url, asked(url) as one:
        first, second = (np.full(2, one.carry) for _ in range(2))
        obs = np.zeros((2, *SHAPE), np.uint8)
        for step in range(3):
            for numbers in (first, second):
                actions, after = one.apply(one.weights, numbers, obs, 0)
                assert actions.tolist() == [step] * 2
                numbers[:] = after
        first[1] = -1  # its lane begins another episode
        assert one.apply(one.weights, first, obs, 0)[0].tolist() == [3, 0]


def test_a_policy_that_declares_what_it_sees_sees_it_on_the_server_too(own_records):
    def seeing(obs):
        assert obs.shape[1:] == (2, 2, 3)
        return act(np.rint(obs * 255))

    spec = Obs("CHW", "float32", (0, 1))
    served = policy(seeing, kind="host-batch", obs=spec)
    with serving(served) as url, asked(url) as one:
        assert same_records(played(one), own_records)
    with serving(policy(seeing, kind="host-batch")) as url, asked(url, obs=spec) as one:
        assert same_records(played(one), own_records)


def test_a_policy_that_samples_gets_the_seed_of_each_step():
    def sampling(obs, seed):
        return np.random.default_rng(seed).integers(0, 5, len(obs))

    own = rolled(sampling, episodes=6, kind="host-batch")
    sampled = policy(sampling, kind="host-batch", actions="sample")
    with serving(sampled) as url, asked(url) as one:
        assert one.actions == "sample"
        assert same_records(played(one), own)


def test_clients_of_other_servers_are_answered_one_observation_at_a_time():
    from websockets.sync.client import connect as dial

    with serving(act, key="image") as url, dial(url, compression=None) as connection:
        assert wire.unpack(connection.recv())["heldout"]["version"] == 1
        connection.send(wire.pack({"image": picture(2), "prompt": "go"}))
        assert wire.unpack(connection.recv()) == {"actions": int(act(picture(2)[None])[0])}


def test_pages_in_a_browser_are_refused():
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect as dial

    with (
        serving(act) as url,
        pytest.raises(InvalidStatus),
        dial(url, origin="http://example.org"),
    ):
        pass


def test_policies_of_jax_are_refused_with_the_wrapper():
    jitted = policy(act, kind="jax")
    with pytest.raises(InputError, match=r"jax\.jit\(jax\.vmap"), serving(jitted):
        pass


# ----------------------------------------------------------------------------- servers of others


@pytest.mark.parametrize("form", ["scalar", "float", "horizon", "chunk"])
def test_the_first_action_of_a_chunk_is_taken(form, own_records):
    shapes = {
        "scalar": lambda a: a,
        "float": np.float32,
        "horizon": lambda a: np.array([a, 9, 9]),
        "chunk": lambda a: np.array([[a], [9], [9]], np.float32),
    }
    seen = []

    def answer(message):
        seen.append(message)
        return {"actions": shapes[form](int(act(message["camera"][None])[0])), "other": 1}

    with answering(answer) as url, asked(f"{url}#camera", extra={"prompt": "go"}) as one:
        assert same_records(played(one), own_records)
    assert seen[0]["prompt"] == "go"
    assert set(seen[0]) == {"camera", "prompt"}
    assert seen[0]["camera"].shape == SHAPE


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("Traceback …\n  File x\nKeyError: 'wrist'\n", "raised: KeyError: 'wrist'"),
        ({"action": 1}, r"answered \['action'\], without 'actions'"),
        ({"actions": np.zeros((10, 7))}, r"shape \(10, 7\), expected a whole number, or a chunk"),
        ({"actions": np.array([0.5])}, r"float64 \[0.5\], expected whole numbers"),
        ({"actions": np.array([np.nan])}, r"float64 \[nan\], expected whole numbers"),
        ({"actions": 5}, r"outside \[0, 5\)"),
    ],
)
def test_a_wrong_answer_is_one_line(answer, problem):
    with answering(lambda _: answer) as url, asked(url) as one:
        with pytest.raises(InputError, match=problem) as caught:
            settle(one, Stripes())
        assert "\n" not in str(caught.value)
        assert url in str(caught.value)


def test_an_error_in_the_middle_names_the_step(capfd):
    def failing(obs):
        if obs.max() > 36:
            raise KeyError("too late")
        return act(obs)

    problem = pytest.raises(RunError, match=r"raised: KeyError: 'too late' .*at step 2 of episode")
    with serving(failing) as url, asked(url) as one, problem:
        played(one)
    assert "Traceback" in capfd.readouterr().err  # where the server runs


def test_an_answer_that_does_not_come_is_an_error():
    waiting = threading.Event()
    with answering(lambda _: {"actions": int(waiting.wait(20))}) as url:
        problem = pytest.raises(InputError, match=r"gave no answer within 0\.3 s")
        with asked(url, timeout=0.3) as one, problem:
            settle(one, Stripes())
        waiting.set()


def test_where_nothing_listens_the_message_says_so():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(InputError, match=f"{url}: nothing listens there"):
            connect(url)


def test_another_version_is_refused():
    newer = {"heldout": {"version": 2}}
    problem = pytest.raises(InputError, match="speaks version 2, this program speaks 1")
    with answering(lambda _: {"actions": 0}, newer) as url, problem:
        connect(url)


def test_what_is_no_policy_server_is_refused():
    with pytest.raises(InputError, match="not an address"):
        connect("ws://")
    problem = pytest.raises(InputError, match="is it a policy server")
    with socket.create_server(("127.0.0.1", 0)) as silent, problem:
        connect(f"ws://127.0.0.1:{silent.getsockname()[1]}", timeout=0.3)


def test_a_port_in_use_is_refused():
    with serving(act) as url:
        again = serving(act, port=int(url.rpartition(":")[2]))
        with pytest.raises(InputError, match="cannot serve at"), again:
            pass
