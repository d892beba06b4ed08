"""The direction of imports, and what importing costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = ("envs", "protocols", "harness", "reference_agents")  # each may import those before it
FILES = [path for package in ORDER for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_import_only_those_before_them(path):
    own = path.relative_to(ROOT).parts[0]
    for name in imported(path):
        other = name.split(".")[0]
        assert other not in ("results", "tests")
        if other in ORDER:
            assert ORDER.index(other) <= ORDER.index(own), f"{own} imports {other}"


def test_statistics_stand_alone():
    for path in (ROOT / "harness" / "statistics").glob("*.py"):
        for name in imported(path):
            ours = name.split(".")[0] in ORDER
            assert not ours or name.startswith("harness.statistics"), f"{path.name}: {name}"
            assert name.split(".")[0] != "jax", path.name


def run_python(code, cwd):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=cwd, capture_output=True, text=True
    )


def test_importing_the_harness_loads_no_jax_and_prints_nothing(tmp_path):
    done = run_python("import harness, sys; assert 'jax' not in sys.modules", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_folder_named_envs_in_the_way_does_not_shadow_ours(tmp_path):
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "__init__.py").write_text("raise RuntimeError('the wrong envs')")
    done = run_python(
        "from harness import evaluate; import protocols, envs; envs.CONFIGS", tmp_path
    )
    assert done.returncode == 0, done.stderr
