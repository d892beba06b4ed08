"""The command line of `python -m harness.evaluate` (and `heldout`, the same under another name)."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from harness.errors import BAD_INPUT, COMPLETE, FAILED, INTERRUPTED, RunError
from harness.interrupt import interruptible

EXIT_CODES = """\
exit codes:
  0    complete; every gate that was asked for passed
  1    a gate failed
  2    bad input or usage
  3    a gate is inconclusive (--on-inconclusive exit3|pass|fail)
  4    the run or the measurement failed
  130  interrupted
"""


class Parser(argparse.ArgumentParser):
    """A command of the harness: says what is wrong in one line, with the nearest option."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"python -m harness.{command}",
            description=description,
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        from envs.errors import nearest

        unknown = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized") and unknown[0].startswith("-"):
            options = [option for action in self._actions for option in action.option_strings]
            close = nearest(unknown[0].partition("=")[0], options)
            message = f"no option {unknown[0]}" + (f"; did you mean {close}?" if close else "")
        elif message.startswith("unrecognized"):
            message += "; a pattern needs quotes: --policy 'runs/*/seed-*'"
        print(f"heldout: {message} (--help lists the options)", file=sys.stderr)
        sys.exit(BAD_INPUT)


def add_jax_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that run JAX; `start_jax` follows them."""
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto",
                        help="what to run on (default: auto, the best JAX finds)")  # fmt: skip
    parser.add_argument("--no-cache", action="store_true",
                        help="compile every program anew, keep none on disk")  # fmt: skip


def start_jax(options: argparse.Namespace) -> None:
    """Start JAX as `add_jax_options` asks; before anything is compiled."""
    from harness.rollouts.cache import no_cache, use_cache
    from harness.rollouts.device import choose_device

    choose_device(options.device)
    if options.no_cache:
        no_cache()
    else:
        use_cache()


def announce() -> None:
    """Say on a terminal that something happens: importing JAX takes its time."""
    if sys.stderr.isatty():
        print("heldout: starting jax …", file=sys.stderr, flush=True)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser("evaluate", "Evaluate a policy on training and held-out configurations.")
    add = parser.add_argument
    add("--policy", help="checkpoint, folder of seed-<k>, pattern, net.onnx, ws://HOST:PORT, "
        "module:attr, file.py:attr, or "
        "builtin:ppo|rad|random|noop|right|right-jump|oracle|greedy-manhattan")  # fmt: skip
    add("--suite", default="hard", help="name of a bundled suite, or a YAML file (default: hard)")
    add("--pair", help="only this pair of the suite")
    add("--episodes", type=int, help="per side and training seed (default: the suite's number)")
    add("--seed", type=int, default=0, help="master seed of the episodes (default: 0)")
    add("--num-envs", type=int, default=256, help="episodes in flight (default: 256)")
    add("--actions", choices=("greedy", "sample"), help="default: what the checkpoint declares")
    add("--step", default="last", metavar="N|last|all",
        help="which checkpoint of a training that has several (all: with --paper)")  # fmt: skip
    add("--apply", metavar="FILE.py:NAME",
        help="the code that weights without a manifest belong to")  # fmt: skip
    add("--params-key", metavar="A/B", help="where in a checkpoint its parameters are (.: whole)")
    add("--allow-extra", action="store_true", help="ignore leaves that the policy does not expect")
    add("--describe-policy", metavar="PATH",
        help="say what weights lie there and what to type next, run nothing")  # fmt: skip
    add("--paper", action="store_true",
        help="the published aggregation over all checkpoints; it never gates")  # fmt: skip
    add("--out", type=Path, metavar="DIR",
        help="keep finished cells and report.json there; the same command goes on")  # fmt: skip
    add("--save-worst", type=int, default=0, metavar="K",
        help="with --out: draw the K episodes that lose most, both sides of each")  # fmt: skip
    add("--json", action="store_true", help="print the report as JSON instead of the table")
    add("--max-gap", action="append", default=[], metavar="METRIC=V",
        help="gate: largest allowed gap of the suite mean")  # fmt: skip
    add("--max-pair-gap", action="append", default=[], metavar="METRIC=V",
        help="gate: largest allowed gap of every pair")  # fmt: skip
    add("--on-inconclusive", choices=("exit3", "pass", "fail"), default="exit3",
        help="what an inconclusive gate exits with (default: exit3)")  # fmt: skip
    add(
        "--baseline",
        type=Path,
        metavar="REPORT",
        help="gate: a saved run whose gaps must not have grown (its folder or report.json)",
    )
    add("--max-worsening", action="append", default=[], metavar="METRIC=V",
        help="how much a gap may grow against the baseline (default: its tolerance)")  # fmt: skip
    add(
        "--policy-shift",
        action="store_true",
        help="also measure how often the policy acts differently on the held-out picture",
    )
    add("--dry-run", action="store_true",
        help="load and check everything, say what would run and how long, then stop")  # fmt: skip
    add("--list", action="store_true", help="list the suites and their pairs, then stop")
    add("--verbose", action="store_true", help="say how many programs were compiled, and the time")
    add_jax_options(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = build_parser().parse_args(arguments)
    if options.describe_policy is not None:
        return guarded(lambda: _describe(options))
    if options.policy is not None and not options.list:
        announce()
    return guarded(_list_suites if options.list else lambda: _evaluate(options, arguments))


def guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code; whatever goes wrong is one line on stderr."""
    try:
        with interruptible():
            return _checked(command)
    except RunError as error:
        print(f"heldout: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt as stop:
        print(f"heldout: {str(stop) or 'interrupted'}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone; nothing is left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return COMPLETE
    except Exception:  # a fault of ours must not look like a failed gate (Python would exit with 1)
        traceback.print_exc()
        return FAILED


def _checked(command: Callable[[], int]) -> int:
    from envs.errors import InputError  # brings JAX, and may be interrupted itself

    try:
        return command()
    except InputError as error:
        print(f"heldout: {error}", file=sys.stderr)
        return BAD_INPUT


def _describe(options: argparse.Namespace) -> int:
    """Say what weights lie at a path."""
    from harness.policies.describe import describe

    print(describe(options.describe_policy, _step(options)), flush=True)
    return COMPLETE


def _list_suites() -> int:
    from protocols import load_suite, suite_names

    for name in suite_names():
        suite = load_suite(name)
        print(f"{name} v{suite.version}: {suite.description}")
        for pair in suite:
            print(f"  {pair.name:24} {pair.axis}")
    return COMPLETE


def _evaluate(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    from dataclasses import replace

    from envs.errors import InputError

    if options.policy is None:
        raise InputError("--policy is missing: what should be evaluated? (builtin:ppo to try)")
    start_jax(options)
    from harness.progress import ConsoleWatcher
    from harness.reporting.baseline import read_baseline
    from harness.reporting.export import dump, to_dict
    from harness.reporting.gate import parse_rule
    from harness.rollouts.compiling import timing_line
    from harness.run import Settings, run
    from protocols import load_suite

    suite = load_suite(options.suite)
    if options.pair is not None:
        suite = replace(suite, pairs=(suite[options.pair],))
    env, _ = suite.pairs[0].train.build()
    known = [metric.name for metric in env.metrics]
    rules = [parse_rule(text, "suite", known) for text in options.max_gap]
    rules += [parse_rule(text, "pairs", known) for text in options.max_pair_gap]
    worsening = [parse_rule(text, "change", known) for text in options.max_worsening]
    settings = Settings(
        options.episodes, options.seed, options.num_envs, options.actions, tuple(rules),
        options.on_inconclusive, shlex.join(["python", "-m", "harness.evaluate", *arguments]),
        baseline=read_baseline(options.baseline, suite, narrowed=options.pair is not None),
        max_worsening={rule.metric: rule.threshold for rule in worsening},
        policy_shift=options.policy_shift,
    )  # fmt: skip
    if _step(options) == "all":
        return _envelope(options, suite, settings, env)
    if options.save_worst < 0 or (options.save_worst and options.out is None):
        raise InputError("--save-worst K draws K pictures into the run's folder; name it: --out")
    policies = load_named(options, suite, env)
    if options.dry_run:
        return _dry_run(options, policies, suite, settings)
    with ConsoleWatcher(suite, settings) as watcher:
        report = run(policies, suite, settings, watcher, out=options.out)
    if options.save_worst:
        from harness.reporting.worst import save_worst

        for file in save_worst(report, policies, options.save_worst, options.out):
            print(f"pictures: {file}", file=sys.stderr)
    if options.verbose:
        print(timing_line(report.timing), file=sys.stderr)
    print(dump(to_dict(report)) if options.json else report, flush=True)
    return report.exit_code


def load_named(options: argparse.Namespace, what, env, step: int | None = None):
    """Return the policies that the options name, for a pair or a suite.

    `step` is one of their training, in place of that of the options.
    """
    from harness.policies.sources import load_policies

    chosen = _step(options) if step is None else step
    return load_policies(
        options.policy, actions=options.actions, env=env, step=chosen, apply=options.apply,
        params_key=options.params_key, allow_extra=options.allow_extra,
        sides=what.training_sides, note=lambda text: print(f"note: {text}", file=sys.stderr),
    )  # fmt: skip


def _dry_run(options: argparse.Namespace, policies, suite, settings) -> int:
    """Say what a run would do and how long it would take."""
    from harness.dryrun import plan, render
    from harness.reporting.export import dump, plain

    found = plan(policies, suite, settings)
    print(dump(plain(found)) if options.json else render(found), flush=True)
    return COMPLETE


def _step(options: argparse.Namespace) -> int | str:
    """Return the step that was asked for: a number, "last" or "all"."""
    from envs.errors import InputError

    if options.paper != (options.step == "all"):
        raise InputError("--paper and --step all belong together: an envelope over checkpoints")
    if options.paper and options.dry_run:
        raise InputError("--dry-run looks at one checkpoint; leave --paper --step all out")
    if options.paper and (options.max_gap or options.max_pair_gap or options.baseline):
        raise InputError("--paper never gates; gate on one checkpoint instead")
    if options.step in ("last", "all"):
        return options.step
    if not options.step.isdigit():
        raise InputError(f"--step: {options.step!r} is not a number, 'last' or 'all'")
    return int(options.step)


def _envelope(options: argparse.Namespace, suite, settings, env) -> int:
    """Evaluate every checkpoint step and print the best-of-checkpoints table."""
    from harness.policies.sources import checkpoint_steps
    from harness.progress import ConsoleWatcher
    from harness.reporting.paper import render
    from harness.run import run

    reports = []
    for step in checkpoint_steps(options.policy, suite.training_sides):
        policies = load_named(options, suite, env, step)
        out = options.out and options.out / f"step-{step}"
        with ConsoleWatcher(suite, settings) as watcher:
            reports.append(run(policies, suite, settings, watcher, out=out))
    print(render(reports), flush=True)
    return max(report.exit_code for report in reports)
