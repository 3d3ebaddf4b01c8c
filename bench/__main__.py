"""``python -m bench [tree|command|adult|methods|growth|kadet|all] [--data DIR] [--quick] [--write PAGE]``.

Exit status 1 if a goal was missed. A quick run goes through everything on a tiny table; it judges nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from bench.page import warning, write_performance
from bench.setting import Setting, tell
from incrowd.lab.machine import machine
from incrowd.lab.section import Section

PARTS = ("tree", "command", "adult", "methods", "growth", "kadet")


def main() -> int:
    """Measure, print, write the page if asked for."""
    asked = _arguments()
    setting = Setting(asked.data, asked.quick)
    print(f"{machine()}\n\n{warning(setting)}\n", flush=True)
    sections = [_measure(part, setting) for part in (PARTS if asked.part == "all" else (asked.part,))]
    if asked.write:
        shown = asked.write.name if asked.write.is_absolute() else asked.write.as_posix()
        quick = " --quick" if setting.quick else ""
        command = f"python -m bench {asked.part}{quick} --write {shown}"
        write_performance(asked.write, command, sections, warning(setting))
    missed = [goal for section in sections for goal in section.goals if not goal.met]
    return 1 if missed and not setting.quick else 0


def _measure(part: str, setting: Setting) -> Section:
    """Run one benchmark and print what it found."""
    tell(f"{part} …")
    measure: Callable[[Setting], Section] = import_module(f"bench.{part}").measure
    section = measure(setting)
    print(section.text(pictures=False), end="\n\n", flush=True)
    return section


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed and scale, as ratios within one run.")
    parser.add_argument("part", nargs="?", default="all", choices=(*PARTS, "all"))
    folder = os.environ.get("INCROWD_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help="folder with adult_train.csv and adult_test.csv (or INCROWD_DATA); else rows of the same shape are made",
    )
    parser.add_argument("--quick", action="store_true", help="a tiny table, once: does everything run?")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the results as a Markdown page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
