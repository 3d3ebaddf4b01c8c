"""The results as a Markdown page with its pictures beside it; each section can be written anew alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bench.parts import TITLES
from bench.setting import Setting
from experiments.pages import Section, machine

ABOUT = (
    "Each section was written by the command that it names, with the data in the folder that `--data` or "
    "`INCROWD_DATA` names. `make bench` runs those about speed, `make bench-largest` that of a hundred million rows, "
    "`make bench-all` all but that one; `--up-to` leaves out larger sizes. Sections that a version did not measure are "
    "those of an earlier one. `bench/history` keeps the ratios of each version."
)
CAUTION = (
    "Seconds depend on the machine and on who else uses it. What counts are the ratios: everything that is compared "
    "was measured in the same run, in turns. Goals are printed whether they were met or missed."
)
TOO_SMALL = "This was a quick run on a tiny table: everything ran, but its figures and goals say nothing."
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def warning(setting: Setting) -> str:
    """How the figures are to be read."""
    return TOO_SMALL if setting.quick else CAUTION


def write_performance(path: Path, command: str, sections: Sequence[Section], caution: str) -> None:
    """Write sections into the page of the benchmarks; those that are there already and not measured anew stay."""
    known = sections_of(path.read_text(encoding="utf-8")) if path.exists() else {}
    plots = path.parent / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    for section in sections:
        made = f"*Written by `{command}` on {machine().removesuffix('.')}.*"
        known[section.title] = _under(section, made)
        for picture in section.pictures:
            (plots / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")
    ordered = sorted(known, key=lambda title: TITLES.index(title) if title in TITLES else len(TITLES))
    parts = ["# Performance", ABOUT, caution, *(known[title] for title in ordered)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def sections_of(text: str) -> dict[str, str]:
    """The sections of a page, by heading.

    Examples
    --------
    >>> sections_of("# Page\\n\\nWords.\\n\\n## One\\n\\nA.\\n\\n## Two\\n\\nB.\\n")
    {'One': '## One\\n\\nA.', 'Two': '## Two\\n\\nB.'}
    """
    starts = list(HEADING.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return {start[1]: text[start.start() : end].strip() for start, end in zip(starts, ends, strict=True)}


def _under(section: Section, made: str) -> str:
    """A section with the line on how it was made right below its heading."""
    heading, _, rest = section.text(pictures=True).partition("\n\n")
    return f"{heading}\n\n{made}\n\n{rest}"
