"""What rows on one machine have in common, in memory or in blocks: this process writes files, another verifies them.

The verification is told where the input lies, and from which input row each released one was made.

Whether a table is held in memory or in blocks, by what its file declares: its rows and columns, not its size alone.

A file of a few kilobytes may hold millions of rows: of packed text the beginning is unpacked to know the ratio, Parquet
and Arrow say how many rows and columns they have.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import OutputError, ParameterError
from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.tables.databases.tables import DatabaseFile, query_of
from incrowd.tables.publishing.serialise import STREAMED, write_pair, write_rows
from incrowd.tables.reading.read import check_file, is_known, missing_markers, read_release
from incrowd.tables.reading.source import Compression, Origin
from incrowd.verification.process import verdict_on
from incrowd.verification.request import Hint, InputFile, Request
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.column_rules import NONE
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.resources import PROGRAM, Resources, bytes_of

_TEXT = 48 * 10**6  # bytes of text: about half a million rows of a few dozen columns
_CELLS = 12 * 10**6  # cells of a file with types: the same
_OF_TEXT = 30  # bytes of memory for each byte of a text that is worked on whole
_OF_A_CELL = 120  # bytes of memory for each cell of a table that is worked on whole, measured: 50 to 119
_OF_A_BYTE = 8  # and for each byte of its values: texts that are all different take most
_OF_A_WORKBOOK = 8  # bytes of text for each byte of a workbook or a file of SPSS, which are packed
_LOOKED_AT = 8 << 20  # bytes of a packed text that are unpacked to know its ratio
_PACKED = {"Excel", "SPSS", "Stata", "SAS"}
_IN_PIECES = {"delimited text", "Parquet", "Arrow", "JSON Lines"}


def in_blocks(path: Path, form: FileForm, memory: int | None, whole: str = "", times: int = 1) -> bool:
    """Whether a file is better worked on in blocks: it is large, or its rows would not fit into the memory.

    Folders of Parquet files are worked on in blocks; formats that cannot be read or written in pieces never, nor a
    table of which something asks for all rows at once: ``whole`` says what, and how many ``times`` it holds them.
    What has to be worked on whole and would not fit is refused, with the limit that would do.
    """
    kind, compression, need, large = _need(path)
    resources = Resources(memory, program=PROGRAM)
    packed_lines = kind == "JSON Lines" and compression is not None
    if whole or kind not in _IN_PIECES or packed_lines or form.kind not in STREAMED:
        resources.check_fits(need * times, 1.0, f"{whole or 'This table'} is worked on as a whole, which")
        return False
    room = resources.share(1.0)
    return large or (room is not None and need > room)


def _need(path: Path) -> tuple[str, Compression | None, int, bool]:
    """What a file is, the memory that it takes if it is worked on whole, about, and whether it is large anyway."""
    kind, compression = ("Parquet", None) if path.is_dir() else check_file(path)
    size = path.stat().st_size
    if kind in ("Parquet", "Arrow"):
        files = [path] if path.is_file() else [one for one in path.iterdir() if one.is_file()]
        cells, values = map(sum, zip(*(_declared(one, kind) for one in files), strict=True)) if files else (0, 0)
        return kind, compression, cells * _OF_A_CELL + values * _OF_A_BYTE, cells > _CELLS or path.is_dir()
    if kind in _PACKED:
        size *= _OF_A_WORKBOOK
    elif compression is not None:
        size = _unpacked_bytes(path, compression)
    return kind, compression, size * _OF_TEXT, size > _TEXT


def check_whole(memory: int | str | None, *tables: Any) -> None:
    """Refuse, before they are read, files that are held whole at the same time and do not fit; frames are held anyway.

    A table of a database says how large it is when it has been read.
    """
    if memory is None:
        return
    if any(query_of(table) is not None for table in tables):
        raise ParameterError(
            "How much memory the rows of a database take is not known before they are read. Leave --memory out, or "
            "copy the table to a file."
        )
    files = [Path(table) for table in tables if isinstance(table, str | Path)]
    need = sum(_need(file)[2] for file in files)
    Resources(bytes_of(memory), program=PROGRAM).check_fits(need, 1.0, "What is held as a whole here")


def memory_of_cells(cells: int) -> int:
    """The memory that so many cells take if they are worked on whole."""
    return cells * _OF_A_CELL


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


PRIVATE = "private"
_FRAMES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False)
class Drafted:
    """Some released rows in random order, as a table of polars or PyArrow, and the input row of each.

    ``claims`` has the ends of the interval behind each number that is a middle.
    """

    table: Any
    origin: Any
    claims: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Destination:
    """The private path at which a release is written, and how: laid out in which form, as one table or as a pair."""

    path: Path
    form: FileForm
    pair: bool = False
    private: str = PRIVATE  # the folder beside it for what the verification is told


@dataclass(frozen=True, eq=False)
class OnOneMachine(ABC):
    """Rows of this machine; ``to`` is where and how their release is written."""

    to: Destination

    writes: ClassVar[str] = "file"
    whole: ClassVar[bool]
    """Whether all rows are in memory."""

    @property
    @abstractmethod
    def origin(self) -> Origin:
        """Where the table comes from."""

    @property
    @abstractmethod
    def owners(self) -> npt.NDArray[np.integer] | None:
        """The person of each row; None if every row is a person."""

    @property
    @abstractmethod
    def order(self) -> npt.NDArray[np.integer] | None:
        """The input row of each row, if rows were put in another order or left out."""

    @abstractmethod
    def drafts(
        self, plan: ReleasePlan, population: Population, randomness: Randomness, *, typed: bool
    ) -> Iterator[Drafted]:
        """The release, one piece or several; text that holds numbers throughout as numbers, if typed."""

    def write(self, plan: ReleasePlan, population: Population, randomness: Randomness) -> WrittenFiles:
        """Write the release at its private path, whole or piece by piece, and the hint in a folder beside it."""
        path, form = self.to.path, self.to.form
        hints = Hints(path.parent / self.to.private)
        pieces = hints.pieces(self.drafts(plan, population, randomness, typed=form.kind != "csv"))
        if self.to.pair:
            write_pair(pieces, path, form, plan.counted, randomness)
        else:
            write_rows(pieces, path, form, whole=self.whole)
        return WrittenFiles((path, groups_path(path)) if self.to.pair else (path,), hints.hint(), self.origin)


@dataclass(frozen=True, eq=False)
class WrittenFiles:
    """A release in a private file, or in two; which rows it was made of; and what it is a release of."""

    files: tuple[Path, ...]
    hint: Hint
    origin: Origin

    def verify(self, request: Request, progress: Callable[[int, int], None], /) -> Verdict:
        """The verdict of another process."""
        return verdict_on(request, self.hint.origin.parent, progress)

    def loader(self, path: Path | None, place: int = 0, /) -> Callable[[], Any]:
        """What gives a published file as a frame, without guessing at what its text means; it can be pickled."""
        if path is not None:
            return partial(_read_again, path)
        from incrowd.tables.reading.frames import to_frame_like

        frame = to_frame_like(pl.read_parquet(self.files[place]), self.origin)
        return partial(_as_it_is, frame)


def _read_again(path: Path) -> pl.DataFrame:
    return read_release(path).frame


def _as_it_is(frame: Any) -> Any:
    return frame


class Hints:
    """Takes drafts, hands on their tables, and puts down where their rows come from: files of a new private folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self._folder = folder
        self._sizes: list[int] = []
        self._claims: dict[str, tuple[Path, Path]] = {}

    def pieces(self, drafts: Iterable[Drafted]) -> Iterator[Any]:
        """The tables of the drafts, one after the other."""
        for draft in drafts:
            yield draft.table
            rows = sum(self._sizes)
            self._put("origin", np.asarray(draft.origin, np.int64), rows)
            for place, (name, (low, high)) in enumerate(draft.claims.items()):
                self._claims[name] = (self._put(f"low-{place}", low, rows), self._put(f"high-{place}", high, rows))
            self._sizes.append(len(draft.origin))

    def hint(self) -> Hint:
        """What was put down."""
        if not self._sizes:
            self._put("origin", np.empty(0, np.int64), 0)
        return Hint(self._folder / "origin.npy", tuple(self._sizes), self._claims)

    def _put(self, name: str, part: Any, rows: int) -> Path:
        """Append to a NumPy file that has so many rows; its header has room for any number of them."""
        path = self._folder / f"{name}.npy"
        try:
            with path.open("r+b" if rows else "wb") as file:
                header = {"descr": part.dtype.str, "fortran_order": False, "shape": (rows + len(part),)}
                np.lib.format.write_array_header_1_0(file, header)
                file.seek(0, os.SEEK_END)
                file.write(np.ascontiguousarray(part).tobytes())
        except OSError:
            raise OutputError("The private folder is full or cannot be written. Free space there.") from None
        return path


