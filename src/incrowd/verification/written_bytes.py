"""Whether a written file carries the released cells and nothing else.

A recount of values does not see what lies beside them: a comment, metadata, a dictionary with a removed category, a
value in a buffer under a null, bytes that no reader looks at. Here every part of a file is accounted for, by format.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.verification.coded import text_groups
from incrowd.verification.delimited import STEP, examine, unpacked
from incrowd.verification.opening import column, connect, open_table
from incrowd.verification.statistics_files import statistics_faults
from incrowd.verification.verdict import Check
from incrowd.verification.workbook import workbook_faults
from incrowd.vocabulary.forms import FileForm

_WORD = re.compile(r"'(?:[^'\\]|\\.)*'|[^,']+")
_ZSTD = b"\x28\xb5\x2f\xfd"


def bytes_check(path: Path, form: FileForm, texts: Iterable[Any] | None = None) -> Check:
    """The check that nothing is in the file but the released cells.

    ``texts`` are what :func:`text_groups` reads of a Parquet file, if it was read before.
    """
    faults = list(_FAULTS[form.kind](path, form) if texts is None else _parquet(path, form, texts))
    return Check("bytes", not faults, "; ".join(faults) or "nothing but the released cells")


def _text(path: Path, form: FileForm) -> Iterator[str]:
    """Delimited text: no mark before it, lines ended alike, nothing after the last."""
    faults = list(_PACKINGS[form.compression](path))
    if faults:
        yield from faults
        return
    first, last, nothing, idle = b"", b"", False, False
    for lines in _whole_lines(path, form.compression):
        first = first or lines[:3]
        last = (last + lines)[-2:]
        nothing = nothing or b"\0" in lines
        idle = idle or _needless(form.delimiter).search(lines) is not None
    if first == b"\xef\xbb\xbf":
        yield "a byte order mark stands before the text"
    if nothing:
        yield "the text holds NUL bytes"
    if idle:
        yield "cells are quoted without need"
    if not last.endswith(b"\n") or (last == b"\n\n" and len(examine(path, form).names) > 1):
        yield "the text does not end with its last row"


def _needless(delimiter: str) -> re.Pattern[bytes]:
    """A field in quotes that has nothing to be quoted for; which fields are could tell something."""
    mark = re.escape(delimiter.encode())
    return re.compile(rb'"(?<![^\n%b]")[^"\r\n%b]+"(?=[\n%b]|$)' % (mark, mark, mark))


def _whole_lines(path: Path, compression: str | None) -> Iterator[bytes]:
    """The text in pieces; none ends inside a line."""
    rest = b""
    with unpacked(path, compression) as stream:
        while block := stream.read(STEP):
            lines, end, rest = (rest + block).rpartition(b"\n")
            yield lines + end
    yield rest


def _gzip(path: Path) -> Iterator[str]:
    """One member, without a name, a time or a comment, and nothing after it (RFC 1952, section 2.3)."""
    with path.open("rb") as file:
        if file.read(10)[:8] != b"\x1f\x8b\x08\0\0\0\0\0":
            yield "the gzip header holds a name, a time or a comment"
            return
        unpacking = zlib.decompressobj(wbits=-15)
        while not unpacking.eof and (block := unpacking.unconsumed_tail or file.read(STEP)):
            unpacking.decompress(block, STEP)
        end = file.tell() - len(unpacking.unused_data) + 8  # a sum and a length come after the data
    if end != path.stat().st_size:
        yield "bytes follow the end of the gzip data"


def _zstd(path: Path) -> Iterator[str]:
    """Frames of data, one after the other, to the end of the file: none that readers skip."""
    place = 0
    with path.open("rb") as file:
        while _is_frame(file):
            place = file.tell()
    if place != path.stat().st_size:
        yield "the zstd file holds bytes that are no data"


def _is_frame(file: Any) -> bool:
    """Go to the end of a zstd frame of data, without a dictionary of its own (RFC 8878, section 3.1.1)."""
    magic, flags = file.read(4), int.from_bytes(file.read(1))
    if magic != _ZSTD or flags & 3:
        return False
    single = flags >> 5 & 1
    file.seek(1 - single + (single, 2, 4, 8)[flags >> 6], 1)
    while len(header := file.read(3)) == 3:
        block = int.from_bytes(header, "little")
        file.seek(1 if (block >> 1) & 3 == 1 else block >> 3, 1)
        if block & 1:
            file.seek(4 * (flags >> 2 & 1), 1)
            return True
    return False


_PACKINGS: dict[str | None, Callable[[Path], Iterable[str]]] = {None: lambda _: (), "gzip": _gzip, "zstd": _zstd}


def _arff(path: Path, form: FileForm) -> Iterator[str]:
    """Declarations and rows: no comment, no blank line among the rows, no declared value that no row has."""
    text = path.read_text(encoding="utf-8")
    head, mark, body = text.partition("\n@data\n")
    declared = head.split("\n")
    if not mark or declared[:2] != ["@relation release", ""] or declared[-1]:
        yield "the declarations are not those of a release"
        return
    if any(not line.startswith("@attribute ") for line in declared[2:-1]):
        yield "comments stand among the declarations"
        return
    rows = body.split("\n")
    if any(not line or line.startswith("%") for line in rows[:-1]) or rows[-1]:
        yield "comments or blank lines stand among the rows"
    with connect() as connection:
        names = open_table(connection, path, form)
        for place, line in enumerate(declared[2:-1]):
            if line.endswith("}") and _listed(line) != _values(connection, place):
                yield f"{names[place]} declares values of no row"


def _listed(line: str) -> int:
    """How many values an attribute declares."""
    return len(_WORD.findall(line[line.index(" {") + 2 : -1]))


def _values(connection: Any, place: int) -> int:
    [(values,)] = connection.execute(f"SELECT count(DISTINCT {column(place)}) FROM released").fetchall()
    return int(values)


def _json_lines(path: Path, form: FileForm) -> Iterator[str]:
    """Every line is an object written in the one way that leaves no choice, with the names of the first."""
    names: list[str] | None = None
    faults = list(_PACKINGS[form.compression](path))
    if faults:
        yield from faults
        return
    with unpacked(path, form.compression) as lines:
        for line in lines:
            try:
                row = json.loads(line.decode())
                again = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
            except (ValueError, RecursionError):
                again = ""
            if again.encode() != line or not isinstance(row, dict):
                yield "a line is no object, or is written otherwise than it has to be"
                return
            names = names or list(row)
            if list(row) != names:
                yield "lines have other names, or in another order"
                return


def _parquet(path: Path, _form: FileForm, texts: Iterable[Any] | None = None) -> Iterator[str]:
    """Every byte belongs to a column or to the footer, which tells of no value."""
    import pyarrow.parquet as pq

    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        with pq.ParquetFile(file) as opened:
            yield from _footer(opened.metadata)
            yield from _gaps(file, opened.metadata)
        yield from _words(text_groups(file) if texts is None else texts)


def _footer(footer: Any) -> Iterator[str]:
    if footer.metadata:
        yield "the footer holds metadata"
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(footer.num_columns)]
    if any(chunk.statistics is not None and chunk.statistics.has_min_max for chunk in chunks):
        yield "the footer holds the smallest and largest values"
    if any(chunk.has_dictionary_page and chunk.physical_type != "BYTE_ARRAY" for chunk in chunks):
        yield "numbers have a dictionary, which no reader shows"
    if any(group.sorting_columns for group in groups):
        yield "the footer states an order of the rows"


def _gaps(path: Path, footer: Any) -> Iterator[str]:
    """Column chunks follow each other from the magic number to the footer."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        end = file.tell() - _length(file)
    place = 4
    for start, size in sorted(_chunks(footer)):
        if start != place:
            yield "bytes lie between the columns"
            return
        place += size
    if place != end:
        yield "bytes lie before the footer"


