"""The folder of a run is whole at every moment, and the same command goes on after it."""

import errno
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_run import KEYS, MANIFEST, STARTS, cell, contents, names, tiny_run

from envs.errors import InputError
from harness.errors import RunError
from harness.rollouts import atomic
from harness.rollouts.runfolder import file_name, open_run

STEPS = (
    "open",
    "read",
    "write",
    "fsync",
    "close",
    "replace",
    "mkdir",
    "unlink",
    "rmdir",
    "listdir",
)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    """What `fsync` is for needs a loss of power to be seen."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


class Killed(BaseException):
    """The process is gone: nothing it still meant to do happens."""


class Disk:
    """Stands in for `os` and stops the k-th step: for good, half way, or with an error."""

    def __init__(self, at=None, how="kill"):
        self.at, self.how = at, how
        self.steps = []  # (name, first argument)
        self.handles = {}  # open ones -> path
        self.fired = self.dead = False

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def step(*arguments):
            if self.dead:
                raise Killed
            self.steps.append((name, arguments[0]))
            if len(self.steps) - 1 == self.at:
                self.fired = True
                self._stop(name, arguments)
            return self._do(name, real, arguments)

        return step

    def _stop(self, name, arguments):
        if self.how in ("kill", "torn"):
            self.dead = True
            if self.how == "torn" and name == "write":
                os.write(arguments[0], arguments[1][: len(arguments[1]) // 2])
            raise Killed
        raise OSError(self.how, os.strerror(self.how))

    def _do(self, name, real, arguments):
        result = real(*arguments)
        if name == "open":
            self.handles[result] = str(arguments[0])
        if name == "close":
            self.handles.pop(arguments[0])
        return result

    def end_process(self):
        """Do what the kernel does at the end of a process."""
        for handle in self.handles:
            os.close(handle)


@pytest.fixture
def on_disk(monkeypatch):
    """Run the tiny run on a disk that stops a step; return that disk, and what was raised."""

    def go(path, at=None, how="kill"):
        disk, raised = Disk(at, how), None
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "os", disk)
            try:
                tiny_run(path)
            except (Killed, InputError, RunError) as error:
                raised = error
        disk.end_process()
        return disk, raised

    return go


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The files of a run that nothing disturbed."""
    path = tmp_path_factory.mktemp("reference") / "run"
    assert tiny_run(path) == names()
    return contents(path)


def finals(path):
    """The files that have their final names."""
    return {name: data for name, data in contents(path).items() if not name.endswith(".tmp")}


@pytest.mark.parametrize("how", ["kill", "torn", errno.EIO, errno.ENOSPC], ids=str)
@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.__name__)
def test_a_run_stopped_at_any_step_is_whole_and_continues_to_the_same_report(
    start, how, on_disk, reference, tmp_path
):
    for at in itertools.count():
        path = tmp_path / str(at) / "run"
        start(path)
        before = finals(path)
        disk, raised = on_disk(path, at, how)
        if not disk.fired:
            break
        stopped = finals(path)
        assert all(stopped[name] in (reference[name], before.get(name)) for name in stopped)
        assert stopped.keys() >= before.keys()
        assert isinstance(raised, Killed) or how not in ("kill", "torn")
        cells = [f"cells/{name}" for name in names()]
        missing = [name for name in cells if stopped.get(name) != reference[name]]
        assert [f"cells/{name}" for name in tiny_run(path)] == missing, disk.steps[-1]
        assert contents(path) == reference, disk.steps[-1]
    assert at == len(disk.steps) >= 20
    assert raised is None


def test_errors_of_the_disk_are_one_line_and_say_what_is_kept(on_disk, tmp_path):
    """At the start they are bad input; from the first cell on the run fails and keeps its cells."""
    messages = []
    for at in itertools.count():
        disk, raised = on_disk(tmp_path / str(at), at, errno.ENOSPC)
        if not disk.fired:
            break
        if raised is not None:
            assert "\n" not in str(raised)
            assert os.strerror(errno.ENOSPC) in str(raised)
            messages.append((type(raised), str(raised)))
    kinds = [kind for kind, _ in messages]
    assert kinds == sorted(kinds, key=[InputError, RunError].index)
    kept = [text for kind, text in messages if kind is RunError]
    assert "; 0 finished cells in " in kept[0]
    assert "; 4 finished cells in " in kept[-1]
    assert kept[-1].endswith("and the same command goes on from there")


