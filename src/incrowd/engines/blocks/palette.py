"""What the groups of a release show in one column, made once for all pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.engines.embedded.drafting import column_values
from incrowd.plan.release_plan import ReleasePlan, Written
from incrowd.vocabulary.encoded_table import Codes


@dataclass(frozen=True, eq=False)
class Palette:
    """The distinct values of a released column, and which of them each form shows; past the last is nothing.

    Examples
    --------
    >>> palette = Palette.of_values(pl.Series("job", ["nurse", None, "nurse", "cook"]))
    >>> palette.column(np.array([0, 1, 2, -1])).to_list()
    ['nurse', None, 'nurse', None]
    """

    values: pl.Series
    place: npt.NDArray[np.int32]

    @classmethod
    def of(cls, plan: ReleasePlan, written: Written, source_type: pl.DataType) -> Palette:
        """What the plan shows in one column."""
        return cls.of_values(column_values(plan, written, source_type))

    @classmethod
    def of_values(cls, shown: pl.Series) -> Palette:
        """From what each form shows."""
        values = shown.drop_nulls().unique(maintain_order=True)
        found = shown.replace_strict(values, pl.int_range(len(values), eager=True), default=None, return_dtype=pl.Int32)
        return cls(values, np.append(found.fill_null(len(values)).to_numpy(), len(values)).astype(np.int32))

    def column(self, forms: Codes) -> pl.Series:
        """A column of the release, given the form each row shows, in fresh memory.

        Text comes as an enumeration of the values that occur in it, and of no others.
        """
        codes = self.place[forms]
        if self.values.dtype != pl.String:
            return self.values.extend_constant(None, 1).gather(codes)
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.values) + 1)[:-1])
        small = np.full(len(self.values) + 1, len(used), np.uint32)
        small[used] = np.arange(len(used))
        physical = pl.Series(self.values.name, small[codes])
        known = pl.select(pl.when(physical < len(used)).then(physical).alias(self.values.name)).to_series()
        return known.cat.to(pl.Enum(self.values.gather(used)))