def _length(file: Any) -> int:
    """The next four bytes as a number."""
    [length] = struct.unpack("<I", file.read(4))
    return int(length)


def _chunks(footer: Any) -> Iterator[tuple[int, int]]:
    """Where each column chunk that has any bytes begins, and how many there are."""
    for g in range(footer.num_row_groups):
        for c in range(footer.num_columns):
            chunk = footer.row_group(g).column(c)
            start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
            if chunk.total_compressed_size:
                yield start, chunk.total_compressed_size


def _words(groups: Iterable[Any]) -> Iterator[str]:
    """Dictionaries of texts hold the values of their rows, and tell nothing else."""
    for group in groups:
        for name in group.column_names:
            faults = dict.fromkeys(fault for chunk in group[name].chunks for fault in _dictionary_faults(chunk))
            yield from (f"{name} {fault}" for fault in faults)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _dictionary_faults(chunk: Any) -> Iterator[str]:
    """What a dictionary tells beside the cells: a value of no row, one value twice, or an order that is not its own.

    Words are sorted, or stand as the rows of the file have them first. Any other order may be that of the input.
    """
    import pyarrow.compute as pc

    words, met = chunk.dictionary, pc.unique(chunk.indices.drop_null()).to_numpy()
    if len(met) < len(words):
        yield "has a dictionary with values of no row"
    elif pc.count_distinct(words, mode="all").as_py() < len(words):
        yield "has a dictionary that lists a value twice"
    elif (met != np.arange(len(words))).any() and not _is_sorted(words):
        yield "has a dictionary in an order that is neither that of its rows nor its own"