def test_a_file_is_on_the_disk_before_it_gets_its_name_and_so_is_the_name(on_disk, tmp_path):
    disk, _ = on_disk(tmp_path / "run")
    names_only = [name for name, _ in disk.steps]
    renames = [place for place, name in enumerate(names_only) if name == "replace"]
    assert len(renames) == 1 + len(KEYS) + 1
    for at in renames:
        assert names_only[at - 4 : at] == ["open", "write", "fsync", "close"]
        assert names_only[at + 1 : at + 4] == ["open", "fsync", "close"]
        assert disk.steps[at - 4][1] == disk.steps[at][1]
        assert disk.steps[at + 1][1] == Path(disk.steps[at][1]).parent


def test_nothing_stays_open(on_disk, tmp_path):
    disk, _ = on_disk(tmp_path / "run")
    assert not disk.handles


def test_a_change_of_any_byte_of_a_cell_is_noticed(tmp_path, monkeypatch):
    """All but spaces; its time, which no number depends on, is not guarded."""
    tiny_run(tmp_path)
    monkeypatch.setattr(atomic, "prove_writable", lambda _: None)
    file = tmp_path / "cells" / names()[0]
    sound, timing = file.read_bytes(), file.read_bytes().index(b'"timing"')
    unnoticed = []
    for place in range(timing):
        file.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        with open_run(tmp_path) as folder:
            folder.begin(MANIFEST)
            if folder.has(KEYS[0]):
                assert folder.find(KEYS[0]) == cell(KEYS[0])
                unnoticed.append(sound[place : place + 1])
            else:
                assert f"{file} is damaged; it is played again" in folder.notes
    assert set(unnoticed) <= {b" ", b"\n"}


def test_a_cell_under_the_name_of_another_is_not_taken_for_it(tmp_path, reference):
    tiny_run(tmp_path)
    cells = tmp_path / "cells"
    (cells / names()[0]).write_bytes((cells / names()[1]).read_bytes())
    assert tiny_run(tmp_path) == [names()[0]]
    assert contents(tmp_path) == reference


@pytest.mark.parametrize("cut", [0, 1, 100, -2])
def test_a_cell_that_was_cut_short_is_played_again(cut, tmp_path):
    tiny_run(tmp_path)
    file = tmp_path / "cells" / names()[2]
    file.write_bytes(file.read_bytes()[:cut])
    assert tiny_run(tmp_path) == [names()[2]]


def test_a_cell_of_another_run_is_not_taken_for_one_of_this(tmp_path):
    tiny_run(tmp_path / "one")
    with open_run(tmp_path / "other") as folder:
        folder.begin({**MANIFEST, "measured": {"settings": {"episodes": 4}}})
        folder.keep(KEYS[0], cell(KEYS[0]), {})
    foreign = (tmp_path / "other" / "cells" / names()[0]).read_bytes()
    (tmp_path / "one" / "cells" / names()[0]).write_bytes(foreign)
    assert tiny_run(tmp_path / "one") == [names()[0]]


def test_another_run_in_the_same_folder_is_refused_with_the_difference(tmp_path):
    tiny_run(tmp_path)
    before = contents(tmp_path)
    other = {**MANIFEST, "measured": {**MANIFEST["measured"], "settings": {"episodes": 4}}}
    with open_run(tmp_path) as folder, pytest.raises(InputError) as refused:
        folder.begin(other)
    assert str(refused.value) == (
        f"{tmp_path} holds another run: settings.episodes is 3 there, 4 here; settings.seed is 0 "
        "there, missing here; choose another folder"
    )
    assert contents(tmp_path) == before


