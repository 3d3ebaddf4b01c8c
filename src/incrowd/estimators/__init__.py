"""scikit-learn faces: a sampler for each method of the catalog, made from its entry, and two classifiers.

::

    KActus, KActusPlus, TDR, …    fit_resample gives released rows and their classes
    AnonymousClassifier           releases the rows it is fitted on, learns from the release, predicts plain rows
    KAdetClassifier               a decision tree that is itself anonymous

A face takes the options of ``incrowd.release`` and the parameters of its method under the same names. It may import
everything but the other faces of the program (command line, desk).

A release may reorder and drop rows, so there are samplers in the manner of imbalanced-learn: they work inside its
``Pipeline``, where they touch training data only. After ``fit``, ``transform`` shows new rows as the plan would show
them. (imbalanced-learn refuses steps that offer both, which is why ``transform`` appears with ``fit`` and not with
``fit_resample``.)

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
from incrowd.optional import optional

optional("sklearn", "incrowd.estimators")

if TYPE_CHECKING:
    from incrowd.estimators.classifiers import AnonymousClassifier as AnonymousClassifier
    from incrowd.estimators.classifiers import KAdetClassifier as KAdetClassifier

_CLASSIFIERS = ("AnonymousClassifier", "KAdetClassifier")
_METHOD = {entry.factory: entry for entry in METHODS.values()}
__all__ = sorted([*_CLASSIFIERS, *_METHOD])


def __getattr__(name: str) -> Any:
    if name in _CLASSIFIERS:
        value = getattr(importlib.import_module(f"{__name__}.classifiers"), name)
    elif name in _METHOD:
        from incrowd.estimators.samplers import make_estimator

        value = make_estimator(_METHOD[name], __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
