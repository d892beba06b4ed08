"""Which kind of device JAX runs on."""

from __future__ import annotations

import os

from envs.errors import InputError

DEVICES = ("auto", "cpu", "gpu")


def choose_device(name: str) -> None:
    """Start JAX on a kind of device: "cpu", "gpu", or "auto", the best that JAX finds.

    Raises:
        InputError: JAX has no such device here, or already runs on another.
    """
    import jax

    asked = os.environ.get("JAX_PLATFORMS", "")
    if name == "cpu":
        jax.config.update("jax_platforms", "cpu")
    elif name == "gpu" and asked:  # the option is the later word
        jax.config.update("jax_platforms", None)
    try:
        found = jax.default_backend()
    except (RuntimeError, AssertionError) as error:  # JAX asserts that it found something
        first = next(iter(str(error).splitlines()), "it finds no device")
        told = f" (JAX_PLATFORMS={asked})" if asked else ""
        raise InputError(f"JAX cannot start: {first}{told}") from None
    if name not in ("auto", found):
        hint = "; pip install 'heldout[cuda12]' brings CUDA" if name == "gpu" else ""
        raise InputError(f"--device {name}: JAX finds no {name} here, only {found}{hint}")
