"""One pass over a stream: its columns as codes in blocks on disk.

A first schema of a stream, from a sample of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice, ParameterError
from incrowd.tables.reading.draft import ColumnFacts, Shared, draft_schema, draft_type
from incrowd.tables.reading.encode import Settled, named_columns, settle
from incrowd.tables.reading.frames import plain_text
from incrowd.tables.reading.source import Source, marker_notice, present
from incrowd.tables.streams.body import scratch_changed, scratch_full
from incrowd.tables.streams.gathering import GatheredColumn, Gathering, PersonNumbers, RawCodes
from incrowd.tables.streams.stream import FRAME_ROWS, Stream
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, LazyColumns, OwnedTable, WholeColumn
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, Schema

_PLACES = 16  # stretches of the table that are looked at: a sorted table shows more than its first values


def draft_stream(stream: Stream, target: str | None = None, rows: int = 200_000) -> tuple[Schema, tuple[Notice, ...]]:
    """Draft type and role of every column from the first rows and from runs of rows at random places.

    A table of at most so many rows is looked at whole, and drafted as :func:`incrowd.tables.reading.draft.draft_schema`
    does. The types of encoded columns can be drafted again from all values: see ``drafted`` of
    :func:`incrowd.tables.streams.encode.encode_stream`. The places are the same each time.
    """
    if rows < _PLACES:
        raise ParameterError(f"A draft needs {_PLACES} rows or more, not {rows}. Choose a larger number.")
    whole = stream.rows <= rows
    sample = stream.part(0, stream.rows) if whole else _sample(stream, rows)
    sentence = f"Types and roles were drafted from {sample.height:,} of {stream.rows:,} rows."
    source = Source(sample, stream.origin, declared=stream.declared)
    return draft_schema(source, target=target), () if whole else (Notice("drafted-from-sample", "", sentence),)


def _sample(stream: Stream, rows: int) -> pl.DataFrame:
    """Half of the rows from the start, the others in equal runs, one from each stretch of what follows."""
    run = rows // (2 * _PLACES) or 1
    first = rows - run * _PLACES
    draw = np.random.default_rng(0)
    edges = np.linspace(first, stream.rows, _PLACES + 1).astype(np.int64)
    starts = [int(draw.integers(low, max(low, high - run) + 1)) for low, high in pairwise(edges)]
    return pl.concat([stream.part(0, first), *(stream.part(start, run) for start in starts)])


# How many different values columns have, counted over all rows of a stream, in bounded memory.
_BUCKET_ROWS = 1 << 21
_MARK = np.dtype([("first", np.uint64), ("second", np.uint64)])


def shared_values(stream: Stream, names: Sequence[str], scratch: Path) -> dict[str, Shared]:
    """For each column how many rows show a value, and how many different values they show.

    Values are told apart by marks of 128 bits, sorted in buckets on disk: two values have the same mark with a
    probability below one in 10^20 for a billion rows.
    """
    if not names:
        return {}
    count = 1 << max(0, stream.rows // _BUCKET_ROWS).bit_length()
    with TemporaryDirectory(dir=scratch) as folder:
        buckets = {name: [Path(folder, f"{i}-{place}") for place in range(count)] for i, name in enumerate(names)}
        rows = _spread(stream, names, buckets)
        return {name: Shared(rows[name], sum(map(_different, buckets[name]))) for name in names}


def _spread(stream: Stream, names: Sequence[str], buckets: dict[str, list[Path]]) -> dict[str, int]:
    """Write the marks of all values to the buckets; how many rows show a value."""
    rows = dict.fromkeys(names, 0)
    try:
        files: dict[str, list[IO[bytes]]] = {name: [path.open("wb") for path in buckets[name]] for name in names}
        for frame in stream.frames(columns=names):
            for name in names:
                marks = _marks(frame[name].drop_nulls())
                rows[name] += len(marks)
                place = (marks["first"] >> np.uint64(40)) & np.uint64(len(files[name]) - 1)
                order = np.argsort(place, kind="stable")
                ends = np.cumsum(np.bincount(place.astype(np.intp), minlength=len(files[name])))
                for file, part in zip(files[name], np.split(marks[order], ends[:-1]), strict=True):
                    file.write(part.tobytes())
        for opened in files.values():
            for file in opened:
                file.close()
    except OSError:
        raise scratch_full() from None
    return rows


def _marks(values: pl.Series) -> npt.NDArray[np.void]:
    marks = np.empty(len(values), _MARK)
    marks["first"], marks["second"] = values.hash(1).to_numpy(), values.hash(2).to_numpy()
    return marks


def _different(path: Path) -> int:
    """Different marks in a bucket."""
    marks = np.fromfile(path, _MARK)
    order = np.lexsort((marks["second"], marks["first"]))
    marks = marks[order]
    return int(len(marks) > 0) + int(np.count_nonzero(marks[1:] != marks[:-1]))


_OWNER, _KEPT = "\x1fowner", "\x1fkept"  # begin with a letter that names do not have


# An encoded table in blocks on disk, all of which share their dictionaries.
@dataclass(frozen=True)
class Stored:
    """Raw codes of one column in the file of a block: where they are, and their type."""

    offset: int
    type: str


@dataclass(frozen=True)
class BlockFile:
    """The file of one block: its rows and where its columns are."""

    path: Path
    rows: int
    columns: Mapping[str, Stored]

    @classmethod
    def write(cls, path: Path, codes: Mapping[str, RawCodes]) -> BlockFile:
        """Write the raw codes of one block, each column in the smallest type that holds it."""
        columns, offset = {}, 0
        try:
            with path.open("xb") as file:
                for name, column in codes.items():
                    small = column.astype(np.min_scalar_type(int(column.max(initial=0))), copy=False)
                    columns[name] = Stored(offset, small.dtype.str)
                    offset += file.write(np.ascontiguousarray(small).data)
        except OSError:
            raise scratch_full() from None
        return cls(path, len(next(iter(codes.values()))) if codes else 0, columns)

    def read(self, name: str) -> npt.NDArray[np.unsignedinteger]:
        """The raw codes of one column."""
        stored = self.columns[name]
        try:
            codes = np.fromfile(self.path, stored.type, self.rows, offset=stored.offset)
        except OSError:
            raise scratch_changed() from None
        if len(codes) != self.rows:
            raise scratch_changed()
        return codes


@dataclass(frozen=True, eq=False)
class Blocks:
    """An encoded table in blocks of rows, each of a stretch of the input; rows without a person may be left out."""

    columns: Mapping[str, WholeColumn]  # type, dictionary and counts of each column over all blocks
    rows: tuple[int, ...]  # rows of each block
    schema: Schema  # the schema the columns were encoded by, types settled on all values
    notices: tuple[Notice, ...]  # what was unified or looks odd, as the encoding of a small table tells
    markers: tuple[Notice, ...]  # markers of missing values in these columns, as the reader of small files tells
    _files: Sequence[BlockFile] = field(repr=False)
    _places: Mapping[str, Codes] = field(repr=False)
    owned: bool = False  # whether a person may have several rows
    stretch: int = 0  # rows of the input that a block was made of; the last perhaps of fewer

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def height(self) -> int:
        """Number of rows of all blocks together."""
        return sum(self.rows)

    def block(self, place: int, names: Sequence[str] | None = None) -> EncodedTable:
        """One block as an encoded table; all its columns, or the named ones, each read when it is first asked for."""
        file = self._files[place]
        chosen = self.columns if names is None else names
        columns = LazyColumns({name: partial(self._column, file, name) for name in chosen})
        return OwnedTable(columns, file.rows, self.owners(place)) if self.owned else EncodedTable(columns, file.rows)

    def owners(self, place: int) -> Codes:
        """The person of each row of a block."""
        return self._files[place].read(_OWNER).astype(np.int32)

    def kept(self, place: int) -> npt.NDArray[np.intp] | None:
        """Which rows of its stretch of the input a block has; None for all."""
        file = self._files[place]
        return file.read(_KEPT).astype(np.intp) if _KEPT in file.columns else None

    def __iter__(self) -> Iterator[EncodedTable]:
        return (self.block(place) for place in range(len(self)))

    def _column(self, file: BlockFile, name: str) -> EncodedColumn:
        column = self.columns[name]
        return EncodedColumn(name, column.type, np.take(self._places[name], file.read(name)), column.dictionary)


MOST_VALUES = 5_000_000
"""Most distinct values of a column."""
_FOR_VALUES = 0.25  # of the memory for rows

Progress = Callable[[int, int], None]
"""Told after each block: rows done, and rows in all."""


def encode_stream(
    stream: Stream,
    schema: Schema,
    names: Sequence[str],
    folder: Path,
    *,
    threads: int,
    progress: Progress | None = None,
    limit: int = MOST_VALUES,
    rows: int = FRAME_ROWS,
    drafted: Collection[str] = (),
    resources: Resources | None = None,
    persons: PersonNumbers | None = None,
) -> Blocks:
    """Encode the named columns as the schema types them, one block of rows after the other.

    Dictionaries, codes and notices are those of :func:`incrowd.tables.reading.encode.encode` for the same table. The
    codes go to a private ``folder``, which must outlive the blocks and is not removed here; ``progress`` is called with
    the rows done and the rows in all. A column of more than ``limit`` distinct values is refused, for memory would not
    be bounded; so is a table whose distinct values, which are held whole, take more than a quarter of the memory of
    ``resources``. The type of a ``drafted`` column comes from a sample: it is drafted again from all values. With
    ``persons`` each row gets the number of its person.
    """
    if threads < 1:
        raise ParameterError(f"threads must be at least 1, not {threads}.")
    columns = named_columns(schema, stream.columns, names)
    gathering = {name: Gathering(columns[name], stream.schema[name], limit) for name in names}
    files: list[BlockFile] = []
    done = 0
    with ThreadPoolExecutor(threads) as beside:
        for frame, owned in _with_owners(stream, rows, list(gathering), persons):
            coded = beside.map(Gathering.add, gathering.values(), frame.iter_columns())
            codes = dict(zip(gathering, coded, strict=True)) | owned
            files.append(BlockFile.write(folder / f"block-{len(files):06d}", codes))
            done = min(done + rows, stream.rows)
            if resources is not None:
                held = [*gathering.values(), *((persons,) if persons else ())]
                _check_values(held, resources, done / stream.rows)
            if progress is not None:
                progress(done, stream.rows)
        gathered = {name: column.finish(stream.origin.missing) for name, column in gathering.items()}
        typed = {
            name: _typed(stream, columns[name], gathered[name]) if name in drafted else columns[name]
            for name in gathered
        }
        settled = list(
            beside.map(lambda name: settle(gathered[name].tally, typed[name], stream.origin.missing), gathered)
        )
    pairs = dict(zip(gathered, settled, strict=True))
    return Blocks(
        columns={name: _whole(name, column) for name, column in pairs.items()},
        rows=tuple(file.rows for file in files),
        schema=Schema(tuple(typed.get(column.name, column) for column in schema.columns)),
        notices=(*(notice for column in settled for notice in column.notices), *(persons.finish() if persons else ())),
        markers=tuple(_markers(stream.origin.missing, gathered)),
        _files=files,
        _places={name: gathered[name].places(column) for name, column in pairs.items()},
        owned=persons is not None,
        stretch=rows,
    )


def _with_owners(
    stream: Stream, rows: int, names: Sequence[str], persons: PersonNumbers | None
) -> Iterator[tuple[pl.DataFrame, dict[str, RawCodes]]]:
    """The frames of a stream, and beside each whose rows they are; rows that are nobody's may be left out."""
    if persons is None:
        yield from ((frame, {}) for frame in stream.raw_frames(rows, names))
        return
    for frame in stream.raw_frames(rows, [*names, persons.name]):
        owners = persons.add(stream.unmarked(plain_text(frame.select(persons.name))).to_series())
        kept = np.flatnonzero(owners)
        if persons.persons.missing == "drop" and len(kept) < frame.height:
            yield frame.select(names)[kept], {_OWNER: owners[kept], _KEPT: kept.astype(np.uint32)}
        else:
            yield frame.select(names), {_OWNER: owners}


