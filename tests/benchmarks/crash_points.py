"""Crash points: is a run folder whole wherever a run is killed, or the disk refuses?

    python tests/benchmarks/crash_points.py [--what calls|command|both] [--out FILE]

Not a sample: every system call on the folder's files is found by tracing (needs `strace`), and then
each of them is stopped once, in each way: the process is killed when it enters the call, or the
call fails with EIO, or with ENOSPC. strace's log has to show that it happened. After each: no file
under its final name may differ from that of an undisturbed run (or from what was there before), the
exit code must be a documented one with one line on stderr, and the next start has to finish the run
with the very same files, playing only what was missing, and leave no half-written file.

The calls are those of a run of made-up cells (`tiny_run.py` of the tests), which a forked child
makes on a real disk. `--what command` kills the real command instead, at every rename it makes, and
refuses it the disk.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from tiny_run import STARTS, contents, names, tiny_run

from harness.cli import guarded
from harness.errors import BAD_INPUT, FAILED
from harness.rollouts.atomic import scratch_of

CALLS = (
    "openat", "read", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "close", "flock",
    "rename", "renameat", "renameat2", "mkdir", "mkdirat", "unlink", "unlinkat", "rmdir",
    "getdents64", "newfstatat", "fstat",
)  # fmt: skip
WAYS = {"kill": "signal=SIGKILL", "EIO": "error=EIO", "ENOSPC": "error=ENOSPC"}
FILLS_THE_DISK = ("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "mkdir")


def watched(path: Path, cells: list[str]) -> list[str]:
    """Return every path that a run may touch, as options of strace."""
    files = [path / name for name in ("manifest.json", "report.json", "probe")]
    files += [path / "cells" / name for name in cells]
    places = [path.parent, path, path / "cells", path / ".lock", *files, *map(scratch_of, files)]
    return [option for place in places for option in ("-P", str(place))]


def in_child(path: Path, log: Path, inject: str | None) -> tuple[int, str]:
    """Run the tiny run in a forked child under strace; return its exit status and its stderr.

    The status is negative where a signal ended it, as in `subprocess`.
    """
    ready, go = os.pipe()
    messages = log.with_suffix(".stderr")
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        sys.stderr = messages.open("w")
        code = guarded(lambda: len(tiny_run(path)) * 0)
        sys.stderr.flush()
        os._exit(code)
    os.close(ready)
    tracing = ["strace", "-p", str(child), "-o", str(log), "-e", f"trace={','.join(CALLS)}"]
    tracing += watched(path, names()) + (["-e", f"inject={inject}"] if inject else [])
    with subprocess.Popen(tracing, stderr=subprocess.PIPE, text=True) as strace:
        assert "attached" in strace.stderr.readline()
        os.write(go, b"!")
        os.close(go)
        _, status = os.waitpid(child, 0)
        strace.stderr.read()
    return os.waitstatus_to_exitcode(status), messages.read_text()


def points(log: Path) -> list[tuple[str, int]]:
    """Return (system call, how many of its name came before it and itself) of every call."""
    seen: Counter[str] = Counter()
    found = []
    for line in log.read_text().splitlines():
        call = re.match(r"(?:\d+ +)?(\w+)\(", line)
        if call:
            seen[call[1]] += 1
            found.append((call[1], seen[call[1]]))
    return found


def fired(log: Path, way: str) -> bool:
    text = log.read_text()
    return "killed by SIGKILL" in text if way == "kill" else "(INJECTED)" in text


def finals(path: Path) -> dict[str, bytes]:
    return {name: data for name, data in contents(path).items() if not name.endswith(".tmp")}


def problem(
    path: Path, way: str, code: int, message: str, before: dict[str, bytes],
    reference: dict[str, bytes],
) -> str | None:  # fmt: skip
    """Return what is wrong after a stopped run and the next start, or None."""
    stopped = finals(path)
    for name, data in stopped.items():
        if data not in (reference[name], before.get(name)):
            return f"{name} is not whole"
    if before.keys() - stopped.keys():
        return f"lost: {before.keys() - stopped.keys()}"
    if way == "kill" and code != -9:
        return f"ended with {code} instead of being killed"
    if way != "kill" and (code not in (0, BAD_INPUT, FAILED) or message.count("\n") != bool(code)):
        return f"exit code {code}, stderr {message!r}"
    missing = [n for n in names() if stopped.get(f"cells/{n}") != reference[f"cells/{n}"]]
    if tiny_run(path) != missing:
        return "the next start did not play exactly what was missing"
    return None if contents(path) == reference else "the finished run differs"


def enumerate_points(scratch: Path, reference: dict[str, bytes]) -> Iterator[dict]:
    """Stop every call of every start in every way, once; yield what came of it."""
    for start in STARTS:

        def folder(name: str, start: Callable[[Path], None] = start) -> Path:
            path = scratch / start.__name__ / name / "run"
            start(path)
            return path

        log = scratch / f"{start.__name__}.strace"
        code, message = in_child(folder("whole"), log, None)
        assert code == 0, message
        for call, number in points(log):
            for way, what in WAYS.items():
                if way == "ENOSPC" and call not in FILLS_THE_DISK:
                    continue
                path = folder(f"{call}-{number}-{way}")
                before = finals(path)
                one = scratch / "one.strace"
                code, message = in_child(path, one, f"{call}:{what}:when={number}")
                happened = fired(one, way)
                wrong = problem(path, way, code, message, before, reference)
                yield {"start": start.__name__, "call": call, "number": number, "way": way,
                       "exit": code, "fired": happened, "problem": wrong}  # fmt: skip
                shutil.rmtree(path.parent)


# ---------------------------------------------------------------------------- the real command


def command(path: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "harness.evaluate", "--policy", "builtin:right-jump", "--suite",
            "smoke", "--episodes", "2", "--out", str(path), *more]  # fmt: skip


def end_to_end(scratch: Path) -> Iterator[dict]:
    """Kill the real command at every rename, and refuse it the disk; the same command goes on."""
    whole = scratch / "e2e" / "run"
    subprocess.run(command(whole), check=True, capture_output=True)
    reference = without_command(whole)
    cells = [name.removeprefix("cells/") for name in reference if name.startswith("cells/")]
    renames = len(reference)
    stops = [("rename", "kill", number) for number in range(1, renames + 1)]
    stops += [("write", "ENOSPC", 4), ("fsync", "EIO", 12), ("write", "kill", 5)]
    for call, way, number in stops:
        path = scratch / "e2e" / f"{call}-{way}-{number}" / "run"
        log = scratch / "e2e.strace"
        tracing = ["strace", "-f", "-q", "-o", str(log), "-e", f"trace={call}",
                   "-e", f"inject={call}:{WAYS[way]}:when={number}"]  # fmt: skip
        stopped = subprocess.run(
            [*tracing, *watched(path, cells), *command(path)], capture_output=True, text=True
        )
        happened = fired(log, way)
        kept = [name for name in finals(path) if name.startswith("cells/")] if path.exists() else []
        again = subprocess.run(command(path, "--num-envs", "64"), capture_output=True, text=True)
        wrong = None
        if way != "kill" and stopped.returncode not in (BAD_INPUT, FAILED):
            wrong = f"exit code {stopped.returncode}, stderr {stopped.stderr!r}"
        elif again.returncode != 0:
            wrong = f"the next start ended with {again.returncode}: {again.stderr!r}"
        elif without_command(path) != reference:
            wrong = "the finished run differs"
        yield {"start": "real command", "call": call, "number": number, "way": way,
               "exit": stopped.returncode, "fired": happened, "problem": wrong,
               "cells_kept": len(kept)}  # fmt: skip


def without_command(path: Path) -> dict[str, str]:
    """Return the files of a run, without what may differ between commands: paths, --num-envs."""
    files = contents(path)
    manifest = json.loads(files["manifest.json"])
    manifest.pop("sha256"), manifest.pop("num_envs"), manifest["provenance"].pop("command")
    report = json.loads(files["report.json"])
    report["provenance"].pop("command")
    return {**files, "manifest.json": manifest, "report.json": report}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--what", choices=("calls", "command", "both"), default="calls")
    parser.add_argument("--out", type=Path, help="write every point and its outcome there, as JSON")
    options = parser.parse_args()
    if shutil.which("strace") is None:
        parser.error("strace is not installed")
    started, results = time.perf_counter(), []
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tiny_run(scratch / "reference")
        reference = contents(scratch / "reference")
        if options.what != "command":
            results += enumerate_points(scratch, reference)
        if options.what != "calls":
            results += end_to_end(scratch)
    bad = [one for one in results if one["problem"] or not one["fired"]]
    for one in bad:
        print(one)
    counts = Counter((one["start"], one["way"]) for one in results)
    for (start, way), count in counts.items():
        print(f"{start:14} {way:7} {count:4} points")
    print(f"{len(results)} points, {sum(one['fired'] for one in results)} fired, "
          f"{len(results) - len(bad)} passed ({time.perf_counter() - started:.0f} s)")  # fmt: skip
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
