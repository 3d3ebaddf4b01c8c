"""The parts of a page of results: sentences, tables, pictures, goals met or missed, and the machine it was made on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Table:
    """A table of words and numbers that are already words; the first columns stand at the left."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.header))]
        first, *others = ["| " + " | ".join(self._padded(line, widths)) + " |" for line in lines]
        ends = ["-" if place < self.words else ":" for place in range(len(widths))]
        rule = "|".join("-" * (width + 1) + end for width, end in zip(widths, ends, strict=True))
        return "\n".join([first, f"|{rule}|", *others])

    def _padded(self, line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
        for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
            yield cell.ljust(width) if place < self.words else cell.rjust(width)


@dataclass(frozen=True)
class Picture:
    """A drawing with the sentence that says what it shows."""

    name: str
    shows: str
    svg: str

    def __str__(self) -> str:
        return f"![{self.shows}](plots/{self.name}.svg)"


@dataclass(frozen=True)
class Goal:
    """What was aimed at, what came out, and why, where it was missed."""

    text: str
    measured: str
    met: bool
    why: str = ""

    def __str__(self) -> str:
        words = f"**{'Met' if self.met else 'Missed'}**: {self.text}. Measured: {self.measured}."
        return words if self.met or not self.why else f"{words} {self.why}"


@dataclass(frozen=True)
class Section:
    """One benchmark's result."""

    title: str
    parts: Sequence[str | Table | Picture | Goal]
    ratios: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """What is compared with earlier versions: ratios by name, one for each round."""

    @property
    def goals(self) -> Iterator[Goal]:
        """Everything that was aimed at."""
        return (part for part in self.parts if isinstance(part, Goal))

    @property
    def pictures(self) -> Iterator[Picture]:
        """Everything that is drawn."""
        return (part for part in self.parts if isinstance(part, Picture))

    def text(self, *, pictures: bool) -> str:
        """The section as Markdown; a terminal has no use for pictures."""
        shown = [str(part) for part in self.parts if pictures or not isinstance(part, Picture)]
        return "\n\n".join([f"## {self.title}", *shown])


def write_pictures(path: Path, pictures: Iterable[Picture]) -> None:
    """Write pictures into the folder ``plots`` beside a page."""
    plots = path.parent / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        (plots / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")


def write_page(path: Path, title: str, about: Sequence[str], sections: Sequence[Section]) -> None:
    """Write sections as a Markdown page, and their pictures into the folder ``plots`` beside it."""
    write_pictures(path, (picture for section in sections for picture in section.pictures))
    parts = [f"# {title}", *about, *(section.text(pictures=True) for section in sections)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


PACKAGES = ("incrowd", "polars", "duckdb", "numba", "numpy", "pyarrow", "scikit-learn")


def machine() -> str:
    """Cores, memory, Python and packages; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    return f"{cores} cores, {memory:.0f} GB memory, Python {platform.python_version()}, {packages}."
