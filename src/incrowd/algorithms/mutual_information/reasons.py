"""What the methods say about their decision: levels, scores, margins, and what hiding changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from incrowd.algorithms.mutual_information.changes import Change, alpha, beta
from incrowd.algorithms.mutual_information.choosing import Choice
from incrowd.algorithms.mutual_information.generalizing import Generalized
from incrowd.algorithms.mutual_information.hiding import Hiding
from incrowd.plan.steps import Reasons

COLUMNS = ("attribute", "level", "of", "I_N", "margin", "H", "I_N change", "D_N", "scale of I_N", "scale of D_N")


def reasons(
    title: str, generalized: Generalized, hiding: Hiding, changes: Sequence[Change], facts: Sequence[tuple[str, Any]]
) -> Reasons:
    """The table of attributes, and the facts; the method's own come last."""
    shown = [size for size in hiding.smallest.values() if size is not None]
    common: list[tuple[str, Any]] = [
        ("alpha", written(alpha(changes))),
        ("beta", written(beta(changes))),
        ("H(C)", changes[0].class_entropy if changes else 0.0),
        ("k_actual", min(shown, default=None)),
        ("rows hidden", hiding.rows_hidden),
        ("rows left out", hiding.rows_dropped),
    ]
    rows = tuple(map(_row, generalized.choices, changes))
    return Reasons(title, COLUMNS, rows, (*common, *facts))


def _row(choice: Choice, change: Change) -> tuple[Any, ...]:
    numbers = (
        choice.scores[choice.number - 1],
        choice.margin,
        change.entropy,
        change.information,
        change.normalized_divergence,
        change.information_scale,
        change.divergence_scale,
    )
    return (choice.name, choice.number, len(choice.scores), *map(written, numbers))


def written(number: float) -> float | str:
    """A number as a plan can hold it: JSON has no infinity.

    Examples
    --------
    >>> written(0.5), written(math.inf)
    (0.5, 'infinite')
    """
    return "infinite" if math.isinf(number) else number
