"""Mondrian and InfoGain Mondrian as samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from incrowd.estimators.generalizer import Generalizer
from incrowd.vocabulary.hierarchy import Hierarchy


class Mondrian(Generalizer):
    """Mondrian as a sampler: boxes of at least k rows, cut at medians.

    Parameters
    ----------
    k, quasi_identifiers, hierarchies, numeric, random_state
        As in :class:`~incrowd.estimators.generalizer.Generalizer`.
    boxes
        ``"splits"``: boxes end where they were cut; ``"extremes"``: at their smallest and largest number.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> Mondrian(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "mondrian"
    _method_parameters: ClassVar[tuple[str, ...]] = (
        "numeric",
        "boxes",
    )

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        numeric: str = "midpoint",
        boxes: str = "splits",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            k,
            quasi_identifiers=quasi_identifiers,
            hierarchies=hierarchies,
            numeric=numeric,
            random_state=random_state,
        )
        self.boxes = boxes


class InfoGainMondrian(Mondrian):
    """InfoGain Mondrian as a sampler: boxes of at least k rows, cut where the class is told apart.

    Parameters
    ----------
    k, quasi_identifiers, hierarchies, numeric, random_state
        As in :class:`~incrowd.estimators.generalizer.Generalizer`.
    boxes
        As in :class:`Mondrian`.
    min_gain
        The least gain of a cut; if not given, cutting goes on while a cut is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> InfoGainMondrian(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "infogain-mondrian"
    _method_parameters: ClassVar[tuple[str, ...]] = (
        "numeric",
        "boxes",
        "min_gain",
    )

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        numeric: str = "midpoint",
        boxes: str = "splits",
        min_gain: float | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            k,
            quasi_identifiers=quasi_identifiers,
            hierarchies=hierarchies,
            numeric=numeric,
            boxes=boxes,
            random_state=random_state,
        )
        self.min_gain = min_gain
