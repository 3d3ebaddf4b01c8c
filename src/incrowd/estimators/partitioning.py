"""Mondrian and InfoGain Mondrian as samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from incrowd.estimators.sampler import Sampler
from incrowd.vocabulary.hierarchy import Hierarchy


class Mondrian(Sampler):
    """Mondrian as a sampler: boxes of at least k rows, cut at medians.

    Parameters
    ----------
    k
        The smallest number of rows that may share their released quasi-identifiers.
    quasi_identifiers
        Columns an attacker may know; all columns if not given.
    hierarchies
        Hierarchies by column: ``Hierarchy`` objects or files.
    numeric
        How numbers are released: ``"midpoint"`` (default here, since pipelines want numbers), ``"mean"``,
        ``"interval"`` or ``"bounds"``.
    boxes
        ``"splits"``: boxes end where they were cut; ``"extremes"``: at their smallest and largest number.
    random_state
        For experiments only; chance is cryptographic if not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> Mondrian(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "mondrian"
    _method_parameters = (
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
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.numeric = numeric
        self.boxes = boxes
        self.random_state = random_state


class InfoGainMondrian(Sampler):
    """InfoGain Mondrian as a sampler: boxes of at least k rows, cut where the class is told apart.

    Parameters
    ----------
    k
        The smallest number of rows that may share their released quasi-identifiers.
    quasi_identifiers
        Columns an attacker may know; all columns if not given.
    hierarchies
        Hierarchies by column: ``Hierarchy`` objects or files.
    numeric
        How numbers are released: ``"midpoint"`` (default here, since pipelines want numbers), ``"mean"``,
        ``"interval"`` or ``"bounds"``.
    boxes
        ``"splits"``: boxes end where they were cut; ``"extremes"``: at their smallest and largest number.
    min_gain
        The least gain of a cut; if not given, cutting goes on while a cut is allowed.
    random_state
        For experiments only; chance is cryptographic if not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> InfoGainMondrian(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "infogain-mondrian"
    _method_parameters = (
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
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.numeric = numeric
        self.boxes = boxes
        self.min_gain = min_gain
        self.random_state = random_state
