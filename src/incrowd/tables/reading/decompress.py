"""Unpack gzip and zstd, within bounds: a small file must not become a flood."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from incrowd.errors import FileFormatError
from incrowd.tables.reading.source import Compression

FREE_BYTES = 64 << 20
"""Unpacked size up to which no ratio is too high."""
MOST_RATIO = 200
"""Highest accepted ratio of unpacked to packed size beyond that."""
_STEP = 1 << 20  # bytes unpacked between two looks at the ratio


def decompress(path: Path, compression: Compression) -> bytes:
    """The unpacked bytes of a file; a truncated, damaged or bomb-like one is an error."""
    return b"".join(unpacked(path, compression))


def unpacked(path: Path, compression: Compression) -> Iterator[bytes]:
    """The unpacked bytes piece by piece, with the same errors."""
    import pyarrow as pa

    size = 0
    damaged = FileFormatError(f"The {compression} file is truncated or damaged. Fetch or write it again.")
    with pa.OSFile(str(path)) as packed, pa.CompressedInputStream(packed, compression) as stream:
        while True:
            try:
                piece = stream.read(_STEP)
            except (OSError, pa.ArrowException):
                raise damaged from None
            if not piece:
                return
            size += len(piece)
            check_unpacked(size, path, compression)
            yield piece


def check_unpacked(size: int, path: Path, form: str) -> None:
    """Refuse a file that unpacks to so many bytes, if these are far more than it has itself."""
    if size > max(FREE_BYTES, MOST_RATIO * path.stat().st_size):
        raise FileFormatError(
            f"The {form} file unpacks to more than {MOST_RATIO} times its size, as a decompression bomb does. If you "
            "trust it, unpack it yourself and give the unpacked file."
        )
