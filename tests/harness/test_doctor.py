"""The doctor says what is there, and whether a known answer comes out."""

import pytest

from envs.errors import InputError
from harness import doctor


def run(capsys):
    code = doctor.main([])
    return code, *capsys.readouterr()


def test_it_says_what_is_there(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "self_test", lambda: None)
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    for label in ("heldout", "python", "packages", "devices", "cache", "extras", "envs"):
        assert any(line.startswith(label) for line in out.splitlines())
    assert "(ours)" in out
    assert "MISSING" not in out


def test_an_envs_in_the_way_is_named(capsys, monkeypatch, tmp_path):
    (tmp_path / "envs.py").write_text("raise RuntimeError('the wrong envs')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "self_test", lambda: None)
    code, out, _ = run(capsys)
    assert code == 0
    assert f"not used here: {tmp_path / 'envs.py'}" in out


def raising():
    raise InputError("no assets")


@pytest.mark.parametrize("broken", [lambda: "distance 3", raising])
def test_a_failed_self_test_is_exit_code_4(capsys, monkeypatch, broken):
    monkeypatch.setattr(doctor, "self_test", broken)
    code, out, _ = run(capsys)
    assert code == 4
    assert "FAILED" in out


def test_a_missing_package_is_exit_code_4(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "CORE", (*doctor.CORE, "no-such-package"))
    code, out, _ = run(capsys)
    assert code == 4
    assert "missing: no-such-package" in out


@pytest.mark.slow
def test_the_self_test_passes_here_and_notices_when_the_pictures_are_wrong(monkeypatch):
    assert doctor.self_test() is None
    monkeypatch.setattr(doctor, "SKY", "black")  # as if the colour were not drawn
    assert doctor.self_test() == "distance 0 of a policy that runs to the right"
