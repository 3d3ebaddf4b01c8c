"""TDR and TDS as samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from incrowd.estimators.sampler import Sampler
from incrowd.vocabulary.hierarchy import Hierarchy


class TDR(Sampler):
    """TDR as a sampler: everything hidden at first, then refined.

    Parameters
    ----------
    k
        The smallest number of rows that may share their released quasi-identifiers.
    quasi_identifiers
        Columns an attacker may know; all columns if not given.
    hierarchies
        Hierarchies by column: ``Hierarchy`` objects or files.
    known_together
        Sets of columns an attacker knows together, each with its own k; k above then says nothing.
    numeric
        How numbers are released: ``"midpoint"`` (default here, since pipelines want numbers), ``"mean"``,
        ``"interval"`` or ``"bounds"``.
    loss_average
        ``"related"`` or ``"all"``: the sets over which the loss of anonymity is averaged.
    criterion
        ``"score"`` or ``"gain"``.
    random_state
        For experiments only; chance is cryptographic if not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> TDR(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "tdr"
    _method_parameters = (
        "numeric",
        "loss_average",
        "criterion",
    )

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        known_together: Sequence[tuple[Sequence[str], int]] | None = None,
        numeric: str = "midpoint",
        loss_average: str = "related",
        criterion: str = "score",
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.known_together = known_together
        self.numeric = numeric
        self.loss_average = loss_average
        self.criterion = criterion
        self.random_state = random_state


class TDS(TDR):
    """TDS as a sampler: TDR by hierarchies alone, without a value hidden singly; the parameters are those of TDR.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> TDS(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "tds"
