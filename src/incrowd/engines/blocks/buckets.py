"""A random order for more rows than fit into memory: each row goes to a random bucket, each bucket is shuffled.

Buckets are files in a private folder. Every order of the rows is equally likely: it is the order of two random numbers
for each row, the first of which names its bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import OutputError
from incrowd.vocabulary.randomness import Randomness, permutation

MOST_BUCKETS = 256
"""Files that are open at the same time; systems allow a process 1024 and sometimes less. A power of two."""


class Buckets:
    """Takes frames, all with the same columns, and gives their rows back in random order.

    Parameters
    ----------
    folder
        Private, with room for all rows.
    rows
        How many rows a bucket should have, about; more, where there would be too many buckets.
    total
        How many rows will come, about.

    Examples
    --------
    >>> import tempfile
    >>> from incrowd.vocabulary.randomness import SystemRandomness
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     buckets = Buckets(Path(folder), SystemRandomness(), rows=2, total=6)
    ...     buckets.add(pl.DataFrame({"a": [1, 2, 3]}))
    ...     buckets.add(pl.DataFrame({"a": [4, 5, 6]}))
    ...     sorted(row for frame in buckets.shuffled() for row in frame["a"])
    [1, 2, 3, 4, 5, 6]
    """

    def __init__(self, folder: Path, randomness: Randomness, *, rows: int, total: int) -> None:
        self._randomness = randomness
        wanted = max(0, (max(1, total) - 1) // max(1, rows))
        self._count = min(1 << wanted.bit_length(), MOST_BUCKETS)  # a power of two: no bias
        self._paths = [folder / f"bucket-{place:05d}.arrow" for place in range(self._count)]
        self._writers: list[Any] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Deal the rows of a frame to the buckets."""
        place = (self._randomness.words(frame.height) & np.uint64(self._count - 1)).astype(np.uint16)
        order = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place, minlength=self._count)).tolist()
        dealt = frame[order].rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        try:
            for writer, start, end in zip(self._open(dealt.schema), [0, *ends], ends, strict=False):
                writer.write_table(dealt.slice(start, end - start))
        except OSError:
            raise OutputError(
                "The rows do not fit into the scratch folder, or it cannot be written. Free space there, or choose "
                "another."
            ) from None

    def shuffled(self) -> Iterator[pl.DataFrame]:
        """The rows, bucket by bucket, each shuffled; a bucket's file goes when it was read."""
        import pyarrow as pa

        for writer in self._writers:
            writer.close()
        for path in self._paths if self._writers else ():
            with pa.memory_map(str(path)) as file:
                frame = pl.DataFrame(pa.ipc.open_stream(file).read_all())
                mixed = frame[permutation(frame.height, self._randomness)].rechunk()
                del frame
            path.unlink()
            yield mixed

    def _open(self, schema: Any) -> list[Any]:
        if not self._writers:
            import pyarrow as pa

            self._writers = [pa.ipc.new_stream(str(path), schema) for path in self._paths]
        return self._writers
