"""Blend as a sampler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incrowd.estimators.sampler import Sampler


class Blend(Sampler):
    """Blend as a sampler: groups of about the same class probability; numbers and categories as counts of values.

    ``fit_resample`` gives the release itself, whose cells are counts such as ``"Private:41|State-gov:9"``;
    ``Release.decode`` and the command ``incrowd decode`` deal the values out for learners that want plain ones.

    Parameters
    ----------
    k
        The smallest number of rows that may share their released quasi-identifiers.
    quasi_identifiers
        Columns an attacker may know; all columns if not given.
    guide
        ``"auto"``, ``"boosting"``, ``"forest"``, ``"logistic"``, ``"bayes"``, or a classifier with ``predict_proba``.
    bins, hide, attributes, labels, scores
        As in :class:`incrowd.algorithms.blending.blend.Blend`.
    random_state
        For experiments only; chance is cryptographic if not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0)
    >>> y = np.repeat(["no", "yes"], 10)
    >>> released, classes = Blend(k=5).fit_resample(X, y)
    >>> released.shape, sorted(set(classes.tolist()))
    ((20, 2), ['no', 'yes'])
    """

    _method = "blend"
    _method_parameters = ("guide", "bins", "hide", "attributes", "labels", "scores")

    def __init__(
        self,
        k: int = 10,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        guide: Any = "auto",
        bins: str = "mdl",
        hide: bool = True,
        attributes: float = 1.0,
        labels: float = 1.0,
        scores: float = 1.0,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.guide = guide
        self.bins = bins
        self.hide = hide
        self.attributes = attributes
        self.labels = labels
        self.scores = scores
        self.random_state = random_state
