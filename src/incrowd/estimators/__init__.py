"""scikit-learn faces of the release methods: one for each method of the catalog, made from its entry.

A face has the name and the parameters of the method, and takes ``k``, ``quasi_identifiers`` and ``random_state`` beside
them. It may import everything but the other faces of the program (command line, desk).

Examples
--------
>>> import numpy as np
>>> from incrowd.estimators import Mondrian
>>> X, y = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0), np.repeat(["no", "yes"], 10)
>>> released, classes = Mondrian(k=5).fit_resample(X, y)
>>> released.shape, sorted(set(classes.tolist()))
((20, 2), ['no', 'yes'])
>>> Mondrian(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
(1, 2)
"""

from typing import Any

from incrowd.estimators.making import make_estimator
from incrowd.methods.catalog import METHODS


def __getattr__(name: str) -> Any:
    entry = next((entry for entry in METHODS.values() if entry.factory == name), None)
    if entry is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = estimator = make_estimator(entry)
    return estimator


def __dir__() -> list[str]:
    return sorted([*globals(), *(entry.factory for entry in METHODS.values())])
