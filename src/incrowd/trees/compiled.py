"""How kernels are compiled, and how many threads share the work. No result depends on either."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit
from numba.core.caching import IndexDataCacheFile

if "scipy.linalg" not in sys.modules:
    # Numba would import it, at a tenth of a second, to see whether it is there: only its convolutions would use it
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]

    del sys.modules["scipy.linalg"]

P = ParamSpec("P")
R = TypeVar("R")


class KeptByKey(IndexDataCacheFile):
    """Compiled versions of a kernel on disk, each in a file that is named after what it is a version of.

    Numba numbers the files. Of two processes that compile at the same time each may give the same number to another
    version; whoever reads it next runs code for arrays of another kind, and may crash.
    """

    def _load_index(self) -> dict[Any, str]:
        """The versions kept so far; none if they speak of a class that the program does not have any more."""
        kept: Any = super()
        try:
            return dict(kept._load_index())
        except (AttributeError, ImportError):
            return {}

    def save(self, key: Any, data: Any) -> None:
        """Keep a version; it is in its place before the index says so."""
        kept: Any = super()
        name = kept._data_name(int(sha256(repr(key).encode()).hexdigest()[:12], 16))
        kept._save_data(name, data)
        kept._save_index({**self._load_index(), key: name})


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel at its first call; the result is cached where the disk allows it."""
    try:
        kernel: Any = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder to write the cache to
        return cast("Callable[P, R]", njit(nogil=True)(function))
    kernel._cache._cache_file.__class__ = KeptByKey
    return cast("Callable[P, R]", kernel)


# How many threads share the work: of the kernels, and of scikit-learn's learners. No result depends on it.
THREADS = max(1, min(8, os.cpu_count() or 1))


def one_thread() -> Callable[[], AbstractContextManager[object]]:
    """A way to run what is loaded by now on one thread; ask once, then use it as often as needed.

    On small tables, threads that wait for each other cost far more than they give.

    Examples
    --------
    >>> alone = one_thread()
    >>> with alone():
    ...     pass
    """
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    return lambda: controller.limit(limits=1)