def _is_sorted(words: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.less(words[:-1], words[1:]), min_count=0).as_py())


def _arrow(path: Path, _form: FileForm) -> Iterator[str]:
    """Messages follow each other to the footer; buffers hold what the rows show, dictionaries what occurs."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file)
        if reader.metadata or reader.schema.metadata or any(field.metadata for field in reader.schema):
            yield "the file holds metadata"
        yield from _messages(path, reader.num_record_batches)
        for place in range(reader.num_record_batches):
            batch = reader.get_batch(place)
            batch.validate(full=True)
            for number, name in enumerate(batch.schema.names):
                yield from (f"{name} {fault}" for fault in _left_behind(batch.column(number)))


def _messages(path: Path, listed: int) -> Iterator[str]:
    """The file is a magic number, messages to the end of the stream, and a footer that lists all of its batches."""
    import pyarrow as pa

    size = path.stat().st_size
    with path.open("rb") as raw:
        raw.seek(size - 10)
        footer = _length(raw)
        raw.seek(8)
        batches = sum(1 for _ in pa.ipc.open_stream(pa.PythonFile(raw, "r")))
        place = raw.tell()
    if batches != listed:
        yield "the file holds rows that its footer does not list"
    elif size - place != footer + 10:
        yield "bytes lie before the footer"


def _left_behind(cells: Any) -> Iterator[str]:
    """What a column keeps in memory that none of its cells shows."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        yield from _dictionary_faults(cells)
        yield from _left_behind(cells.indices)
        yield from _left_behind(cells.dictionary)
        return
    if _is_text(cells.type):
        yield from _text_behind(cells)
    elif not pa.types.is_null(cells.type) and _values_under_nulls(cells):
        yield "keeps values under missing cells"


def _text_behind(cells: Any) -> Iterator[str]:
    import pyarrow as pa

    _, offsets, letters = cells.buffers()
    kind = np.int64 if pa.types.is_large_string(cells.type) else np.int32
    ends = np.frombuffer(offsets, kind)[: len(cells) + 1]
    lengths = np.diff(ends)
    if lengths[np.asarray(cells.is_null())].any():
        yield "keeps values under missing cells"
    held = len(np.trim_zeros(np.frombuffer(letters, np.uint8), "b"))
    if ends[:1].sum() or held > lengths.sum():
        yield "keeps text that no cell shows"


def _values_under_nulls(cells: Any) -> bool:
    import pyarrow as pa

    data = np.frombuffer(cells.buffers()[1], np.uint8)
    if pa.types.is_boolean(cells.type):
        values = np.unpackbits(data, bitorder="little")[: len(cells)]
    else:
        width = cells.type.bit_width // 8
        values = data[: len(cells) * width].reshape(len(cells), width)
    return bool(values[np.asarray(cells.is_null())].any())


_FAULTS: dict[str, Callable[[Path, FileForm], Iterator[str]]] = {
    "csv": _text,
    "arff": _arff,
    "jsonl": _json_lines,
    "excel": lambda path, _form: workbook_faults(path),
    "spss": lambda path, form: statistics_faults(path, form.kind),
    "stata": lambda path, form: statistics_faults(path, form.kind),
    "parquet": _parquet,
    "arrow": _arrow,
}
