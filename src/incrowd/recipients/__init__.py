"""The recipient's side of a release of counts: read it, deal it out, learn from it.

::

    decode(release, deals=5)          a plain table for any learner; it does not carry the guarantee
    public_bins(release)              the cuts between which numbers were counted
    binned(rows, bins)                new rows with their numbers in the same bins
    CountsNaiveBayes, CountsTree      scikit-learn classifiers that learn from the counts themselves

Nothing here needs more than the released files, and nothing is imported but tables and the vocabulary.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.recipients.counted_table import binned, public_bins
    from incrowd.recipients.decoding import decode
    from incrowd.recipients.learning import CountsNaiveBayes, CountsTree

_HOME = {
    "CountsNaiveBayes": "learning",
    "CountsTree": "learning",
    "binned": "counted_table",
    "decode": "decoding",
    "public_bins": "counted_table",
}
__all__ = ["CountsNaiveBayes", "CountsTree", "binned", "decode", "public_bins"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'incrowd.recipients' has no attribute {name!r}")
    return getattr(importlib.import_module(f"incrowd.recipients.{_HOME[name]}"), name)