def test_two_runs_do_not_work_in_one_folder(tmp_path):
    with open_run(tmp_path / "run") as folder:
        folder.begin(MANIFEST)
        with pytest.raises(InputError, match=r"another run is at work in .*run; wait for it"):
            tiny_run(tmp_path / "run")
    assert len(tiny_run(tmp_path / "run")) == len(KEYS)


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = (
        "import os, signal, sys; from harness.rollouts.runfolder import open_run\n"
        f"with open_run({str(tmp_path)!r}) as folder:\n"
        f"    folder.begin({MANIFEST!r})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert killed.returncode == -9, killed.stderr
    assert (tmp_path / ".lock").exists()
    assert len(tiny_run(tmp_path)) == len(KEYS)


def test_a_file_system_without_locks_is_used_and_it_is_said(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(atomic.fcntl, "flock", none)
    with open_run(tmp_path) as folder:
        assert "no locks on this file system" in folder.notes[0]


def test_a_folder_in_which_nothing_began_is_left_as_it_was(tmp_path):
    with pytest.raises(ZeroDivisionError), open_run(tmp_path / "new" / "inside"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    with open_run(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").is_dir()
    assert list((tmp_path / "mine").iterdir()) == []


def test_files_of_others_in_the_folder_stay(tmp_path):
    for name in ("notes.txt", ".hidden.tmp", ".notes.json.tmp"):
        (tmp_path / name).write_text("mine")
    tiny_run(tmp_path)
    tiny_run(tmp_path)
    assert all((tmp_path / n).exists() for n in ("notes.txt", ".hidden.tmp", ".notes.json.tmp"))


def sealed(**changes):
    """A manifest as it stands in a folder, changed without renewing its checksum."""

    def change(path):
        data = json.loads((path / "manifest.json").read_text())
        (path / "manifest.json").write_text(json.dumps({**data, **changes}))

    return change


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda path: (path / "manifest.json").unlink(), "holds report.json but no manifest.json"),
        (lambda path: (path / "manifest.json").write_text("{"), "is not that of a run"),
        (lambda path: (path / "manifest.json").write_text("[1]"), "is not that of a run"),
        (sealed(schema="heldout-policy"), "is not that of a run"),
        (sealed(schema_version=9), "schema version 9; this program goes on with version 1"),
        (sealed(measured={}), "is damaged, so it is not known what was measured"),
    ],
)
def test_a_folder_that_does_not_say_what_it_measured_is_refused(spoil, expected, tmp_path):
    tiny_run(tmp_path)
    spoil(tmp_path)
    (tmp_path / ".lock").unlink()
    before = contents(tmp_path)
    with pytest.raises(InputError) as refused:
        tiny_run(tmp_path)
    assert expected in str(refused.value)
    assert contents(tmp_path) == before
    assert not (tmp_path / ".lock").exists()


def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(InputError, match=r"cannot be written: Not a directory"):
            tiny_run(place)


def test_a_finished_run_is_left_byte_for_byte(tmp_path):
    tiny_run(tmp_path)
    files = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    stamps = {file: file.stat().st_mtime_ns for file in files}
    assert tiny_run(tmp_path, seconds=7.0) == []
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == files
    assert {file: file.stat().st_mtime_ns for file in files} == stamps


def test_a_report_that_was_changed_is_made_again_from_the_cells(tmp_path, reference):
    tiny_run(tmp_path)
    report = tmp_path / "report.json"
    report.write_text(report.read_text().replace("97", "98"))
    assert tiny_run(tmp_path) == []
    assert contents(tmp_path) == reference


def test_times_are_summed_over_starts(tmp_path):
    with open_run(tmp_path) as folder:
        folder.begin(MANIFEST)
        folder.keep(KEYS[0], cell(KEYS[0]), {"rollouts_s": 100.0})
    tiny_run(tmp_path, seconds=1.0)
    assert json.loads((tmp_path / "report.json").read_text())["timing"] == {"rollouts_s": 103.0}


def test_an_interruption_says_what_is_kept(tmp_path):
    def interrupted(path, cells):
        with open_run(path) as folder:
            for key in KEYS[:cells]:
                folder.begin(MANIFEST)
                folder.keep(key, cell(key), {})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        interrupted(tmp_path, 1)
    assert str(stop.value) == (
        f"interrupted; 1 finished cell in {tmp_path}, and the same command goes on from there"
    )
    with pytest.raises(KeyboardInterrupt) as stop:
        interrupted(tmp_path / "unbegun", 0)
    assert str(stop.value) == "interrupted"


def test_an_interruption_while_a_file_is_written_leaves_no_trace(tmp_path, monkeypatch):
    tiny_run(tmp_path)
    (tmp_path / "report.json").unlink()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tiny_run(tmp_path)
    assert not [name for name in contents(tmp_path) if name.endswith(".tmp")]


@pytest.mark.parametrize("name", ["hue-180", "two-sides/dark", "pair ü: a/../b", "." * 300, ""])
def test_any_name_gives_a_file_inside_the_folder(name):
    key = {"kind": "policy", "name": name, "training": "base", "seed": 0, "side": "f" * 64}
    file = file_name(key)
    assert Path(file).name == file
    assert len(file) < 120
    assert not file.startswith(".")
    assert file != file_name({**key, "name": name + "x"})
