"""What cells are hidden in: Wisconsin breast cancer and Car as categories, and which of their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from bench.setting import Setting
from incrowd.adversaries.published import PublishedTable
from incrowd.algorithms.cell_hiding.hide import Cell
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
CANCER_ROWS, QUICK_ROWS = 699, 150
GROUPS = (("1-5", "1-2", "12"), ("1-5", "3-5", "345"), ("6-10", "6-7", "67"), ("6-10", "8-10", "89"))


@dataclass(frozen=True)
class Data:
    """A table of categories, and the attributes that have more than two values."""

    name: str
    source: str
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
        found = []
        for row in generator.permutation(self.table.height).tolist():
            name = names[int(generator.integers(len(names)))]
            if self.known(row, name):
                found.append(Cell(row, name))
            if len(found) == count:
                break
        return found

    def known(self, row: int, name: str) -> bool:
        """Whether a cell shows a value."""
        column = self.table[name]
        return bool(column.codes[row] != column.missing_code)

    def sample(self, rows: int, seed: int) -> Data:
        """Some of the rows."""
        drawn = np.sort(np.random.default_rng(seed).permutation(self.table.height)[:rows])
        return Data(self.name, self.source, self.table.take(drawn.astype(np.intp)), self.schema, self.wide)


def tables(setting: Setting) -> list[Data]:
    """Both tables; random ones of the same shape where the files are not at hand."""
    return [_cancer(setting), _car(setting)]


def _cancer(setting: Setting) -> Data:
    file = setting.data / "breast_cancer_wisconsin.csv" if setting.data else None
    if file and file.exists():
        frame, source = pl.read_csv(file, null_values="?", infer_schema_length=None), "UCI"
        frame = frame.select(*CANCER, "class").cast(pl.String)
    else:
        frame, source = _made_cancer(), "stand-in"
    scores = [str(score) for score in range(1, 11)]
    domains = dict.fromkeys(CANCER, scores) | {"class": sorted(frame["class"].unique().to_list())}
    groups = {name: _groups(name) for name in CANCER}
    return _data("breast cancer", source, frame.head(QUICK_ROWS) if setting.quick else frame, domains, groups)


def _car(setting: Setting) -> Data:
    file = setting.data / "car_evaluation.csv" if setting.data else None
    if file and file.exists():
        frame, source = pl.read_csv(file, infer_schema=False), "UCI"
    else:
        frame, source = _made_car(), "stand-in"
    domains = {**CAR, "class": sorted(frame["class"].unique().to_list())}
    few = frame.sample(QUICK_ROWS, seed=1)
    return _data("Car", source, few if setting.quick else frame, domains, {})


def _data(
    name: str, source: str, frame: pl.DataFrame, domains: dict[str, Sequence[str]], groups: dict[str, Hierarchy]
) -> Data:
    columns = [_column(frame[each], domain) for each, domain in domains.items()]
    schema = Schema(tuple(Column(each, hierarchy=groups.get(each)) for each in domains))
    wide = tuple(each for each, domain in domains.items() if len(domain) > 2)
    return Data(name, source, EncodedTable.of(columns), schema, wide)


def _column(series: pl.Series, domain: Sequence[str]) -> EncodedColumn:
    places = {value: place for place, value in enumerate(domain)}
    codes = [len(domain) if value is None else places[value] for value in series.to_list()]
    return EncodedColumn(series.name, ColumnType.CATEGORICAL, np.array(codes, np.int32), pl.Series(list(domain)))


def _groups(name: str) -> Hierarchy:
    """Low and high scores, each in two parts; the thesis does not print its own."""
    paths = [(score, part, half, "*") for half, part, scores in GROUPS for score in scores]
    return Hierarchy.from_paths(name, [*paths, ("10", "8-10", "6-10", "*")])


def _made_cancer() -> pl.DataFrame:
    """Scores that follow one hidden severity."""
    generator = np.random.default_rng(6)
    ill = generator.random(CANCER_ROWS) < 0.35
    severity = np.where(ill, generator.normal(7, 2, CANCER_ROWS), generator.normal(1.5, 1, CANCER_ROWS))
    scores = {
        name: np.clip(np.round(severity + generator.normal(0, 1, CANCER_ROWS)), 1, 10).astype(int) for name in CANCER
    }
    return pl.DataFrame({**scores, "class": np.where(ill, 4, 2)}).cast(pl.String)


def _made_car() -> pl.DataFrame:
    """Every combination once; the class follows a sum of points."""
    rows = [dict(zip(CAR, values, strict=True)) for values in product(*CAR.values())]
    for row in rows:
        points = sum(CAR[name].index(value) for name, value in row.items())
        poor = row["safety"] == "low" or row["persons"] == "2"
        row["class"] = "unacc" if poor or points < 6 else "acc" if points < 10 else "good" if points < 13 else "vgood"
    return pl.DataFrame(rows)
