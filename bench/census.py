"""What methods are compared on: eight attributes of Adult, their hierarchies and the class; more rows, more columns.

Made rows and columns are drawn from those at hand, with some cells redrawn from their column, so that values keep
their shares and most of what ties them together, and combinations become more diverse as rows are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from bench.people import TARGET
from bench.renamed import people_with_hierarchies
from bench.setting import Setting
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.vocabulary.hierarchy import Hierarchy

ATTRIBUTES = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
METHODS = ("tdr", "tds", "iack", "iacc", "mondrian", "infogain-mondrian", "kactus", "kactus-plus")
K, REDRAWN = 10, 0.2


def census(setting: Setting) -> tuple[pl.DataFrame, str]:
    """The complete rows, and what they are: ``Adult``, or a ``stand-in`` with the values of its hierarchies."""
    frame, source = people_with_hierarchies(setting)
    return frame.drop_nulls().select(*ATTRIBUTES, TARGET), source


def hierarchies(names: Iterable[str]) -> dict[str, Hierarchy]:
    """The hierarchies of these columns; ``age 2`` has that of ``age``.

    Examples
    --------
    >>> list(hierarchies(["age", "age 2"]))
    ['age', 'age 2']
    """
    trees = adult_hierarchies()
    return {name: trees[name.partition(" ")[0]] for name in names}


def hierarchy_files() -> dict[str, Path]:
    """The files of the eight hierarchies, as the command line takes them."""
    folder = Path(str(files("incrowd.tables.hierarchies"))) / "examples" / "adult"
    return {name: folder / f"{name}.txt" for name in ATTRIBUTES}


def lengthen(frame: pl.DataFrame, rows: int) -> pl.DataFrame:
    """That many rows, drawn from the rows at hand; a fifth of the cells is redrawn, but no class."""
    generator = np.random.default_rng(3)
    drawn = generator.integers(0, frame.height, rows)
    columns = [_redraw(column, drawn, generator) for column in frame.drop(TARGET)]
    return pl.DataFrame([*columns, frame[TARGET].gather(drawn)])


def widen(frame: pl.DataFrame, width: int) -> pl.DataFrame:
    """That many attributes: the eight, then variations of them with a fifth of the cells redrawn."""
    generator = np.random.default_rng(4)
    order = np.arange(frame.height)
    columns = [frame[name] for name in ATTRIBUTES[:width]]
    for place in range(len(ATTRIBUTES), width):
        turn, which = divmod(place, len(ATTRIBUTES))
        name = ATTRIBUTES[which]
        columns.append(_redraw(frame[name], order, generator).alias(f"{name} {turn + 1}"))
    return pl.DataFrame([*columns, frame[TARGET]])


def _redraw(column: pl.Series, drawn: npt.NDArray[np.int64], generator: np.random.Generator) -> pl.Series:
    """The cells of the drawn rows, a fifth of them replaced by those of other rows."""
    others = generator.integers(0, len(column), len(drawn))
    return column.gather(np.where(generator.random(len(drawn)) < REDRAWN, others, drawn))
