"""Tables in: files and data frames, their draft schema, their encoded form."""

from __future__ import annotations