def _check_values(gathering: Collection[Gathering | PersonNumbers], resources: Resources, share: float) -> None:
    """Refuse distinct values that do not fit; the ``share`` of the rows that was read tells what all rows may need."""
    held = sum(column.bytes for column in gathering)
    room = resources.share(_FOR_VALUES)
    if room is not None and held > room:
        largest = max(gathering, key=lambda column: column.bytes)
        resources.check_fits(int(held / share), _FOR_VALUES, f"Column {largest.name!r}, with its many distinct values,")


def _whole(name: str, settled: Settled) -> WholeColumn:
    return WholeColumn(name, settled.type, np.empty(0, np.int32), settled.dictionary, total=settled.counts)


def _typed(stream: Stream, column: Column, gathered: GatheredColumn) -> Column:
    """The column with the type that all its values suggest; what the file declares stays."""
    if any(column.name == declared.name for declared in stream.declared):
        return column
    return typed_column(column, gathered, stream.schema[column.name])


def typed_column(column: Column, gathered: GatheredColumn, native: pl.DataType) -> Column:
    """A column that was drafted from a sample, with the type that all its values suggest."""
    values, rows = present(gathered.tally.values), int(gathered.tally.counts.sum())
    nothing = int(gathered.tally.counts[-1])
    if gathered.tally.values.dtype.is_float():
        nothing += gathered.tally.rows(gathered.tally.values.is_nan())
    fact = ColumnFacts(column.name, rows, rows - nothing, len(values))
    if values.dtype != native:  # the type alone tells, but whether exact numbers have fractions or are too large
        exact = native.is_decimal() or native.is_integer()
        values = values.cast(native) if exact else pl.Series([], dtype=native)
    drafted = draft_type(values, fact)
    if drafted.type is column.type:
        return column
    role = column.reason.rpartition("; ")[2]
    return replace(column, type=drafted.type, order=(), reason=f"{drafted.reason}; {role}" if role else drafted.reason)


def _markers(markers: Sequence[str], columns: Mapping[str, GatheredColumn]) -> Iterator[Notice]:
    text = {name: column.marked for name, column in columns.items() if column.marked}
    for place, marker in enumerate(markers):
        yield from marker_notice(marker, {name: marked[place] for name, marked in text.items()})
