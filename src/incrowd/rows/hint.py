"""The hint for the verification: from which input row each released row was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import OutputError
from incrowd.rows.held import Drafted
from incrowd.verification.request import Hint


class Hints:
    """Takes drafts, hands on their tables and keeps where their rows come from.

    Parameters
    ----------
    folder
        Private; the hint lies there as files.
    order
        The input row of each row that was held, if these were put in another order.
    """

    def __init__(self, folder: Path, order: Any = None) -> None:
        self._folder, self._order = folder, order
        self._origins: list[Any] = []
        self._claims: dict[str, list[tuple[Any, Any]]] = {}

    def pieces(self, drafts: Iterable[Drafted]) -> Iterator[Any]:
        """The tables of the drafts, one after the other."""
        for draft in drafts:
            yield draft.table
            origin = draft.origin if self._order is None else self._order[draft.origin]
            self._origins.append(np.asarray(origin, np.int64))
            for name, ends in draft.claims.items():
                self._claims.setdefault(name, []).append(ends)

    @property
    def origin(self) -> Any:
        """The input row of each released row, in the release's order."""
        return np.concatenate(self._origins) if self._origins else np.empty(0, np.int64)

    def save(self) -> Hint:
        """The hint as files."""
        sizes = tuple(len(part) for part in self._origins)
        claims = {}
        for place, (name, ends) in enumerate(self._claims.items()):
            low, high = zip(*ends, strict=True)
            claims[name] = (self._saved(f"low-{place}", low), self._saved(f"high-{place}", high))
        return Hint(self._saved("origin", self._origins), sizes, claims)

    def _saved(self, name: str, parts: Sequence[Any]) -> Path:
        path = self._folder / f"{name}.npy"
        try:
            np.save(path, np.concatenate(parts) if parts else np.empty(0, np.int64))
        except OSError:
            raise OutputError("The private folder is full or cannot be written. Free space there.") from None
        return path
