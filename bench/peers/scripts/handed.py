"""What a script is handed, and how it hands its table back. Nothing here needs more than pandas."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
TARGET = "class"


@dataclass(frozen=True)
class Handed:
    """``python -m bench.peers.scripts.NAME TABLE RELEASE K HIERARCHIES``."""

    table: Path
    release: Path
    k: int
    hierarchies: Path

    def read(self, *, categories: str = "str") -> pd.DataFrame:
        """The table; everything but numbers is of the type the peer wants."""
        frame = pd.read_csv(self.table)
        return frame.astype({name: categories for name in frame.columns if name not in NUMBERS})  # type: ignore[no-any-return,unused-ignore]

    def paths(self) -> dict[str, list[list[str]]]:
        """For every attribute, the way of each value to the root."""
        known: dict[str, list[list[str]]] = json.loads(self.hierarchies.read_text(encoding="utf-8"))
        return known

    def write(self, frame: pd.DataFrame) -> None:
        """The attributes and the class, one row for each person."""
        frame[[*attributes(frame), TARGET]].to_csv(self.release, index=False)

    def write_counted(self, groups: Iterable[Mapping[str, Any]]) -> None:
        """The same from rows that say in ``count`` how many people they stand for."""
        frame = pd.DataFrame(list(groups))
        self.write(frame.loc[frame.index.repeat(frame["count"])])


def handed() -> Handed:
    """The arguments."""
    table, release, k, hierarchies = sys.argv[1:]
    return Handed(Path(table), Path(release), int(k), Path(hierarchies))


def attributes(frame: pd.DataFrame) -> list[str]:
    """The quasi-identifiers."""
    return [name for name in frame.columns if name not in (TARGET, "count", "index")]


def categories(frame: pd.DataFrame) -> list[str]:
    """The quasi-identifiers that are no numbers."""
    return [name for name in attributes(frame) if name not in NUMBERS]
