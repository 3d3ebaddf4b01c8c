"""The results as a Markdown page with its pictures beside it."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from bench.section import Section
from bench.setting import Setting

PACKAGES = ("incrowd", "polars", "duckdb", "numba", "numpy", "pyarrow", "scikit-learn")
CAUTION = (
    "Seconds depend on the machine and on who else uses it. What counts are the ratios: everything that is compared "
    "was measured in the same run, in turns. Goals are printed whether they were met or missed."
)
TOO_SMALL = "This was a quick run on a tiny table: everything ran, but its figures and goals say nothing."


def warning(setting: Setting) -> str:
    """How the figures are to be read."""
    return TOO_SMALL if setting.quick else CAUTION


def write_page(path: Path, title: str, command: str, sections: Sequence[Section], caution: str) -> None:
    """Write the page, and its pictures into the folder ``plots`` beside it."""
    plots = path.parent / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for picture in section.pictures:
            (plots / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")
    made = f"This page was written by `{command}`, with the data in the folder that `--data` or `INCROWD_DATA` names."
    parts = [f"# {title}", made, machine(), caution, *(section.text(pictures=True) for section in sections)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def machine() -> str:
    """Cores, memory, Python and packages; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    return f"{cores} cores, {memory:.0f} GB memory, Python {platform.python_version()}, {packages}."
