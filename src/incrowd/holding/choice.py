"""Whether a table is held in memory or in blocks."""

from __future__ import annotations

from pathlib import Path

from incrowd.errors import RequirementError
from incrowd.publishing.piece_writer import STREAMED
from incrowd.reading.read import check_file
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.together import Together

_TEXT, _PACKED = 48 * 10**6, 6 * 10**6  # about half a million rows of a few dozen columns
_OF_TEXT, _OF_PACKED = 30, 240  # bytes of memory for each byte of the file when it is read whole
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
    packed = kind != "delimited text" or compression is not None
    size, large, of_a_byte = path.stat().st_size, *((_PACKED, _OF_PACKED) if packed else (_TEXT, _OF_TEXT))
    return size > large or (memory is not None and size * of_a_byte > memory / 2)
