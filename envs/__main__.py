"""Look at the environments: `python -m envs describe | sheet | throughput`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from envs import CONFIGS, Config, InputError
from envs.errors import not_among


def main(argv: list[str] | None = None) -> int:
    """Run one tool; bad input is one line on stderr and exit code 2."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except InputError as error:
        print(f"envs: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m envs", description=__doc__)
    tools = parser.add_subparsers(required=True, metavar="TOOL")
    describe = tools.add_parser("describe", help="every parameter, or one, or one group")
    describe.add_argument("environment", nargs="?", help=", ".join(CONFIGS))
    describe.add_argument("parameter", nargs="?", help="such as filters.hue_shift, or filters")
    describe.add_argument("--markdown", action="store_true", help="as in envs/README.md")
    describe.set_defaults(run=_describe)
    sheet = tools.add_parser("sheet", help="contact sheets of images, skins and scenes")
    sheet.add_argument("which", nargs="*", help="images, skins, gallery (default: all)")
    sheet.add_argument("--out", type=Path, default=Path("sheet.png"), help="name of the files")
    sheet.set_defaults(run=_sheet)
    throughput = tools.add_parser("throughput", help="steps per second with pixels consumed")
    throughput.add_argument(
        "--config", action="append", default=[],
        help="an environment, a scene of the gallery, or a YAML file of parameters; repeatable",
    )  # fmt: skip
    throughput.add_argument("--num-envs", type=int, nargs="+", default=[64])
    throughput.add_argument("--steps", type=int, default=64, help="per repeat")
    throughput.add_argument("--no-pixels", action="store_true", help="dynamics alone")
    throughput.set_defaults(run=_throughput)
    return parser


def _environment(name: str) -> type[Config]:
    if name not in CONFIGS:
        raise InputError(not_among(f"no environment {name!r}", name, CONFIGS))
    return CONFIGS[name]


def _describe(arguments: argparse.Namespace) -> None:
    from envs.tools import describe

    names = [arguments.environment] if arguments.environment else list(CONFIGS)
    for name in names:
        _environment(name)
    if arguments.markdown:
        one = arguments.environment
        print(describe.markdown(one) if one else describe.readme(), end="")
        return
    print("\n".join(describe.text(name, arguments.parameter) for name in names))


def _sheet(arguments: argparse.Namespace) -> None:
    from envs.tools import sheet

    for name in arguments.which:
        if name not in sheet.SHEETS:
            raise InputError(not_among(f"no sheet {name!r}", name, sheet.SHEETS))
    for file in sheet.save_sheets(arguments.out, arguments.which or list(sheet.SHEETS)):
        print(file)


def _throughput(arguments: argparse.Namespace) -> None:
    from envs.tools import throughput

    configs = {"flat": CONFIGS["platformer"]()}
    for name in arguments.config:
        configs[name] = _config(name)
    for num_envs in arguments.num_envs:
        speeds = throughput.measure(
            configs, num_envs, steps=arguments.steps, pixels=not arguments.no_pixels
        )
        print(throughput.table(speeds), flush=True)


def _config(name: str) -> Config:
    """Return the configuration of an environment, a gallery scene or a YAML file."""
    import yaml

    from envs.tools.sheet import GALLERY

    if name in CONFIGS:
        return CONFIGS[name]()
    if name in GALLERY:
        return CONFIGS["platformer"].from_dict(GALLERY[name])
    file = Path(name)
    if not file.is_file():
        choices = [*CONFIGS, *GALLERY]
        raise InputError(not_among(f"{name!r} is neither a scene nor a file", name, choices))
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{name}: not a readable YAML file ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"{name}: expected a mapping of parameters")
    environment = values.pop("environment", "platformer")
    return _environment(environment).from_dict(values)


if __name__ == "__main__":
    sys.exit(main())
