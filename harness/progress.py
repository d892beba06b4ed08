"""What a person sees on stderr while an evaluation runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from harness.reporting.blocks import count
from harness.reporting.table import policy_line
from harness.run import Settings, Watcher
from harness.statistics import plan_message
from protocols import Suite


def gate_notes(suite: Suite, settings: Settings, seeds: int, episodes: int) -> list[str]:
    """Return which gates the planned seeds and episodes cannot, or will seldom, decide."""
    found = [
        plan_message(
            rule.threshold, seeds, episodes, pairs=len(suite) if rule.scope == "pairs" else 1
        )
        for rule in settings.rules
        if rule.metric == "success"
    ]
    return [text for text in found if text]


class ConsoleWatcher(Watcher):
    """One line before the start; on a terminal, a bar while cells are rolled out."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        self.suite, self.settings = suite, settings
        self.terminal = sys.stderr.isatty()
        self.bar = Progress(
            TextColumn("  {task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"),
            TimeRemainingColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self.task: Any = None
        self.said: set[str] = set()

    def __enter__(self) -> ConsoleWatcher:
        return self

    def __exit__(self, *_: object) -> None:
        if self.task is not None:  # a bar that never started would end with an empty line
            self.bar.stop()

    def planned(self, report_facts: Mapping[str, Any], cells: int, episodes: int) -> None:
        seeds = len(report_facts["seeds"])
        print(
            f"{policy_line(report_facts)}\n"
            f"suite {self.suite.name}: {count(cells, 'cell')} of {count(episodes, 'episode')} "
            f"(each side once per training seed)",
            file=sys.stderr,
            flush=True,
        )
        for text in gate_notes(self.suite, self.settings, seeds, episodes):
            self.note(text)
        if self.terminal:
            self.bar.start()
            self.task = self.bar.add_task("compiling …", total=cells * episodes)

    def cell_started(self, name: str, seed: int) -> None:
        if self.task is not None:
            self.bar.update(self.task, description=f"{name}, seed {seed}")

    def episodes_finished(self, number: int) -> None:
        if self.task is not None:
            self.bar.advance(self.task, number)

    def reported(self, file: Path) -> None:
        print(f"report: {file}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        if text in self.said:
            return
        self.said.add(text)
        print(f"note: {text}", file=sys.stderr, flush=True)
