"""IACk and IACc as samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from incrowd.estimators.sampler import Sampler
from incrowd.vocabulary.hierarchy import Hierarchy


class IACk(Sampler):
    """IACk as a sampler: every attribute at its most telling level, rare combinations hidden.

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
    min_entropy
        Levels whose values have less entropy are not chosen.
    strict
        Whether rows that show nothing must be at least k as well.
    on_small
        ``"suppress"`` or ``"drop"``: what becomes of fewer than k hidden rows.
    random_state
        For experiments only; chance is cryptographic if not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> IACk(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "iack"
    _method_parameters = (
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
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.known_together = known_together
        self.numeric = numeric
        self.min_entropy = min_entropy
        self.strict = strict
        self.on_small = on_small
        self.random_state = random_state


class IACc(Sampler):
    """IACc as a sampler: IACk, and more hidden while the class information stays within limits.

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
    delta_d, delta_c
        The limits for the change of the values and of their information about the class.
    scale
        ``"relative"`` or ``"absolute"``: what the limits are measured in.
    numeric
        How numbers are released: ``"midpoint"`` (default here, since pipelines want numbers), ``"mean"``,
        ``"interval"`` or ``"bounds"``.
    min_entropy
        Levels whose values have less entropy are not chosen.
    strict
        Whether rows that show nothing must be at least k as well.
    on_small
        ``"suppress"`` or ``"drop"``: what becomes of fewer than k hidden rows.
    random_state
        For experiments only; chance is cryptographic if not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> IACc(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
    (1, 2)
    """

    _method = "iacc"
    _method_parameters = (
        "delta_d",
        "delta_c",
        "scale",
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
        delta_d: float = 0.05,
        delta_c: float = 0.05,
        scale: str = "relative",
        numeric: str = "midpoint",
        min_entropy: float = 0.0,
        strict: bool = True,
        on_small: str = "suppress",
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.known_together = known_together
        self.delta_d = delta_d
        self.delta_c = delta_c
        self.scale = scale
        self.numeric = numeric
        self.min_entropy = min_entropy
        self.strict = strict
        self.on_small = on_small
        self.random_state = random_state
