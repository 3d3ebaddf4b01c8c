"""IACk and IACc as samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from incrowd.estimators.generalizer import Generalizer
from incrowd.vocabulary.hierarchy import Hierarchy


class IACk(Generalizer):
    """IACk as a sampler: every attribute at its most telling level, rare combinations hidden.

    Parameters
    ----------
    k, quasi_identifiers, hierarchies, numeric, random_state
        As in :class:`~incrowd.estimators.generalizer.Generalizer`.
    known_together
        Sets of columns an attacker knows together, each with its own k; k above then says nothing.
    min_entropy
        Levels whose values have less entropy are not chosen.
    strict
        Whether rows that show nothing must be at least k as well.
    on_small
        ``"suppress"`` or ``"drop"``: what becomes of fewer than k hidden rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> IACk(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "iack"
    _method_parameters: ClassVar[tuple[str, ...]] = (
        "numeric",
        "min_entropy",
        "strict",
        "on_small",
    )

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        known_together: Sequence[tuple[Sequence[str], int]] | None = None,
        numeric: str = "midpoint",
        min_entropy: float = 0.0,
        strict: bool = True,
        on_small: str = "suppress",
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
        self.min_entropy = min_entropy
        self.strict = strict
        self.on_small = on_small


class IACc(IACk):
    """IACc as a sampler: IACk, and more hidden while the class information stays within limits.

    Parameters
    ----------
    k, quasi_identifiers, hierarchies, numeric, random_state
        As in :class:`~incrowd.estimators.generalizer.Generalizer`.
    known_together, min_entropy, strict, on_small
        As in :class:`IACk`.
    delta_d, delta_c
        The limits for the change of the values and of their information about the class.
    scale
        ``"relative"`` or ``"absolute"``: what the limits are measured in.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> IACc(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "iacc"
    _method_parameters: ClassVar[tuple[str, ...]] = (
        "numeric",
        "min_entropy",
        "strict",
        "on_small",
        "delta_d",
        "delta_c",
        "scale",
    )

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        known_together: Sequence[tuple[Sequence[str], int]] | None = None,
        numeric: str = "midpoint",
        min_entropy: float = 0.0,
        strict: bool = True,
        on_small: str = "suppress",
        delta_d: float = 0.05,
        delta_c: float = 0.05,
        scale: str = "relative",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            k,
            quasi_identifiers=quasi_identifiers,
            hierarchies=hierarchies,
            numeric=numeric,
            known_together=known_together,
            min_entropy=min_entropy,
            strict=strict,
            on_small=on_small,
            random_state=random_state,
        )
        self.delta_d = delta_d
        self.delta_c = delta_c
        self.scale = scale
