"""One thread for other people's libraries: the lab is parallel over processes."""

from __future__ import annotations

from contextlib import AbstractContextManager


def single_thread() -> AbstractContextManager[object]:
    """Inside, OpenMP and the linear algebra libraries use one thread."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
