"""Splits, sweeps and widenings in YAML: what they say, and what is refused."""

import pytest

from envs.errors import InputError
from protocols import load_suite, loader
from protocols.audit import dose_seen, share_inside, share_seen, unseen_sides

SPLIT = """
name: mine
version: 1
pairs:
  colours:
    kind: split
    axis: background
    train: base
    sides:
      purple: {background: {mode: color, color_names: purple}}
      lime: {background: {mode: color, color_names: lime}}
"""
SWEEP = """
name: mine
version: 1
pairs:
  hue:
    kind: sweep
    axis: filters
    train: base
    parameter: filters.hue_shift
    doses: [0, 45, 90, 180]
"""
SIDES = """
name: mine
version: 1
pairs:
  colours:
    kind: sweep
    axis: background
    train: base
    sides:
      black: {}
      half: {background: {mode: color, color_names: [black, lime]}}
      all: {background: {mode: color, color_names: [lime, purple]}}
"""
CUMULATIVE = """
name: mine
version: 1
pairs:
  colours:
    kind: sweep
    axis: background
    train: base
    cumulative: true
    sides:
      black: {}
      white: {background: {mode: color, color_names: white}}
      lime: {background: {mode: color, color_names: lime}}
"""
CONFOUNDED = """
name: mine
version: 1
pairs:
  both:
    axis: background
    train: base
    confounded: true
    heldout: {background: {mode: noise}, character: {shape_colors: pink}}
"""
WIDENING = """
name: mine
version: 1
pairs:
  wider:
    kind: widening
    axis: background
    train: base
    wide: colourful
    heldout: {background: {mode: color, color_names: purple}}
"""


@pytest.fixture(autouse=True)
def _colourful(monkeypatch):
    """Two more training configurations: one wider than `base`, one beside it."""
    known = dict(loader.training_configs())
    known["colourful"] = known["base"].replace(
        {"background": {"mode": "color", "color_names": ["black", "lime"]}}
    )
    known["elsewhere"] = known["base"].replace(
        {"background": {"mode": "color", "color_names": ["white", "lime"]}}
    )
    monkeypatch.setattr(loader, "training_configs", lambda: known)


