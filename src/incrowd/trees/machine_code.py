"""Machine code of kernels: compiled by Numba, kept on disk. Imported when there is something to compile."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from typing import Any

from numba import njit
from numba.core.caching import IndexDataCacheFile
from numba.np import linalg


def _refuse() -> None:
    raise ImportError


# Numba looks whether SciPy's linear algebra is there, for its convolutions alone; importing that takes as long as Numba
_look: Any = getattr(linalg, "ensure_blas", None)
linalg.ensure_blas = _refuse
import_module("numba.np.arraymath")
linalg.ensure_blas = _look


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


def machine_code(function: Callable[..., Any]) -> Any:
    """What compiles the function for each kind of arguments when it is first called with them."""
    try:
        kernel: Any = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder to write the cache to
        return njit(nogil=True)(function)
    kernel._cache._cache_file.__class__ = KeptByKey
    return kernel
