"""Our environments as Gymnasium's, for trainers written in PyTorch or NumPy (extra `gym`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.adapters import episodes
from envs.core import Env
from envs.errors import InputError, not_among

try:
    import gymnasium as gym
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise InputError(
        f"gymnasium 1.1 or newer is needed: pip install 'heldout[gym]' ({error})"
    ) from None

AUTORESET = {"next-step": AutoresetMode.NEXT_STEP, "same-step": AutoresetMode.SAME_STEP}


def make(
    env: Env, params: Any, *, seed: int, num_envs: int | None = None, autoreset: str = "next-step"
) -> gym.Env | gym.vector.VectorEnv:
    """Return a `gymnasium.vector.VectorEnv` of `num_envs` lanes, or a single `gymnasium.Env`.

    Args:
        env, params: a side, from `Config.build()`.
        seed: decides every episode, together with the lane and the episode's number in it; each
            of several single environments needs a seed of its own.
        num_envs: how many lanes; None for a single environment, which has to be reset by hand.
        autoreset: what a vector environment does where an episode ends. "next-step" (Gymnasium's
            usual mode): the next step starts the new episode, its action is ignored and its reward
            is 0. "same-step": the same step does, and shows the old one's end in
            `infos["final_obs"]`. Declared in `metadata["autoreset_mode"]`.

    Where an episode ends, `infos["metrics"]` (with "same-step": `infos["final_info"]["metrics"]`)
    has the metrics it is judged by, "return" and "length" among them. Observations are handed out
    without a copy, read-only.

    Raises:
        InputError: a setting out of range, or Gymnasium is not installed.
    """
    if autoreset not in AUTORESET:
        raise InputError(not_among(f"no autoreset mode {autoreset!r}", autoreset, AUTORESET))
    if num_envs is None:
        return SingleEnv(env, params, seed)
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
        raise InputError(f"num_envs: expected a whole number of at least 1, got {num_envs!r}")
    return LaneEnv(env, params, seed, num_envs, autoreset)


def observation_space(env: Env) -> gym.spaces.Box:
    """Return the space of one observation: 0 … 255 for pictures, unbounded for numbers."""
    dtype = np.dtype(getattr(env, "observation_dtype", np.uint8))
    low, high = (0, 255) if dtype == np.uint8 else (-np.inf, np.inf)
    return gym.spaces.Box(low, high, tuple(env.observation_shape), dtype)


class LaneEnv(gym.vector.VectorEnv):
    """All lanes in one compiled step (see `make`)."""

    def __init__(self, env: Env, params: Any, seed: int, num_envs: int, autoreset: str) -> None:
        self.env, self.params, self.num_envs = env, params, num_envs
        self.metadata = {"autoreset_mode": AUTORESET[autoreset], "render_modes": []}
        self.single_observation_space = observation_space(env)
        self.single_action_space = gym.spaces.Discrete(env.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._same_step = autoreset == "same-step"
        self._root = episodes.root_key(seed)
        self._lanes: episodes.Lanes | None = None
        self._rows = episodes.rows_of(env, params)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start a new episode in every lane; with a seed, the first one of that seed."""
        _refuse(options)
        super().reset(seed=seed)
        if seed is not None:
            self._root, self._lanes = episodes.root_key(seed), None
        if self._lanes is None:
            self._lanes = episodes.no_episodes(self.env, self.num_envs, self.params)
        obs = self._restart(np.ones(self.num_envs, bool))
        return np.asarray(obs), {}

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step every lane; `actions` are N whole numbers."""
        if self._lanes is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        chosen = _whole_actions(actions, (self.num_envs,), self.env.num_actions)
        self._lanes, obs, outcome = episodes.advance(
            self.env, self.params, self._root, self._lanes, chosen
        )
        outcome = np.asarray(outcome)
        reward, terminated, truncated = outcome[0].copy(), outcome[1] > 0, outcome[2] > 0
        ended = terminated | truncated
        infos: dict[str, Any] = {}
        if ended.any():
            metrics = dict(zip(self._rows[3:], outcome[3:], strict=True))
            infos = _with_mask("metrics", _masked(metrics, ended), ended)
            if self._same_step:
                final = np.full(self.num_envs, None, object)
                pictures = np.asarray(obs)
                for lane in np.flatnonzero(ended):
                    final[lane] = pictures[lane].copy()
                infos = {
                    **_with_mask("final_info", infos, ended),
                    **_with_mask("final_obs", final, ended),
                }
                obs = self._restart(ended)
        return np.asarray(obs), reward, terminated, truncated, infos

    def _restart(self, which: np.ndarray) -> Any:
        self._lanes, obs = episodes.restart(self.env, self.params, self._root, self._lanes, which)
        return obs


class SingleEnv(gym.Env):
    """One environment (see `make`): the same episodes as lane 0 of a `LaneEnv` of that seed."""

    def __init__(self, env: Env, params: Any, seed: int) -> None:
        self.observation_space = observation_space(env)
        self.action_space = gym.spaces.Discrete(env.num_actions)
        picture = self.observation_space.dtype == np.uint8 and len(env.observation_shape) == 3
        self.metadata = {"render_modes": ["rgb_array"] if picture else [], "render_fps": 30}
        self.render_mode = "rgb_array" if picture else None
        self._lane = LaneEnv(env, params, seed, 1, "next-step")
        self._shown: np.ndarray | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start the next episode; with a seed, the first one of that seed."""
        super().reset(seed=seed)
        obs, _ = self._lane.reset(seed=seed, options=options)
        self._shown, self._over = obs[0], False
        return self._shown, {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Advance one step; where the episode ends, `info["metrics"]` judges it."""
        if self._shown is None or self._over:
            raise gym.error.ResetNeeded("call reset() before step()")
        chosen = np.asarray(action).reshape(-1)
        obs, reward, terminated, truncated, infos = self._lane.step(chosen)
        self._shown, self._over = obs[0], bool(terminated[0] or truncated[0])
        info = {}
        if infos:
            found = infos["metrics"].items()
            info = {"metrics": {k: float(v[0]) for k, v in found if not k.startswith("_")}}
        return self._shown, float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> np.ndarray | None:
        """Return the picture of the last observation, u8[H, W, 3], where there is one."""
        return None if self._shown is None or not self.render_mode else self._shown.copy()


def _refuse(options: dict[str, Any] | None) -> None:
    if options:
        raise InputError(f"reset takes no options, got {', '.join(map(str, options))}")


def _whole_actions(actions: Any, shape: tuple[int, ...], num_actions: int) -> np.ndarray:
    """Return the actions as i32[N], or say what is wrong with them."""
    chosen = np.asarray(actions)
    if chosen.shape != shape or not np.issubdtype(chosen.dtype, np.integer):
        raise InputError(
            f"actions: expected {shape[0]} whole numbers, got {chosen.dtype}{list(chosen.shape)}"
        )
    if chosen.min() < 0 or chosen.max() >= num_actions:
        raise InputError(f"actions: expected values in [0, {num_actions}), got {chosen.tolist()}")
    return chosen.astype(np.int32)


def _with_mask(name: str, value: Any, mask: np.ndarray) -> dict[str, Any]:
    """Return one entry of a vector environment's infos: the value, and in which lanes it holds."""
    return {name: value, f"_{name}": mask.copy()}


def _masked(metrics: dict[str, np.ndarray], ended: np.ndarray) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in metrics.items():
        found.update(_with_mask(name, np.where(ended, value, 0), ended))
    return found
