"""The experiments on hiding cells as a Markdown page."""

from __future__ import annotations

from pathlib import Path

from incrowd.lab.machine import machine
from incrowd.lab.section import Section, write_page

CAUTION = (
    "Milliseconds depend on the machine and on who else uses it; the ratios within a table were measured in one run. "
    "Goals are printed whether they were met or missed."
)
TOO_SMALL = "This was a quick run on small samples: everything ran, but its figures and goals say nothing."


def write_inference(path: Path, section: Section, quick: bool) -> None:
    """Write the page, and its pictures into the folder ``plots`` beside it."""
    command = f"incrowd lab reproduce inference{' --quick' if quick else ''}"
    made = f"Written by `{command}`; data sets: breast-cancer, car, adult (`incrowd lab datasets`)."
    write_page(path, "Experiments on hiding cells", [made, machine(), TOO_SMALL if quick else CAUTION], [section])
