"""What the cells of a column show, for columns whose codes stay on disk."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

Nodes = npt.NDArray[np.int32]
_MANY = 1 << 16


class ShownCells:
    """The cells of a column on disk; those that were changed are kept in memory.

    Indexed by a row, a slice or an array of rows it gives nodes, and by assignment cells change, as an array does.

    Parameters
    ----------
    codes
        The codes of all rows, in a file.
    of_code
        The node of each code.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     codes = np.memmap(file, np.uint8, "w+", shape=4)
    ...     codes[:] = [0, 1, 2, 1]
    ...     cells = ShownCells(codes, np.array([1, 2, 0], np.int32))
    ...     cells[np.array([3])] = np.array([0])
    ...     cells[1:].tolist(), int(cells[1]), cells[np.array([0, 3])].tolist(), codes.tolist()
    ([2, 0, 0], 2, [1, 0], [0, 1, 2, 1])
    """

    def __init__(self, codes: npt.NDArray[Any], of_code: Nodes) -> None:
        self._codes, self._of_code = codes, of_code
        self._changed: dict[int, int] = {}
        self._sorted: tuple[npt.NDArray[np.intp], Nodes] | None = None

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, int | np.integer):
            found = self._changed.get(int(rows))
            return self._of_code[self._codes[rows]] if found is None else np.int32(found)
        nodes: Nodes = self._of_code[self._codes[rows]]
        if len(nodes) > _MANY:
            forget(self._codes)
        return self._with_changes(np.arange(len(self))[rows] if isinstance(rows, slice) else rows, nodes)

    def __setitem__(self, rows: npt.NDArray[np.intp], nodes: npt.NDArray[Any]) -> None:
        self._changed.update(zip(rows.tolist(), nodes.tolist(), strict=True))
        self._sorted = None

    def _with_changes(self, rows: npt.NDArray[np.intp], nodes: Nodes) -> Nodes:
        if not self._changed:
            return nodes
        if self._sorted is None:
            changed = sorted(self._changed.items())
            self._sorted = np.array([row for row, _ in changed]), np.array([node for _, node in changed], np.int32)
        places = np.minimum(np.searchsorted(self._sorted[0], rows), len(self._sorted[0]) - 1)
        return np.where(self._sorted[0][places] == rows, self._sorted[1][places], nodes)


def on_disk(codes: npt.NDArray[Any]) -> bool:
    """Whether the codes of a column are in a file."""
    return isinstance(codes, np.memmap)


def forget(codes: npt.NDArray[Any]) -> None:
    """Let the system take back the memory in which it holds pages of the file."""
    mapped = getattr(codes, "_mmap", None)
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
