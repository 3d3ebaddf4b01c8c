"""Hierarchies a person can make: read, written, built from a column, drafted."""

from __future__ import annotations
