"""Files that are there whole or not at all, wherever the process dies or the disk fills up.

Whatever a run folder does to the disk is done here, so that tests can stop every step of it once.
One writer at a time (`lock`): a file being written always has the same other name, by which what a
killed process left behind is found again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # how a file system says it has none


def write(target: Path, data: bytes) -> None:
    """Write a file in one step: under another name, through to the disk, then renamed.

    Raises:
        OSError: that failed; `target` is as it was, or whole and new.
    """
    scratch = scratch_of(target)
    try:
        _write_through(scratch, data)
        os.replace(scratch, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
        raise
    sync(target.parent)


def scratch_of(target: Path) -> Path:
    """Return what a file is called while it is written."""
    return target.with_name(f".{target.name}.tmp")


def _write_through(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def sync(folder: Path) -> None:
    """Have the disk keep the names in a folder: what was renamed or made there."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # network file systems that cannot say so this way
            raise
    finally:
        os.close(handle)


def read(file: Path) -> bytes | None:
    """Return what a file holds, or None where there is none."""
    try:
        handle = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        parts = []
        while part := os.read(handle, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, in order; none where it is missing."""
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def remove(file: Path) -> None:
    """Remove a file if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file)


def make_folder(folder: Path) -> list[Path]:
    """Make a folder and those above it; return those that were missing, the outermost first."""
    if folder.is_dir():
        return []
    if folder.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    made = make_folder(folder.parent)
    os.mkdir(folder)
    sync(folder.parent)
    return [*made, folder]


def remove_folder(folder: Path) -> None:
    """Remove a folder if it is empty."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def prove_writable(folder: Path) -> None:
    """Write to the disk and remove it again: a folder one may not write to, or a full disk, raise
    OSError."""
    probe = scratch_of(folder / "probe")
    try:
        _write_through(probe, b"." * 4096)
    finally:
        remove(probe)


def lock(file: Path) -> int:
    """Lock a file, made where it is missing, and return its handle.

    The kernel lets go of it when the process ends, however it ends.

    Raises:
        BlockingIOError: another process has it.
        OSError: it cannot be made, or its file system has no locks (`NO_LOCKS`).
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_nlink == 0:  # its last owner has just removed it
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(file))
    except BaseException:
        os.close(handle)
        raise
    return handle


def unlock(handle: int) -> None:
    """Let go of a lock."""
    with contextlib.suppress(OSError):
        os.close(handle)
