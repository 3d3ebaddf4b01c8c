"""TDR and TDS as samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from incrowd.estimators.generalizer import Generalizer
from incrowd.vocabulary.hierarchy import Hierarchy


class TDR(Generalizer):
    """TDR as a sampler: everything hidden at first, then refined.

    Parameters
    ----------
    k, quasi_identifiers, hierarchies, numeric, random_state
        As in :class:`~incrowd.estimators.generalizer.Generalizer`.
    known_together
        Sets of columns an attacker knows together, each with its own k; k above then says nothing.
    loss_average
        ``"related"`` or ``"all"``: the sets over which the loss of anonymity is averaged.
    criterion
        ``"score"`` or ``"gain"``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> TDR(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "tdr"
    _method_parameters: ClassVar[tuple[str, ...]] = (
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
        super().__init__(
            k,
            quasi_identifiers=quasi_identifiers,
            hierarchies=hierarchies,
            numeric=numeric,
            random_state=random_state,
        )
        self.known_together = known_together
        self.loss_average = loss_average
        self.criterion = criterion


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
