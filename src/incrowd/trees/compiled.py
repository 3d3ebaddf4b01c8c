"""How kernels are compiled: by Numba, without the interpreter lock, kept on disk between runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel at its first call; the result is cached where the disk allows it."""
    try:
        return cast("Callable[P, R]", njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder to write the cache to
        return cast("Callable[P, R]", njit(nogil=True)(function))
