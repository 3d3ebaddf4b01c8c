"""Unpack gzip and zstd into memory, within bounds: a small file must not become a flood."""

from __future__ import annotations

from pathlib import Path

from incrowd.errors import FileFormatError
from incrowd.reading.source import Compression

FREE_BYTES = 64 << 20
"""Unpacked size up to which no ratio is too high."""
MOST_RATIO = 200
"""Highest accepted ratio of unpacked to packed size beyond that."""
_STEP = 1 << 20


def decompress(path: Path, compression: Compression) -> bytes:
    """The unpacked bytes of a file; a truncated, damaged or bomb-like one is an error.

    Examples
    --------
    >>> import gzip, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     packed = Path(folder, "a.csv.gz")
    ...     _ = packed.write_bytes(gzip.compress(b"a,b"))
    ...     decompress(packed, "gzip")
    b'a,b'
    """
    import pyarrow as pa

    bound = max(FREE_BYTES, MOST_RATIO * path.stat().st_size)
    pieces, size = [], 0
    try:
        with pa.OSFile(str(path)) as packed, pa.CompressedInputStream(packed, compression) as stream:
            while size <= bound and (piece := stream.read(_STEP)):
                pieces.append(piece)
                size += len(piece)
    except (OSError, pa.ArrowException):
        raise FileFormatError(f"The {compression} file is truncated or damaged. Fetch or write it again.") from None
    if size > bound:
        raise FileFormatError(
            f"The {compression} file unpacks to more than {MOST_RATIO} times its size, as a decompression "
            "bomb does. If you trust it, unpack it yourself and give the unpacked file."
        )
    return b"".join(pieces)
