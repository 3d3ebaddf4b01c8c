"""Loaded by every Python that has this folder on its path: brings a mutant, or a tracer, into processes of a test."""

import os
import sys
from pathlib import Path

if "INCROWD_MUTANT" in os.environ or "INCROWD_TRACE" in os.environ:
    sys.path.append(str(Path(__file__).parents[2]))
    from quality.child import install

    install()
