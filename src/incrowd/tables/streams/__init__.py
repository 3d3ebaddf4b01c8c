"""Tables larger than memory: read in frames, encoded in blocks."""

from __future__ import annotations
