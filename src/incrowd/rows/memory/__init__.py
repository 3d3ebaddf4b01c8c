"""Rows in this process's memory."""

from __future__ import annotations
