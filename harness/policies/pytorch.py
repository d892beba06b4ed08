"""PyTorch modules as policies (PyTorch itself is loaded when one is made)."""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.errors import InputError, not_among
from harness.policies.observations import Obs
from harness.policy import Policy, logits_of, policy

MODES = ("greedy", "sample")


def torch_policy(
    module: Any, *, obs: Obs | None = None, actions: str = "greedy", name: str | None = None,
    seed: int | None = None,
) -> Policy:  # fmt: skip
    """Make a policy of a PyTorch module: a batch of observations in, action logits [N, A] out.

    Args:
        module: it is put into evaluation mode; of several outputs the first are the logits.
        obs: what it sees; by default f32[N, C, H, W] in 0 … 1.
        actions: "greedy", or "sample", by a generator that the harness seeds at every step.
        name: how reports call it.
        seed: its training seed.

    Raises:
        InputError: an unknown mode, or PyTorch is not installed.
    """
    if actions not in MODES:
        raise InputError(not_among(f"no action mode {actions!r}", actions, MODES))
    try:
        import torch
    except ImportError:
        raise InputError("PyTorch is needed: pip install 'heldout[torch]'") from None
    module.eval()

    def act(seen: np.ndarray, key: int) -> np.ndarray:
        place = next((one.device for one in module.parameters()), None)
        with torch.inference_mode():
            logits = logits_of(module(torch.from_numpy(seen).to(place)))
            if actions == "greedy":
                return logits.argmax(-1).cpu().numpy()
            draw = torch.Generator().manual_seed(key)
            return torch.multinomial(logits.softmax(-1).cpu(), 1, generator=draw).numpy()

    label = name or type(module).__name__
    seen = obs or Obs("CHW", "float32", (0, 1))
    return policy(act, kind="host-batch", name=label, seed=seed, actions=actions, obs=seen)
