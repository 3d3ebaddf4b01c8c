"""``python -m bench [PART|GROUP] [--data DIR] [--quick] [--up-to N] [--write PAGE]``; ``bench/parts.py`` has the parts.

Exit status 1 if a goal was missed. A quick run goes through everything on a tiny table; it judges nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from time import perf_counter

from bench.history import compared, keep
from bench.page import warning, write_performance
from bench.parts import GROUPS, PARTS, chosen
from bench.setting import Setting, tell
from experiments.pages import Section, machine


def main() -> int:
    """Measure, print; write each section into the page, if asked for, as soon as it is there."""
    arguments = _arguments()
    setting = Setting(arguments.data, arguments.quick, arguments.up_to)
    print(f"{machine()}\n\n{warning(setting)}\n", flush=True)
    missed = 0
    for name in chosen(arguments.part):
        section = _measure(name, setting)
        missed += sum(not goal.met for goal in section.goals)
        if arguments.write:
            if not setting.quick:
                keep(name, section.ratios)
            write_performance(arguments.write, _command(arguments), [section], warning(setting))
    return 1 if missed and not setting.quick else 0


def _measure(name: str, setting: Setting) -> Section:
    """Run one benchmark and print what it found."""
    tell(f"{name} …")
    begun = perf_counter()
    section = compared(name, PARTS[name].measure(setting))
    print(section.text(pictures=False), end="\n\n", flush=True)
    tell(f"{name}: {(perf_counter() - begun) / 60:.1f} minutes")
    return section


def _command(arguments: argparse.Namespace) -> str:
    shown = arguments.write.name if arguments.write.is_absolute() else arguments.write.as_posix()
    limit = "" if arguments.up_to is None else f" --up-to {arguments.up_to}"
    return f"python -m bench {arguments.part}{' --quick' if arguments.quick else ''}{limit} --write {shown}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed and scale, as ratios within one run.")
    parser.add_argument("part", nargs="?", default="all", choices=(*PARTS, *GROUPS))
    folder = os.environ.get("INCROWD_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help="folder with adult_train.csv and adult_test.csv (or INCROWD_DATA); else rows of the same shape are made",
    )
    parser.add_argument("--quick", action="store_true", help="a tiny table, once: does everything run?")
    parser.add_argument("--up-to", type=int, metavar="N", help="leave out larger sizes: rows, or columns of width")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the results into a Markdown page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
