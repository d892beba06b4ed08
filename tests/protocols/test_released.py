"""What was released stays what it was, and the README of the suites says what they are."""

import json
import re
from pathlib import Path

import pytest

from protocols import load_suite, suite_names
from protocols.__main__ import main
from protocols.loader import SUITES

HERE = Path(__file__).parent
README = (SUITES.parent / "README.md").read_text(encoding="utf-8")
DIGESTS = json.loads((HERE / "digests.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", suite_names())
def test_a_released_version_of_a_suite_never_changes(name):
    suite = load_suite(name)
    released = DIGESTS.get(name, {}).get(str(suite.version))
    assert released == suite.digest, (
        f"suite {name} v{suite.version} measures something else than what was released: a changed "
        f"default, colour or picture, or an edit. A new version belongs into its file, into "
        f"protocols/README.md and, with digest {suite.digest}, into tests/protocols/digests.json"
    )


def test_every_released_suite_is_still_there():
    assert sorted(DIGESTS) == suite_names()


def test_the_readme_shows_what_the_list_says(capsys):
    assert main(["list"]) == 0
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL).group(1)
    assert shown == capsys.readouterr().out


def test_the_readme_names_every_version():
    table = README.split("### Versions")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("|")][2:]
    named = {(name.strip(), int(version)) for names, version in rows for name in names.split(",")}
    assert named == {(name, int(version)) for name in DIGESTS for version in DIGESTS[name]}


def test_the_example_of_the_readme_is_a_suite(tmp_path, capsys):
    file = tmp_path / "dusk.yaml"
    file.write_text(re.search(r"```yaml\n(.*?)```", README, re.DOTALL).group(1), encoding="utf-8")
    assert [pair.kind for pair in load_suite(file)] == ["pair", "split", "sweep"]
    assert main(["show", str(file)]) == 0
    assert "gray  (axis background, trained on daylight)" in capsys.readouterr().out


def test_the_readme_knows_every_key_and_axis():
    from protocols import loader
    from protocols.axes import AXES

    keys = {*loader._SUITE_KEYS, *loader._PAIR_KEYS, *AXES}
    keys |= {key for some in loader._KIND_KEYS.values() for key in some}
    rows = "\n".join(line for line in README.splitlines() if line.startswith("| `"))
    assert not [key for key in sorted(keys) if not re.search(rf"\b{key}\b", rows)]
