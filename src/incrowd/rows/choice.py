"""Whether a table is held in memory or in blocks, by what its file declares: its rows and columns, not its size alone.

A file of a few kilobytes may hold millions of rows: of packed text the beginning is unpacked to know the ratio, Parquet
and Arrow say how many rows and columns they have.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from incrowd.errors import RequirementError
from incrowd.tables.publishing.serialise import STREAMED
from incrowd.tables.reading.read import check_file
from incrowd.tables.reading.source import Compression
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.requirement import Requirement, Together
from incrowd.vocabulary.resources import PROGRAM, Resources

_TEXT = 48 * 10**6  # bytes of text: about half a million rows of a few dozen columns
_CELLS = 12 * 10**6  # cells of a file with types: the same
_OF_TEXT = 30  # bytes of memory for each byte of a text that is worked on whole
_OF_A_CELL = 60  # bytes of memory for each cell of a table that is worked on whole, measured: 43 to 55
_OF_A_BYTE = 8  # and for each byte of its values: texts that are all different take most
_OF_A_WORKBOOK = 8  # bytes of text for each byte of a workbook or a file of SPSS, which are packed
_LOOKED_AT = 8 << 20  # bytes of a packed text that are unpacked to know its ratio
_PACKED = {"Excel", "SPSS", "Stata", "SAS"}
_IN_PIECES = {"delimited text", "Parquet", "Arrow", "JSON Lines"}


def in_blocks(path: Path, form: FileForm, memory: int | None, requirement: Requirement | None = None) -> bool:
    """Whether a file is better worked on in blocks: it is large, or its rows would not fit into the memory.

    Folders of Parquet files are always worked on in blocks; formats that cannot be read or written in pieces never.
    Requirements on more than the sizes of groups are kept and recounted in memory. What has to be worked on whole and
    would not fit is refused, with the limit that would do.
    """
    if path.is_dir():
        if isinstance(requirement, Together):
            raise RequirementError("Folders of files are released with k only. Give one file for further requirements.")
        return True
    kind, compression = check_file(path)
    need, large = _need(path, kind, compression)
    resources = Resources(memory, program=PROGRAM)
    packed_lines = kind == "JSON Lines" and compression is not None
    if isinstance(requirement, Together) or kind not in _IN_PIECES or packed_lines or form.kind not in STREAMED:
        resources.check_fits(need, 1.0, "This table is worked on as a whole, which")
        return False
    room = resources.share(1.0)
    return large or (room is not None and need > room)


def _need(path: Path, kind: str, compression: Compression | None) -> tuple[int, bool]:
    """The memory that a file takes if it is worked on whole, about, and whether it is large anyway."""
    size = path.stat().st_size
    if kind in ("Parquet", "Arrow"):
        cells, values = _declared(path, kind)
        return cells * _OF_A_CELL + values * _OF_A_BYTE, cells > _CELLS
    if kind in _PACKED:
        size *= _OF_A_WORKBOOK
    elif compression is not None:
        size = _unpacked_bytes(path, compression)
    return size * _OF_TEXT, size > _TEXT


def _unpacked_bytes(path: Path, compression: Compression) -> int:
    """How long a packed text is, by the ratio of its beginning; a damaged one is refused when it is read."""
    import pyarrow as pa

    size = path.stat().st_size
    with suppress(OSError, pa.ArrowException), pa.OSFile(str(path)) as packed:
        stream = pa.CompressedInputStream(packed, compression)
        unpacked = len(stream.read(_LOOKED_AT))
        size = max(unpacked, size * unpacked // max(1, min(size, packed.tell())))
    return size


def _declared(path: Path, kind: str) -> tuple[int, int]:
    """Cells of a file with types, and the bytes of its values; a damaged one is refused when it is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from incrowd.tables.reading.columnar import is_arrow_file

    size = path.stat().st_size
    with suppress(OSError, pa.ArrowException):
        if kind == "Parquet":
            footer = pq.read_metadata(path)
            groups = (footer.row_group(place) for place in range(footer.num_row_groups))
            return footer.num_rows * footer.num_columns, sum(group.total_byte_size for group in groups)
        if is_arrow_file(path):
            with pa.memory_map(str(path)) as file:
                reader = pa.ipc.open_file(file)
                return reader.count_rows() * len(reader.schema), size
    return size, size  # a stream says nothing before it is read
