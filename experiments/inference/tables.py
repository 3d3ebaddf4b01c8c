"""What cells are hidden in: Wisconsin breast cancer and Car as categories, and which of their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.comparisons.datasets.catalog import load
from incrowd.hiding.planner import Cell
from incrowd.hiding.published import PublishedTable
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Schema

CAR = {
    "buying": ("vhigh", "high", "med", "low"),
    "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
CANCER = ("clump-thickness", "cell-size-uniformity", "cell-shape-uniformity", "marginal-adhesion",
          "single-epithelial-cell-size", "bare-nuclei", "bland-chromatin", "normal-nucleoli", "mitoses")  # fmt: skip
GROUPS = (("1-5", "1-2", "12"), ("1-5", "3-5", "345"), ("6-10", "6-7", "67"), ("6-10", "8-10", "89"))


@dataclass(frozen=True)
class Data:
    """A table of categories, and the attributes that have more than two values."""

    name: str
    table: EncodedTable
    schema: Schema
    wide: tuple[str, ...]

    @property
    def generalizes(self) -> bool:
        """Whether there are groups a cell may show."""
        return any(column.hierarchy for column in self.schema.columns)

    def published(self) -> PublishedTable:
        """The table as it is, ready to be changed."""
        return PublishedTable(self.table, self.schema)

    def cells(self, count: int, seed: int, names: Sequence[str] = ()) -> list[Cell]:
        """Known cells of different rows, drawn at random; of all attributes with more than two values by default."""
        generator, names = np.random.default_rng(seed), names or self.wide
        cells = []
        for row in generator.permutation(self.table.height).tolist():
            name = names[int(generator.integers(len(names)))]
            if self.known(row, name):
                cells.append(Cell(row, name))
            if len(cells) == count:
                break
        return cells

    def known(self, row: int, name: str) -> bool:
        """Whether a cell shows a value."""
        column = self.table[name]
        return bool(column.codes[row] != column.missing_code)

    def sample(self, rows: int, seed: int) -> Data:
        """Some of the rows."""
        drawn = np.sort(np.random.default_rng(seed).permutation(self.table.height)[:rows])
        return Data(self.name, self.table.take(drawn.astype(np.intp)), self.schema, self.wide)


def tables(folder: Path | None = None, progress: Callable[[str], None] | None = None) -> list[Data]:
    """Both tables, from a folder, the cache, or the packages that ship them."""
    return [
        cancer_data(pl.read_csv(load("breast-cancer", folder, progress), null_values="?", infer_schema=False)),
        car_data(pl.read_csv(load("car", folder, progress), infer_schema=False)),
    ]


def cancer_data(frame: pl.DataFrame) -> Data:
    """Breast cancer: nine scores, each with groups, and the class; all of them as text."""
    scores = [str(score) for score in range(1, 11)]
    domains = dict.fromkeys(CANCER, scores) | {"class": sorted(frame["class"].unique().to_list())}
    return _data("breast cancer", frame, domains, {name: _groups(name) for name in CANCER})


def car_data(frame: pl.DataFrame) -> Data:
    """Car: six attributes and the class, without groups."""
    return _data("Car", frame, {**CAR, "class": sorted(frame["class"].unique().to_list())}, {})


def _data(name: str, frame: pl.DataFrame, domains: dict[str, Sequence[str]], groups: dict[str, Hierarchy]) -> Data:
    columns = [_column(frame[each], domain) for each, domain in domains.items()]
    schema = Schema(tuple(Column(each, hierarchy=groups.get(each)) for each in domains))
    wide = tuple(each for each, domain in domains.items() if len(domain) > 2)
    return Data(name, EncodedTable.of(columns), schema, wide)


def _column(series: pl.Series, domain: Sequence[str]) -> EncodedColumn:
    places = {value: place for place, value in enumerate(domain)}
    codes = [len(domain) if value is None else places[value] for value in series.to_list()]
    return EncodedColumn(series.name, ColumnType.CATEGORICAL, np.array(codes, np.int32), pl.Series(list(domain)))


def _groups(name: str) -> Hierarchy:
    """Low and high scores, each in two parts; the thesis does not print its own."""
    paths = [(score, part, half, "*") for half, part, scores in GROUPS for score in scores]
    return Hierarchy.from_paths(name, [*paths, ("10", "8-10", "6-10", "*")])
