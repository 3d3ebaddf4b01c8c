"""The results as a Markdown page with its pictures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.setting import Setting
from incrowd.lab.machine import machine
from incrowd.lab.section import Section, write_page

CAUTION = (
    "Seconds depend on the machine and on who else uses it. What counts are the ratios: everything that is compared "
    "was measured in the same run, in turns. Goals are printed whether they were met or missed."
)
TOO_SMALL = "This was a quick run on a tiny table: everything ran, but its figures and goals say nothing."


def warning(setting: Setting) -> str:
    """How the figures are to be read."""
    return TOO_SMALL if setting.quick else CAUTION


def write_performance(path: Path, command: str, sections: Sequence[Section], caution: str) -> None:
    """Write the page of the benchmarks."""
    made = f"This page was written by `{command}`, with the data in the folder that `--data` or `INCROWD_DATA` names."
    write_page(path, "Performance", [made, machine(), caution], sections)
