"""The recipient's side of a release: open it, see what is in it, learn from it, or make a plain table of it.

::

    open_release("release.csv")       the rows with their certificate: X, y, describe(), encoder(), classifier()
    decode("release.csv")             a plain table for any program; it does not carry the guarantee
    CountsNaiveBayes, CountsTree      scikit-learn classifiers that learn from counts themselves

Nothing here needs more than what was received. The room takes NumPy, PyArrow and scikit-learn, and of the program only
the vocabulary, the errors and the drawing kit; workbooks, databases and files of hierarchies are read by the program.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.recipients.learning import CountsNaiveBayes, CountsTree
    from incrowd.recipients.received import ReceivedRelease, decode, open_release

__all__ = ["CountsNaiveBayes", "CountsTree", "ReceivedRelease", "decode", "open_release"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'incrowd.recipients' has no attribute {name!r}")
    home = "learning" if name.startswith("Counts") else "received"
    return getattr(importlib.import_module(f"incrowd.recipients.{home}"), name)
