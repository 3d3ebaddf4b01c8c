"""How many threads share the work: of the kernels, and of scikit-learn's learners. No result depends on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager

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
