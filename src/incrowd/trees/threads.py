"""How many threads the kernels share their work among; no result depends on it."""

from __future__ import annotations

import os

THREADS = max(1, min(8, os.cpu_count() or 1))
