"""Decision trees: one shape (``tree``), one induction kernel (ID3, C4.5), routing, adapters for other people's trees.

From table to tree: ``packing``, ``levels`` with ``kernel``, and ``c45``, which prunes, as the face. The JSON of a tree
is part of plan files: it may grow, and old files must read back. Kernels that call each other stay in one file,
because Numba's cache looks at one. The room imports vocabulary and measures.

::

    C45(min_node=50).grow(table, attributes, "ill")      a tree of our own
    SklearnInducer(DecisionTreeClassifier())             trees of scikit-learn, where a method grows one
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.trees.c45 import C45
    from incrowd.trees.sklearn_tree import SklearnInducer

_HOME = {"C45": "c45", "SklearnInducer": "sklearn_tree"}
__all__ = ["C45", "SklearnInducer"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'incrowd.trees' has no attribute {name!r}")
    return getattr(importlib.import_module(f"incrowd.trees.{_HOME[name]}"), name)
