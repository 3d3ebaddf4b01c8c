"""How kernels are run, and how many threads share the work. No result depends on either."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cached_property, update_wrapper
from threading import local
from time import thread_time
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

# Numba takes half a second to load, and up to 20 for kernels that it has not compiled before. So a process runs kernels
# as plain Python until that has cost it as much; larger arrays, at 0.2 to 60 microseconds an element, never.
PATIENCE = 0.5  # seconds of CPU
LITTLE = 1 << 15  # elements of all arrays of a call


class _Thread(local):
    """Whether a kernel runs as plain Python in this thread: those that it calls then do so too."""

    plain = False


_THREAD = _Thread()


class Kernel(Generic[P, R]):
    """A function on arrays that is plain Python while there is little to do, and machine code from then on."""

    spent: ClassVar[float] = 0.0
    """Seconds that this process has run kernels as plain Python."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns."""
        if _THREAD.plain:
            return self.function(*args, **kwargs)
        if "machine_code" in vars(self) or Kernel.spent > PATIENCE or _elements(args) > LITTLE:
            return self.machine_code(*args, **kwargs)  # type: ignore[no-any-return]
        before, _THREAD.plain = thread_time(), True
        try:
            with np.errstate(all="ignore"):  # as in machine code
                return self.function(*args, **kwargs)
        finally:
            _THREAD.plain = False
            Kernel.spent += thread_time() - before

    @cached_property
    def machine_code(self) -> Any:
        """What Numba makes of the function."""
        from incrowd.trees.machine_code import machine_code

        return machine_code(self.function)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for where another kernel calls it: for its machine code."""
        return self.machine_code._numba_type_


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel, which Numba compiles once there is enough to do.

    Both ways must give the same: state the kinds of numbers where small ones could overflow, and sort stably.

    Examples
    --------
    >>> @compiled
    ... def largest(numbers):
    ...     return numbers.max()
    >>> int(largest(np.array([3, 7])))
    7
    """
    return Kernel(function)


def _elements(arguments: Iterable[Any]) -> int:
    """How many elements the arrays have, those in named tuples too."""
    return sum(
        one.size if isinstance(one, np.ndarray) else _elements(one) for one in arguments if isinstance(one, _HOLDING)
    )


_HOLDING = (np.ndarray, tuple)

# How many threads share the work: of the kernels, and of scikit-learn's learners. No result depends on it.
THREADS = max(1, min(8, os.cpu_count() or 1))


def one_thread() -> Callable[[], AbstractContextManager[object]]:
    """A way to run what is loaded by now on one thread; ask once, then use it as often as needed.

    On small tables, threads that wait for each other cost far more than they give.
    """
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    return lambda: controller.limit(limits=1)
