"""Whether a table is held in memory or in blocks, by what its file declares: its rows and columns, not its size alone.

A file of a few kilobytes may hold millions of rows: of packed text the beginning is unpacked to know the ratio, Parquet
and Arrow say how many rows and columns they have.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from incrowd.errors import RequirementError
from incrowd.publishing.piece_writer import STREAMED
from incrowd.reading.columnar import is_arrow_file
from incrowd.reading.read import check_file
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.resources import Resources

_TEXT = 48 * 10**6  # bytes of text: about half a million rows of a few dozen columns
_CELLS = 12 * 10**6  # cells of a file with types: the same
_OF_TEXT = 30  # bytes of memory for each byte of a text that is worked on whole
_OF_A_CELL = 60  # bytes of memory for each cell of a table that is worked on whole, measured: 43 to 55
_OF_A_BYTE = 8  # and for each byte of its values: texts that are all different take most
_LOOKED_AT = 8 << 20  # bytes of a packed text that are unpacked to know its ratio
_IN_PIECES = {"delimited text", "Parquet", "Arrow"}


def in_blocks(path: Path, form: FileForm, memory: int | None, requirement: Requirement | None = None) -> bool:
    """Whether a file is better worked on in blocks: it is large, or its rows would not fit into the memory.

    Folders of Parquet files are always worked on in blocks; formats that cannot be read or written in pieces never.
    Requirements on more than the sizes of groups are kept and recounted in memory.
    """
    if isinstance(requirement, Together):
        if path.is_dir():
            raise RequirementError("Folders of files are released with k only. Give one file for further requirements.")
        return False
    if path.is_dir():
        return True
    kind, compression = check_file(path)
    if kind not in _IN_PIECES or form.kind not in STREAMED:
        return False
    room = Resources(memory).share(1.0)
    if kind == "delimited text":
        size = path.stat().st_size if compression is None else _unpacked_bytes(path, compression)
        return size > _TEXT or (room is not None and size * _OF_TEXT > room)
    cells, size = _declared(path, kind)
    return cells > _CELLS or (room is not None and cells * _OF_A_CELL + size * _OF_A_BYTE > room)


def _unpacked_bytes(path: Path, compression: str) -> int:
    """How long a packed text is, by the ratio of its beginning; a damaged one is refused when it is read."""
    import pyarrow as pa

    size = path.stat().st_size
    with suppress(OSError, pa.ArrowException), pa.OSFile(str(path)) as packed:
        stream = pa.CompressedInputStream(packed, compression)
        found = len(stream.read(_LOOKED_AT))
        size = max(found, size * found // max(1, min(size, packed.tell())))
    return size


def _declared(path: Path, kind: str) -> tuple[int, int]:
    """Cells of a file with types, and the bytes of its values; a damaged one is refused when it is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
