"""What the faces of the methods that generalize share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from incrowd.estimators.sampler import Sampler
from incrowd.vocabulary.hierarchy import Hierarchy


class Generalizer(Sampler):
    """A sampler whose method shows values as groups of values, by hierarchies where there are some.

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
    random_state
        For experiments only; chance is cryptographic if not given.
    """

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        numeric: str = "midpoint",
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.numeric = numeric
        self.random_state = random_state
