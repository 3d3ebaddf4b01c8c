"""What the verification is told about a hiding. It believes none of it: each word is compared with the written file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from incrowd.algorithms.cell_hiding.hide import Hiding
from incrowd.algorithms.cell_hiding.steps import Status
from incrowd.verification.hidden_cells import Withheld
from incrowd.verification.inference import Inference
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import Schema

BLANKS_COUNT = {"nb": True, "nb-ignored": False}  # the adversaries the verification knows as well


@dataclass(frozen=True, eq=False)
class Telling:
    """A hiding, told in the column names of the written file (``rename``)."""

    table: EncodedTable
    schema: Schema
    predictors: Sequence[str]
    hiding: Hiding
    rename: Callable[[str], str]

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
        return Inference(self._values().to_arrow(), predictors, right, BLANKS_COUNT[adversaries[place]])

    def _values(self) -> pl.DataFrame:
        """The codes of the columns that matter, missing ones as nulls."""
        names = dict.fromkeys((*self.predictors, *(outcome.cell.attribute for outcome in self.hiding.outcomes)))
        return pl.DataFrame(
            {
                self.rename(name): pl.Series(self.table[name].codes).replace(self.table[name].missing_code, None)
                for name in names
            }
        )
