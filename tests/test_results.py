"""The recorded results: their tables are those of the reports."""

from __future__ import annotations

import importlib.util
from pathlib import Path

RESULTS = Path(__file__).resolve().parent.parent / "results"


def _render():
    spec = importlib.util.spec_from_file_location("results_render", RESULTS / "render.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_table_is_what_its_report_says():
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    render = _render()
    assert render.TABLE.search(text), "no table between markers"
    assert render.rendered(text) == text, "stale: python results/render.py"


def test_a_stale_table_is_found():
    render = _render()
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    number = render.TABLE.search(text).group(0)
    assert render.rendered(text.replace(number, number.replace("0.", "1."))) == text


def test_every_recorded_report_is_in_the_readme_and_small():
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    for report in RESULTS.glob("*/report.json"):
        assert f"`{report.parent.name}/`" in text
        assert report.stat().st_size < 1_500_000
