"""What running an experiment again gives: cells beside what was printed, judgements, and pages that show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from experiments.reproduce.document import as_html, as_markdown
from experiments.reproduce.evidence import Cell, Evidence
from experiments.reproduce.experiment import Experiment, Part, Point, Verdict
from experiments.reproduce.page import page_of
from experiments.reproduce.preparing import Options, Prepared
from incrowd.comparisons.comparison import as_frame
from incrowd.comparisons.trial import Setup
from incrowd.drawing.svg import standalone
from incrowd.tables.publishing.staging import staged


@dataclass(frozen=True)
class Judged:
    """A point of the paper, what ours says of it (None: not measured), and what the paper does."""

    point: Point
    ours: Verdict | None
    paper: str

    @property
    def standing(self) -> str:
        """In a word."""
        return "not measured" if self.ours is None else "met" if self.ours.met else "missed"


@dataclass(frozen=True)
class Used:
    """A table that was used: its name, rows, and the quasi-identifiers among its attributes."""

    name: str
    rows: int
    quasi_identifiers: tuple[str, ...]
    attributes: int


@dataclass(frozen=True, eq=False)
class Reproduction:
    """An experiment, run again.

    Attributes
    ----------
    cells
        Our results beside what was printed.
    judged
        What the paper shows, and whether ours shows it, too.
    protocols
        How the rows of each data set are split.
    """

    experiment: Experiment
    options: Options
    parts: tuple[Part, ...]
    cells: tuple[Cell, ...]
    facts: Mapping[str, object]
    setup: Setup
    tables: tuple[Used, ...]
    protocols: dict[str, str]

    @classmethod
    def of(cls, prepared: Prepared, cells: Iterable[Cell], facts: Mapping[str, object]) -> Reproduction:
        """Of an experiment that was run."""
        tables = dict.fromkeys(
            Used(
                bench.table.dataset,
                bench.rows,
                bench.laboratory.subject.schema.quasi_identifiers,
                len(bench.laboratory.subject.schema.columns) - 1,
            )
            for bench in prepared.benches
        )
        setup = prepared.benches[0].laboratory.setup
        protocols = {bench.table.dataset: str(bench.laboratory.setup.protocol) for bench in prepared.benches}
        made = prepared.experiment, prepared.options, prepared.parts, tuple(cells), facts, setup, tuple(tables)
        return cls(*made, protocols)

    def of_part(self, part: Part) -> list[Cell]:
        """The cells of a part."""
        return [cell for cell in self.cells if cell.part == part.name]

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """Every point of the paper."""
        ours, theirs = Evidence.ours(self.cells, self.facts), Evidence.theirs(self.cells)
        return tuple(_judged(point, ours, theirs) for point in self.experiment.points)

    @cached_property
    def results(self) -> pl.DataFrame:
        """A row for each learner on each release, with its place in the paper."""
        frames = [
            as_frame(cell.results).with_columns(
                pl.lit(cell.part).alias("part"),
                pl.lit(cell.label).alias("label"),
                pl.lit(cell.inducer).alias("inducer"),
                pl.lit(cell.algorithm).alias("algorithm"),
                pl.lit(None if cell.printed is None else cell.printed.mean, pl.Float64).alias("printed"),
            )
            for cell in self.cells
        ]
        return pl.concat(frames) if frames else as_frame([])

    def markdown(self, plots: str = "plots") -> str:
        """The page in Markdown."""
        return as_markdown(page_of(self), plots)

    def html(self) -> str:
        """One HTML page: no network, no script, drawings as inline SVG."""
        return as_html(page_of(self))

    def save(self, folder: Path) -> None:
        """Write results.parquet, results.csv, README.md with its plots, and index.html."""
        folder.mkdir(parents=True, exist_ok=True)
        with staged(folder / "results.parquet") as hidden:
            self.results.write_parquet(hidden)
        with staged(folder / "results.csv") as hidden:
            self.results.write_csv(hidden)
        _write(folder / "index.html", self.html())
        self.write_page(folder / "README.md")

    def write_page(self, path: Path) -> None:
        """Write the Markdown page, and its drawings into the folder ``plots`` beside it."""
        plots = path.parent / "plots"
        plots.mkdir(parents=True, exist_ok=True)
        for picture in page_of(self).pictures:
            _write(plots / f"{picture.name}.svg", standalone(picture.svg))
        _write(path, self.markdown())


def _judged(point: Point, ours: Evidence, theirs: Evidence) -> Judged:
    if point.paper is not None:
        return Judged(point, point.judge(ours), point.paper)
    own, verdict = point.judge(ours), point.judge(theirs)
    unprinted = "nothing printed" if own is not None else "in tables that were not run"
    words = unprinted if verdict is None else f"{'so' if verdict.met else 'not so'}: {verdict.figures}"
    return Judged(point, own, words)


def _write(path: Path, content: str) -> None:
    with staged(path) as hidden:
        hidden.write_text(content, encoding="utf-8")