def load(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return next(iter(load_suite(path)))


def refusal(tmp_path, text):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_split_has_several_held_out_sides(tmp_path):
    pair = load(tmp_path, SPLIT)
    assert pair.kind == "split"
    assert list(pair.heldout) == ["purple", "lime"]


def test_a_sweep_over_a_parameter_has_one_side_per_dose(tmp_path):
    pair = load(tmp_path, SWEEP)
    assert dict(pair.doses) == {"0": 0, "45": 45, "90": 90, "180": 180}
    assert pair.difference("90") == {"filters.hue_shift": (0, 90)}
    assert pair.heldout["0"].digest == pair.train.digest


def test_a_sweep_says_which_share_of_each_dose_training_shows(tmp_path):
    pair = load(tmp_path, SIDES)
    assert dict(pair.doses) == {"black": 1, "half": 2, "all": 3}
    assert [share_seen(pair, side) for side in pair.heldout] == [1, 0.5, 0]
    assert unseen_sides(pair) == ["all"]


def test_each_dose_of_a_cumulative_sweep_pools_all_sides_up_to_its_own(tmp_path):
    pair = load(tmp_path, CUMULATIVE)
    pools = [pair.pooled(side) for side in pair.doses]
    assert pools == [("black",), ("black", "white"), ("black", "white", "lime")]
    assert [dose_seen(pair, side) for side in pair.doses] == [1, 1 / 2, 1 / 3]
    assert unseen_sides(pair) == ["white", "lime"]
    assert pair.digest != load(tmp_path, CUMULATIVE.replace("true", "false")).digest


def test_a_confounded_pair_says_so_in_its_digest_and_may_leave_its_axis(tmp_path):
    pair = load(tmp_path, CONFOUNDED)
    assert pair.confounded
    assert "character.shape_colors" in pair.difference("heldout")
    two = CONFOUNDED.replace("background: {mode: noise}, character", "character").replace(
        "shape_colors: pink", "shape_colors: pink, shape_types: line"
    )
    two = two.replace("axis: background", "axis: agent_appearance")
    marked, unmarked = two, two.replace("    confounded: true\n", "")
    assert load(tmp_path, marked).digest != load(tmp_path, unmarked).digest


def test_a_suite_may_bring_training_configurations_of_its_own(tmp_path):
    own = WIDENING.replace("train: base", "train: dark").replace("wide: colourful", "wide: both")
    own = own.replace(
        "pairs:", "training:\n  dark: {background: {mode: color, color_names: gray}}\n"
        "  both: {background: {mode: color, color_names: [gray, lime]}}\npairs:",
    )  # fmt: skip
    pair = load(tmp_path, own)
    assert (pair.train_name, pair.wide_name) == ("dark", "both")
    assert pair.train.effective()["background.color_names"] == [[128, 128, 128]]
    assert "no training configuration 'drak'; did you mean 'dark'" in refusal(
        tmp_path, own.replace("train: dark", "train: drak")
    )
    assert "'base' is the name of a bundled configuration" in refusal(
        tmp_path, own.replace("  dark:", "  base:").replace("train: dark", "train: base")
    )


def test_a_widening_names_both_training_sides_and_its_prediction(tmp_path):
    pair = load(tmp_path, WIDENING)
    assert (pair.train_name, pair.wide_name) == ("base", "colourful")
    assert "gap shrinks" in pair.prediction
    assert pair.widened.train.digest == pair.wide.digest
    assert dict(pair.widened.heldout) == dict(pair.heldout)


def test_doses_and_predictions_are_part_of_the_digest(tmp_path):
    assert load(tmp_path, SIDES).digest != load(tmp_path, SIDES + "    doses: [1, 2, 4]\n").digest
    other = WIDENING + "    prediction: Nothing changes.\n"
    assert load(tmp_path, WIDENING).digest != load(tmp_path, other).digest


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (SPLIT, "      lime: {background: {mode: color, color_names: lime}}\n", "", "two held-out"),
        (SPLIT, "color_names: lime", "color_names: [lime, black]", "side lime: not held out"),
        (SPLIT, "kind: split", "kind: spilt", "no kind 'spilt'; did you mean 'split'"),
        (SPLIT, "kind: split", "kind: split\n    doses: [1, 2]", "no key 'doses'"),
        (SWEEP, "[0, 45, 90, 180]", "[0, 90, 45]", "doses must increase"),
        (SWEEP, "[0, 45, 90, 180]", "[0]", "two doses or more"),
        (SWEEP, "[0, 45, 90, 180]", "many", "expected a list of numbers, got 'many'"),
        (SWEEP, "    doses: [0, 45, 90, 180]\n", "", "with 'parameter' give 'doses'"),
        (SWEEP, "hue_shift", "hue_shfit", "hue_shfit: there is no such parameter"),
        (SWEEP, "axis: filters", "axis: background", "which is not on the axis background"),
        (SIDES, "[lime, purple]", "[lime, black]", "the training side can produce every dose"),
        (SIDES, "    axis", "    doses: [1, 2]\n    axis", "2 doses for 3 sides"),
        (CUMULATIVE, "cumulative: true", "cumulative: 3", "cumulative: expected true or false"),
        (CUMULATIVE, "kind: sweep", "kind: split", "no key 'cumulative'"),
        (SWEEP, "kind: sweep", "kind: sweep\n    cumulative: true", "pools 'sides', not doses"),
        (CONFOUNDED, "    confounded: true\n", "", "differs, which is not on the axis"),
        (CONFOUNDED, "confounded: true", "confounded: maybe", "true or false, got 'maybe'"),
        (CONFOUNDED, "background: {mode: noise}, ", "", "nothing on the axis background differs"),
        (CONFOUNDED, ", character: {shape_colors: pink}", "", "only background.mode differs"),
        (WIDENING, "    wide: colourful\n", "", "'wide' is missing"),
        (WIDENING, "wide: colourful", "wide: colorful", "did you mean 'colourful'"),
        (WIDENING, "wide: colourful", "wide: base", "behaves like the narrow one"),
        (WIDENING, "wide: colourful", "wide: elsewhere", "does not contain the narrow one"),
        (WIDENING, "names: purple", "names: lime", "before the wide training side colourful"),
    ],
)  # fmt: skip
def test_faults_are_refused_in_one_line(tmp_path, text, old, new, expected):
    assert old in text
    assert expected in refusal(tmp_path, text.replace(old, new))


@pytest.mark.parametrize(
    ("outer", "inner", "share"),
    [
        (0.8, 0.8, 1),
        (0.8, 0.9, 0),
        ({"uniform": [0, 1]}, 0.5, 1),
        ({"uniform": [0, 1]}, {"uniform": [0.5, 1.5]}, 0.5),
        ({"uniform": [0, 1]}, {"uniform": [2, 3]}, 0),
        (0.5, {"uniform": [0, 1]}, 0),
        ([1, 2], [2, 3, 4, 1], 0.5),
        (True, False, 0),
        (None, 3, 1),
    ],
)
def test_the_share_of_one_support_inside_another(outer, inner, share):
    assert share_inside(outer, inner) == share
