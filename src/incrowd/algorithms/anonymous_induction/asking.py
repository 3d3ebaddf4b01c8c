"""Which splits a territory forbids for another reason than size: the requirement is asked about all parts at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.anonymous_induction.kernel import Inputs, cells_of, folded

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Holds = Callable[[Ints], Flags]


def forbid_asking(
    first: int,
    last: int,
    inputs: Inputs,
    order: Ints,
    end: Ints,
    lows: Ints,
    highs: Ints,
    holds: Holds,
    bad: Flags,
) -> None:
    """Mark what the spans of a territory forbid, as :func:`incrowd.algorithms.anonymous_induction.kernel.forbid` does.

    ``holds`` says of class histograms whether populations with them may be spans.
    """
    for a in range(first, last):
        if not inputs.public[a]:
            continue
        width = inputs.width[a] if inputs.threshold[a] else inputs.levels[a]
        marks = bad[inputs.slot[a] : inputs.slot[a] + width]
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
            while low < high and not marks.all():
                codes, counts = cells_of(a, inputs, order, low, end[low])
                (_mark_cuts if inputs.threshold[a] else _mark_levels)(a, inputs, codes, counts, holds, marks)
                low = int(end[low])


def _mark_cuts(a: int, inputs: Inputs, codes: Ints, counts: Ints, holds: Holds, marks: Flags) -> None:  # noqa: ARG001
    """Mark the cuts that leave a side that may not be a span."""
    left = np.cumsum(counts, axis=0)[:-1]
    fails = ~(holds(left) & holds(counts.sum(axis=0) - left))
    for i in np.flatnonzero(fails).tolist():
        marks[codes[i] : codes[i + 1]] = True


def _mark_levels(a: int, inputs: Inputs, codes: Ints, counts: Ints, holds: Holds, marks: Flags) -> None:
    """Mark the levels with a part that may not be a span."""
    for level in np.flatnonzero(~marks).tolist():
        marks[level] = not holds(folded(a, level, inputs, codes, counts)).all()