def input_file(table: Any, origin: Origin, folder: Path, name: str, reading: Mapping[str, Any]) -> InputFile:
    """The file that the user named, as the user says it is read and else as was announced; a frame is put down as one.

    A file of a database is asked again; what is read from a server, or converted by another package, lies where the
    reader says; what Spark has, Spark reads again.
    """
    coarsen = {column: rule for column, rule in (reading.get("coarsen") or {}).items() if rule != NONE}
    if origin.form == "Spark":
        return InputFile(Path(), origin.form, missing=origin.missing, coarsen=coarsen)
    if origin.form in _FRAMES:
        file = _put_down(table, folder / f"{name}.arrow")
        return InputFile(file, "arrow", missing=origin.missing, coarsen=coarsen)
    query = query_of(table)
    if query is not None and isinstance(query.address, DatabaseFile):
        database, missing = query.address, missing_markers(reading.get("missing"))
        sql = query.text if database.table is None else f"SELECT * FROM {database.table.sql}"
        return InputFile(database.path.resolve(), database.kind, missing=missing, coarsen=coarsen, query=sql)
    path = Path(table if query is None and is_known(Path(table)) else str(origin.path))
    delimiter = reading.get("delimiter") or origin.delimiter
    missing = missing_markers(reading.get("missing"))
    return InputFile(
        path=path.resolve(),
        kind=origin.form,
        delimiter=delimiter,
        encoding=origin.encoding,
        compression=origin.compression,
        missing=missing,
        header=reading.get("header") is not False and reading.get("names") is None,
        names=tuple(reading.get("names") or ()),
        decimal=reading.get("decimal") or origin.decimal,
        dates=reading.get("dates") or origin.dates,
        sheet=reading.get("sheet"),
        header_row=reading.get("header_row"),
        coarsen=coarsen,
    )


def _put_down(frame: Any, path: Path) -> Path:
    """A frame as an Arrow file, cell by cell as it is."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pl.DataFrame):
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    elif isinstance(frame, pa.Table):
        table = frame
    else:
        table = nw.from_native(frame.reset_index(drop=True), eager_only=True).to_arrow()
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return path
