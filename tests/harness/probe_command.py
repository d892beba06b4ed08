"""`python -m harness.evaluate` with one suite more, `probes`: for tests from outside.

python probe_command.py --policy harness_probes:always_right --suite probes
"""

import sys

from harness_probes import ProbeConfig, probe_suite

import envs
import protocols

bundled = protocols.load_suite


def load_suite(name):
    return probe_suite(150, 200, name="probes") if name == "probes" else bundled(name)


if __name__ == "__main__":
    envs.CONFIGS["probe"] = ProbeConfig
    protocols.load_suite = load_suite
    from harness import cli

    sys.exit(cli.main())
