"""What the groups of a release show in one column, made once for all pieces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.engines.embedded.drafting import column_values
from incrowd.plan.release_plan import ReleasePlan, Written


@dataclass(frozen=True, eq=False)
class Palette:
    """The distinct values of a released column, and which of them each form shows; past the last is nothing.

    Examples
    --------
    >>> palette = Palette.of_values(pl.Series("job", ["nurse", None, "nurse", "cook"]))
    >>> palette.column(np.array([0, 1, 2, -1]), np.array([0, 1, 2, -1])).to_pylist()
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
        values = shown.drop_nulls().unique().sort()  # a dictionary must tell no order but its own
        found = shown.replace_strict(values, pl.int_range(len(values), eager=True), default=None, return_dtype=pl.Int32)
        return cls(values, np.append(found.fill_null(len(values)).to_numpy(), len(values)).astype(np.int32))

    def column(self, forms: npt.NDArray[np.intp], occurring: npt.NDArray[np.intp]) -> Any:
        """A column of the release, given the form each row shows, as a PyArrow array in fresh memory.

        Text comes with a dictionary of the values that occur in it, and of no others; ``occurring`` are the forms
        that some row shows.
        """
        import pyarrow as pa

        if self.values.dtype != pl.String:
            return self._with_nothing.gather(self.place[forms]).to_arrow(compat_level=pl.CompatLevel.oldest())
        used = np.unique(self.place[occurring])
        used = used[used < len(self.values)]
        words = pa.array(self.values.gather(used).to_list(), pa.string())
        codes = np.searchsorted(used, self.place).astype(np.int32)[forms]
        nothing = (self.place == len(self.values))[forms]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=nothing), words)

    @cached_property
    def _with_nothing(self) -> pl.Series:
        return self.values.extend_constant(None, 1)
