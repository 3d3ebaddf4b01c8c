"""An attribute without order and taxonomy: its values are hidden, and disclosed one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.top_down_refinement.attribute import Attribute, Look, Split
from incrowd.algorithms.top_down_refinement.gains import Counts, disclosure_gains, is_mixed
from incrowd.plan.steps import Part
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Shown


class HiddenValues(Attribute):
    """Values that are not shown; a refinement discloses one of them in all rows that hold it.

    A candidate is the code of a value; the id of all that is hidden is one past the last code of a value. The missing
    stay hidden.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> column = EncodedColumn("school", ColumnType.TEXT, np.empty(0, np.int32), pl.Series(["10th", "8th", "9th"]))
    >>> hidden = HiddenValues(column, np.array([[20, 4], [0, 4], [0, 12], [0, 0]]))
    >>> hidden.words(0), hidden.gains[:3].round(4).tolist()
    (('hidden values', '10th, hidden values'), [0.61, 0.108, 0.3958])
    """

    one_by_one = True

    def __init__(self, column: EncodedColumn, counts: Counts) -> None:
        super().__init__(column.name, len(counts), len(counts))
        self._values = column.dictionary.to_list()
        self._counts = counts
        self._hidden: npt.NDArray[np.bool_] = counts.sum(axis=1) > 0
        self.open[:-1] = self._hidden[:-1]
        self.next[self.open] = np.flatnonzero(self.open)
        self._weigh()

    def refines(self, candidate: int) -> int:  # noqa: ARG002, the same for all
        """All that is hidden."""
        return len(self._counts) - 1

    def place(self, candidate: int) -> int:
        """The code of the value."""
        return candidate

    def words(self, candidate: int) -> tuple[str, str]:
        """The value that is disclosed, and what stays hidden."""
        left = ", hidden values" if self._hidden.sum() > 1 else ""
        return "hidden values", self._values[candidate] + left

    def refine(self, candidate: int) -> Split:
        """Disclose the value; the gains of all others change."""
        self._hidden[candidate] = False
        self.close(candidate)
        self._weigh()
        value, rest = np.array([candidate], np.int32), np.flatnonzero(self._hidden).astype(np.int32)
        return self._split({candidate: value, self.refines(candidate): rest})

    def close(self, candidate: int) -> None:
        """The value is disclosed, or hidden for good."""
        self.open[candidate] = False
        self.next[candidate] = -1

    def parts(self, look: Look) -> tuple[Part, ...]:  # noqa: ARG002, there are no intervals
        """One part for each value that is disclosed."""
        rows = self._counts.sum(axis=1)
        shown = np.flatnonzero(~self._hidden[:-1] & (rows[:-1] > 0)).tolist()
        return tuple(Part((self._values[v],), Shown(self._values[v]), int(rows[v])) for v in shown)

    def _weigh(self) -> None:
        """The gains of the candidates; without several classes among the hidden rows there are none."""
        hidden = self._counts[self._hidden].sum(axis=0)
        if not is_mixed(hidden):
            self.open[:] = False
            self.next[:] = -1
        self.gains[self.open] = disclosure_gains(self._counts[self.open], hidden) if self.open.any() else 0.0
