"""ONNX files as policies (extra `onnx`): `--policy net.onnx`.

What the network takes is read from its input: float32 or uint8, channels first or last, a batch of
any size or a fixed one, or single observations. What no file says, the range of floats, is 0 … 1
unless the file's metadata has an entry `heldout.obs` (JSON, see `Obs.to_dict`) or `obs` is given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import InputError, not_among
from harness.policies.observations import Obs
from harness.policy import Policy, observation_dtype

try:
    import onnxruntime
except ImportError:
    raise InputError("onnxruntime is needed: pip install 'heldout[onnx]'") from None

METADATA = "heldout.obs"
MODES = ("greedy", "sample")
DTYPES = {"tensor(float)": "float32", "tensor(uint8)": "uint8"}


def onnx_policy(
    path: str | Path, env: Any, *, obs: Obs | None = None, actions: str = "greedy",
    name: str | None = None, seed: int | None = None,
) -> Policy:  # fmt: skip
    """Return the policy in an ONNX file: observations in, action logits [N, A] or actions [N] out.

    Args:
        path: the file. Of several outputs the one named logits, action or actions counts, else the
            first. Whole numbers are actions, anything else is logits.
        env: an environment of the side, whose observations the input is compared with.
        obs: how the network sees; found from its input where not given.
        actions: for logits: "greedy", or "sample" by the seed of each step.
        name: how reports call it; the file's name by default.
        seed: its training seed.

    Raises:
        InputError: no ONNX file, or its input fits no way of showing the environment.
    """
    path = Path(path).expanduser()
    if actions not in MODES:
        raise InputError(not_among(f"no action mode {actions!r}", actions, MODES))
    network = _Network(path)
    shown = tuple(env.observation_shape)
    declared = obs or network.declared()
    seen = declared or network.found(shown, observation_dtype(env))
    network.check(seen, shown)
    data = json.dumps([hashlib.sha256(network.data).hexdigest(), seen.fingerprint, actions])
    how = "as declared" if declared else "found from its input"
    return Policy(
        name=name or path.stem,
        apply=network.act,
        kind="host-batch",
        weights=actions,
        actions=actions,
        seed=seed,
        fingerprint=hashlib.sha256(data.encode()).hexdigest(),
        obs=seen,
        declared=True,
        note=f"{path.name} sees {seen} ({how})",
    )


class _Network:
    """An ONNX session, its one input and the output that decides."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        try:
            self.session = onnxruntime.InferenceSession(
                self.data, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has many kinds, without a common one of its own
            first = str(error).splitlines()[0]
            raise InputError(f"{path}: not a network that onnxruntime runs ({first})") from None
        inputs = self.session.get_inputs()
        if len(inputs) != 1:
            names = ", ".join(one.name for one in inputs)
            raise InputError(f"{path}: expected one input, the observations, got {names}")
        self.input = inputs[0]
        if self.input.type not in DTYPES:
            taken = " or ".join(DTYPES.values())
            raise InputError(f"{path}: takes {self.input.type}, expected {taken}")
        outputs = [one.name for one in self.session.get_outputs()]
        telling = [one for one in outputs if one in ("logits", "action", "actions")]
        self.output = (telling or outputs)[0]

    @property
    def sizes(self) -> list[int | None]:
        """The shape of its input, None where any size goes."""
        return [one if isinstance(one, int) else None for one in self.input.shape]

    def declared(self) -> Obs | None:
        """Return what the file says in its metadata about how it sees, or None."""
        text = self.session.get_modelmeta().custom_metadata_map.get(METADATA)
        if text is None:
            return None
        try:
            return Obs.from_dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise InputError(f"{self.path}: its metadata {METADATA}: {error}") from None

    def found(self, shown: tuple[int, ...], dtype: Any) -> Obs:
        """Return the one usual way of showing `shown` that its input takes."""
        takes = DTYPES[self.input.type]
        picture = len(shown) == 3
        pixels = np.dtype(dtype) == np.uint8
        span = (0, 1) if takes == "float32" and pixels else None
        ways = [Obs(layout, takes, span) for layout in (("CHW", "HWC") if picture else ("HWC",))]
        fitting = [way for way in ways if _fits(self.sizes, way.shape(shown))]
        if len(fitting) == 1:
            return fitting[0]
        told = "fits channels first and last" if fitting else "does not fit"
        raise InputError(
            f"{self.path}: its input {self.input.shape} {told} for observations {list(shown)}; "
            "say how it sees: harness.policies.onnx.onnx_policy(path, env, obs=harness.Obs(...))"
        )

    def check(self, seen: Obs, shown: tuple[int, ...]) -> None:
        shape = seen.shape(shown)
        takes = DTYPES[self.input.type]
        if not _fits(self.sizes, shape) or takes != seen.dtype:
            raise InputError(
                f"{self.path}: its input is {takes} {self.input.shape}, "
                f"what is declared to be seen is {seen.dtype} {list(shape)}"
            )

    def act(self, actions: str, carry: Any, seen: np.ndarray, seed: int) -> tuple[Any, Any]:
        """Return the actions of N observations as they are seen; `actions` is the mode."""
        answers = np.concatenate([self._run(part) for part in self._parts(seen)])[: len(seen)]
        if np.issubdtype(answers.dtype, np.integer):
            return answers, carry
        if actions == "sample":
            noise = np.random.default_rng(seed).gumbel(size=answers.shape)
            answers = answers + noise
        return answers.argmax(-1), carry

    def _parts(self, seen: np.ndarray) -> Sequence[np.ndarray]:
        """Cut a batch into what the network takes at once, the last part padded with zeros."""
        size = self.sizes[0] if self._batched(seen) else 1
        if size is None:
            return [seen]
        missing = -len(seen) % size
        padding = np.zeros((missing, *seen.shape[1:]), seen.dtype)
        whole = np.concatenate([seen, padding])
        return [whole[at : at + size] for at in range(0, len(whole), size)]

    def _batched(self, seen: np.ndarray) -> bool:
        return len(self.sizes) == seen.ndim

    def _run(self, part: np.ndarray) -> np.ndarray:
        """Return what the network answers to a part, with a leading axis."""
        fed = part if self._batched(part) else part[0]
        answer = np.asarray(self.session.run([self.output], {self.input.name: fed})[0])
        return answer if self._batched(part) else answer[None]


def _fits(sizes: Sequence[int | None], shape: tuple[int, ...]) -> bool:
    """Return whether an input of these sizes takes observations of a shape, one or a batch."""
    batched = len(sizes) == len(shape) + 1
    own = sizes[1:] if batched else sizes
    return len(own) == len(shape) and all(
        size in (None, given) for size, given in zip(own, shape, strict=True)
    )
