"""Who runs the kernels: results must not depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from incrowd.trees import compiled


@contextmanager
def compiled_kernels() -> Iterator[None]:
    """Machine code from the first row on."""
    with mock.patch.object(compiled, "LITTLE", -1):
        yield


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Plain Python, in this thread, whatever is compiled and however much there is to do."""
    with mock.patch.object(compiled._THREAD, "plain", True), np.errstate(all="ignore"):
        yield
