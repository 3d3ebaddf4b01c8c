"""What results were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

PACKAGES = ("incrowd", "polars", "duckdb", "numba", "numpy", "pyarrow", "scikit-learn")


def machine() -> str:
    """Cores, memory, Python and packages; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    return f"{cores} cores, {memory:.0f} GB memory, Python {platform.python_version()}, {packages}."
