"""What a user may name: a file, a frame, or a data set of the lab."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.lab.datasets.catalog import find_dataset
from incrowd.lab.datasets.entry import Dataset
from incrowd.lab.datasets.load import load


@dataclass(frozen=True, eq=False)
class Given:
    """A table, and what is known of it beforehand if it is a data set of the lab."""

    table: Any
    name: str | None = None
    dataset: Dataset | None = None

    @property
    def target(self) -> str | None:
        """The class."""
        return self.dataset.target if self.dataset else None

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Columns never to learn from."""
        return self.dataset.identifiers if self.dataset else ()

    @property
    def numeric(self) -> tuple[str, ...] | None:
        """The columns that are numbers; None if nobody knows."""
        return self.dataset.numeric if self.dataset else None

    def quasi_identifiers(self, named: Sequence[str] | None) -> Sequence[str] | None:
        """Those named; of a data set also by the name of a paper's choice, such as ``8/14``; all inputs by default."""
        if self.dataset is None:
            return named
        if named is None:
            return self.dataset.quasi_identifiers()
        chosen = {one.name for one in self.dataset.attribute_sets} | {"all"}
        return self.dataset.quasi_identifiers(named[0]) if len(named) == 1 and named[0] in chosen else named


def find_given(given: Any, folder: Path | None, tell: Callable[[str], None]) -> Given:
    """The file or frame, or the data set of that name.

    A name without an ending that is no file is the name of a data set.
    """
    if not isinstance(given, str | Path) or Path(given).exists() or Path(given).suffix:
        return Given(given)
    dataset = find_dataset(str(given))
    return Given(load(dataset.name, folder, tell), dataset.name, dataset)
