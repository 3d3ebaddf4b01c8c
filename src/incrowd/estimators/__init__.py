"""scikit-learn faces of the release methods: one for each method of the catalog, made from its entry.

A face has the name and the parameters of the method, and takes ``k``, ``quasi_identifiers`` and ``random_state`` beside
them. It may import everything but the other faces of the program (command line, desk).

A release may reorder and drop rows, so these are samplers in the manner of imbalanced-learn: ``fit_resample``
gives the released rows with their classes, and works inside its ``Pipeline``, where it touches training data
only. After ``fit``, ``transform`` shows new rows as the plan would show them. (imbalanced-learn refuses steps
that offer both, which is why ``transform`` appears with ``fit`` and not with ``fit_resample``.)

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

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from incrowd.methods.catalog import METHODS

if TYPE_CHECKING:
    from incrowd.estimators.classifiers import KAdetClassifier as KAdetClassifier

_HOME = {"KAdetClassifier": "classifiers"}
_METHOD = {entry.factory: entry for entry in METHODS.values()}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _METHOD:
        from incrowd.estimators.samplers import make_estimator

        value = make_estimator(_METHOD[name], __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_METHOD])
