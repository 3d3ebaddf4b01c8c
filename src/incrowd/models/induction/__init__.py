"""Models that keep k-anonymity themselves, grown under the guarantee: kADET."""

from __future__ import annotations
