"""kACTUS and its improved form as samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incrowd.estimators.sampler import Sampler


class KActus(Sampler):
    """kACTUS as a sampler: suppression along the paths of a decision tree.

    Parameters
    ----------
    k
        The smallest number of rows that may share their released quasi-identifiers.
    quasi_identifiers
        Columns an attacker may know; all columns if not given.
    inducer
        The tree inducer to wrap; C4.5 if not given.
    reading
        ``"recommended"`` or ``"literal"``.
    numeric
        ``"levels"`` (default here, since pipelines want numbers): numbers are cut at public places and written as one
        number for each piece. ``"bins"``: the same pieces as intervals. ``"mean"``, ``"interval"``: as in the paper.
    missing
        ``"stuck"`` or ``"branch"``.
    random_state
        For experiments only; chance is cryptographic if not given.

    Attributes
    ----------
    plan_
        The plan of the last fit.
    verdict_
        The independent recount of the last fit.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> released, classes = KActus(k=5).fit_resample(X, y)
    >>> released.shape, sorted(set(classes.tolist()))
    ((20, 2), ['no', 'yes'])
    """

    _method = "kactus"
    _method_parameters = ("inducer", "reading", "numeric", "missing")

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        inducer: Any = None,
        reading: str = "recommended",
        numeric: str = "levels",
        missing: str = "stuck",
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.inducer = inducer
        self.reading = reading
        self.numeric = numeric
        self.missing = missing
        self.random_state = random_state


class KActusPlus(Sampler):
    """The improved kACTUS as a sampler: value sets, regrown groups, no lost row.

    Parameters
    ----------
    k, quasi_identifiers, inducer, numeric, missing, random_state
        As in :class:`KActus`.
    regrow
        Split finished groups further while every part keeps k rows.
    largest_set
        Largest share of an attribute's values that a value set may hold.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([["a"], ["b"]], 6, axis=0)
    >>> released, classes = KActusPlus(k=4).fit_resample(X, np.repeat([0, 1], 6))
    >>> sorted(released.ravel().tolist())[::6]
    ['a', 'b']
    """

    _method = "kactus-plus"
    _method_parameters = ("inducer", "numeric", "missing", "regrow", "largest_set")

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        inducer: Any = None,
        numeric: str = "levels",
        missing: str = "stuck",
        regrow: bool = True,
        largest_set: float = 0.5,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.inducer = inducer
        self.numeric = numeric
        self.missing = missing
        self.regrow = regrow
        self.largest_set = largest_set
        self.random_state = random_state
