"""Compiled programs kept on disk by the command line, so that a second run need not compile again.

The folder is `$XDG_CACHE_HOME/heldout/jax` (`~/.cache/heldout/jax`), for its owner only, with one
folder inside for each kind of processor: a program is machine code. A folder that `JAX` itself was
told to use (`JAX_COMPILATION_CACHE_DIR`) is left alone and used instead. `evaluate()` from Python
keeps the settings its process has; `use_cache()` is there for those who want the cache as well.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import warnings
from pathlib import Path

_ABILITIES = ("model name", "flags", "Features")  # in /proc/cpuinfo, on x86 and on ARM


def cache_folder() -> Path:
    """Return where compiled programs are kept, whether or not it exists.

    Raises:
        RuntimeError: the user has no home folder.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    root = base if base.is_absolute() else Path.home() / ".cache"
    return root / "heldout" / "jax" / _processor()


def use_cache() -> Path | None:
    """Make JAX keep compiled programs on disk; before the first program is compiled.

    Never an error: where the folder cannot be made, written or trusted, nothing is kept and
    everything is compiled, and an entry that cannot be read is compiled again.

    Returns:
        The folder, or None.
    """
    import jax

    # A full disk or a damaged entry is a reason to compile, not to be told about it.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation")
    if not jax.config.jax_enable_compilation_cache:
        return None
    if jax.config.jax_compilation_cache_dir:
        return Path(jax.config.jax_compilation_cache_dir)
    try:
        folder = cache_folder()
    except RuntimeError:
        return None
    if prepare(folder) is not None:
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    return folder


def no_cache() -> None:
    """Make JAX compile everything anew, whatever its environment says."""
    import jax

    jax.config.update("jax_enable_compilation_cache", False)


def prepare(folder: Path) -> str | None:
    """Create a cache folder for its owner only, and return why it cannot be used, or None."""
    try:
        folder.parents[2].mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in (folder.parents[1], folder.parent, folder):
            one.mkdir(mode=0o700, exist_ok=True)
            # Whoever can write here decides what runs.
            found = one.stat()
            if found.st_uid != os.getuid():
                return f"{one} belongs to somebody else"
            if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return f"{one} can be written by others"
            if not os.access(one, os.R_OK | os.W_OK | os.X_OK):
                return f"{one} cannot be written"
    except OSError as error:
        return f"{folder} cannot be made: {error.strerror}"
    return None


def _processor() -> str:
    """Return a name for what this processor can do; homes are shared between machines."""
    lines = [platform.machine(), platform.processor()]
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        lines += [one for one in text.split("\n\n")[0].splitlines() if one.startswith(_ABILITIES)]
    except OSError:
        pass
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
