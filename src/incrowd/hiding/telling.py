"""What the verification is told about a hiding. It believes none of it: each word is compared with the written file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.algorithms.cell_hiding.hide import Hiding
from incrowd.algorithms.cell_hiding.steps import Status
from incrowd.publishing.piece_writer import write_pieces
from incrowd.verification.hidden_cells import Withheld
from incrowd.verification.inference import Inference
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.schema import Schema

_AT_ONCE = 1 << 20
BLANKS_COUNT = {"nb": True, "nb-ignored": False}  # the adversaries the verification knows as well


@dataclass(frozen=True, eq=False)
class Telling:
    """A hiding, told in the column names of the written file (``rename``).

    What is told of a table larger than memory goes through the folder ``scratch``.
    """

    table: EncodedTable
    schema: Schema
    predictors: Sequence[str]
    hiding: Hiding
    rename: Callable[[str], str]
    scratch: Path | None = None

    def of(self, adversaries: Sequence[str]) -> Withheld:
        """Everything that is told; the adversaries are those that judged, in their order."""
        outcomes, rename = self.hiding.outcomes, self.rename
        return Withheld(
            columns=[rename(name) for name in self.schema.names],
            confidential=[(outcome.cell.row, rename(outcome.cell.attribute)) for outcome in outcomes],
            changes={(change.row, rename(change.attribute)): change.shows for change in self.hiding.changes},
            deleted={outcome.cell.row for outcome in outcomes if outcome.status is Status.DELETED},
            hierarchies={rename(c.name): c.hierarchy for c in self.schema.columns if c.hierarchy is not None},
            inference=self._inference(adversaries),
        )

    def _inference(self, adversaries: Sequence[str]) -> Inference | None:
        """What naive Bayes is said to guess; nothing where it did not judge, or where cells may show groups."""
        place = next((place for place, name in enumerate(adversaries) if name in BLANKS_COUNT), None)
        if place is None or any(column.hierarchy is not None for column in self.schema.columns):
            return None
        right = {
            (outcome.cell.row, self.rename(outcome.cell.attribute)): outcome.predictions[place].right_after
            for outcome in self.hiding.outcomes
        }
        predictors = [self.rename(name) for name in self.predictors]
        values = next(self._values(self.table.height)) if self.scratch is None else self._written(self.scratch)
        return Inference(values, predictors, right, BLANKS_COUNT[adversaries[place]])

    def _written(self, scratch: Path) -> Path:
        """The values as a Parquet file."""
        path = scratch / "values.parquet"
        write_pieces(self._values(_AT_ONCE), path, FileForm("parquet"))
        return path

    def _values(self, at_once: int) -> Iterator[Any]:
        """The codes of the columns that matter, missing ones as nulls, so many rows at a time."""
        names = dict.fromkeys((*self.predictors, *(outcome.cell.attribute for outcome in self.hiding.outcomes)))
        for start in range(0, max(1, self.table.height), at_once):
            yield pl.DataFrame(
                {self.rename(name): _codes(self.table[name], slice(start, start + at_once)) for name in names}
            ).to_arrow()


def _codes(column: EncodedColumn, rows: slice) -> pl.Series:
    codes = pl.Series(np.asarray(column.codes[rows]).astype(np.int32))
    return codes.replace(column.missing_code, None)
