"""The second half of both methods: rare combinations show nothing, until no set of attributes has a rare one.

Rows that show nothing of a set anyway have nothing to hide; in the release they look like those that were hidden. If
``strict``, both together are at least k rows, or none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.mutual_information.classes import Classes, classes_of
from incrowd.algorithms.mutual_information.generalizing import Generalized
from incrowd.plan.steps import Hide
from incrowd.vocabulary.requirement import KnownSet

ON_SMALL = ("suppress", "drop")
Flags = npt.NDArray[np.bool_]


class Hiding:
    """The combinations of a generalized table, and what is hidden of them so far.

    Parameters
    ----------
    raised
        Combinations are rare below k and that many more rows; the promise is still k.
    strict
        Whether the rows that show nothing must be k as well, or none.
    on_small
        If they are fewer: ``"suppress"`` hides one more combination, ``"drop"`` leaves them out.

    Attributes
    ----------
    hidden
        Combinations x attributes: what was hidden, or left out.
    dropped
        The combinations left out.
    steps
        What was done, in order.
    e_min
        Rows of the largest combination that was hidden for being rare; 0 if none was.
    smallest
        For each set the rows of the smallest combination that still shows something; None if there is none.
    """

    def __init__(
        self, generalized: Generalized, *, raised: int = 0, strict: bool = True, on_small: str = "suppress"
    ) -> None:
        self._generalized = generalized
        self.raised = raised
        self._strict = strict
        self._on_small = on_small
        self._rows = generalized.counts.sum(axis=1)
        self.hidden: Flags = np.zeros(generalized.codes.shape, bool)
        self.dropped: Flags = np.zeros(len(generalized.codes), bool)
        self.steps: list[Hide] = []
        self.e_min = 0
        self.smallest: dict[KnownSet, int | None] = {}

    @property
    def rows_hidden(self) -> int:
        """Rows of which something was hidden, without those left out."""
        return int(self._rows[self.hidden.any(axis=1) & ~self.dropped].sum())

    @property
    def rows_dropped(self) -> int:
        """Rows left out."""
        return int(self._rows[self.dropped].sum())

    @property
    def next_raise(self) -> int | None:
        """The smallest raise at which more is rare in some set; None if nothing is shown any more."""
        gaps = [size - known.k for known, size in self.smallest.items() if size is not None]
        return min(gaps) + 1 if gaps else None

    def settle(self, sets: Sequence[KnownSet]) -> None:
        """Hide what is rare in each set, in turn, until all of them are content.

        Hiding for one set changes what the others count. It ends, because cells and rows only disappear.
        """
        content, turn = 0, 0
        while content < len(sets):
            content = 1 if self._treat(sets[turn]) else content + 1
            turn = (turn + 1) % len(sets)

    def classes(self, names: Sequence[str]) -> Classes:
        """What rows show of some attributes as things are now, in classes."""
        if not self.steps:
            return self._generalized.classes(names)
        columns = self._generalized.columns(names)
        nothing = self._generalized.nothing[columns]
        codes = np.where(self.hidden[:, columns], nothing, self._generalized.codes[:, columns])
        return classes_of(codes, nothing, np.where(self.dropped, 0, self._rows))

    def _treat(self, known: KnownSet) -> bool:
        """Hide or leave out what is rare in one set; False if there was nothing to do."""
        classes = self.classes(known.names)
        present = classes.sizes > 0
        shown = present & ~classes.blank
        rare = shown & (classes.sizes < known.k + self.raised)
        self.e_min = int(classes.sizes[rare].max(initial=self.e_min))
        looking_hidden = int(classes.sizes[rare | classes.blank].sum())
        too_few = self._strict and 0 < looking_hidden < known.k
        drop = too_few and self._on_small == "drop"
        also = _smallest(classes, shown & ~rare) if too_few and not drop else []
        marked = rare | (present & classes.blank & drop)
        marked[also] = True
        left = classes.sizes[shown & ~marked]
        self.smallest[known] = int(left.min()) if len(left) else None
        if not marked.any():
            return False
        self._mark(marked[classes.of], known.names, drop)
        named = tuple(tuple(codes) for codes in classes.codes[also].tolist())
        rows = int(classes.sizes[marked].sum())
        self.steps.append(Hide(known.names, known.k + self.raised, named, drop, rows))
        return True

    def _mark(self, combinations: Flags, names: Sequence[str], drop: bool) -> None:
        if drop:
            self.dropped |= combinations
            self.hidden[self.dropped] = True
        else:
            self.hidden[np.ix_(np.flatnonzero(combinations), self._generalized.columns(names))] = True


def _smallest(classes: Classes, among: Flags) -> list[int]:
    """The smallest of some classes, the first in lexical order of several; none if there are none."""
    places = np.flatnonzero(among)
    return [int(places[np.argmin(classes.sizes[places])])] if len(places) else []
