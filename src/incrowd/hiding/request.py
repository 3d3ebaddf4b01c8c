"""What is asked for: cells to be hidden, of what, how, to where; and the table they are in, read and encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import HeaderError, Notice, ParameterError
from incrowd.hiding.adversaries import Adversary, SklearnAdversary, adversary_named
from incrowd.hiding.methods import Generic, Options, method_named
from incrowd.rows.blocks.held import block_rows
from incrowd.rows.one_machine import in_blocks
from incrowd.tables.publishing.staging import check_targets
from incrowd.tables.reading.draft import Shared, draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Origin
from incrowd.tables.recipe import Recipe
from incrowd.tables.streams.body import scratch_full
from incrowd.tables.streams.encode import Blocks, draft_stream, encode_stream, shared_values
from incrowd.tables.streams.stream import Stream, open_stream
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, LazyColumns, WholeColumn
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.resources import Clock, Resources
from incrowd.vocabulary.schema import NOT_RELEASED, STATED, Column, ColumnType, Role, Schema, unknown_column

AUTO = "auto"
SCRATCH = "scratch"
MOST_ROWS = 200_000
"""Rows that an adversary of scikit-learn is trained on, of a table larger than memory."""
MOST_VALUES = 1000
"""Of a column whose costs are measured."""
_FEW_VALUES = 20  # a column of so few tells no rows apart, and its numbers are as good as categories
_SAMPLE = 200_000  # rows from which it is guessed whether a column tells rows apart
_OFTEN_NEW = 4  # a column is counted beforehand if one row of so many has a value of its own in the sample
_SHOWN = pl.Series(["a value"])
_AS_IT_IS = (ColumnType.BOOLEAN, ColumnType.CATEGORICAL, ColumnType.ORDERED)


@dataclass(frozen=True, eq=False)
class HidingRequest:
    """Cells to be hidden: of what, how, to where. Rows of cells are counted from ``first_row``."""

    table: Any
    cells: tuple[tuple[int, str], ...]
    method: str = AUTO
    adversaries: tuple[str, ...] = ("nb", "id3")
    options: Options = field(default_factory=Options)
    recipe: Recipe = field(default_factory=Recipe)
    predictors: tuple[str, ...] = ()
    to: Path | None = None
    report: Path | None = None
    first_row: int = 0
    strict: bool = False
    attack: bool = False
    replace: bool = False
    randomness: Randomness | None = None
    clock: Clock = field(default_factory=Clock)
    memory: int | None = None

    @property
    def path(self) -> Path | None:
        """The input file, if it is one."""
        return Path(self.table) if isinstance(self.table, str | Path) else None

    @property
    def hider(self) -> str:
        """The name of the method; the generic one where none is chosen."""
        return Generic.name if self.method == AUTO else self.method

    @property
    def form(self) -> FileForm:
        """How the table is written; one for this process goes through Parquet."""
        return FileForm.of(self.to) if self.to else FileForm("parquet")

    def judges(self, *, large: bool = False) -> tuple[Adversary, ...]:
        """Who checks the result; of a table larger than memory, some learn from a sample."""
        if not self.adversaries:
            raise ParameterError("Name at least one adversary, for instance nb and id3: nobody would check the result.")
        if len(set(self.adversaries)) < len(self.adversaries):
            raise ParameterError("An adversary is named more than once. Name each once.")
        named = (adversary_named(name) for name in self.adversaries)
        return tuple(replace(a, most_rows=MOST_ROWS) if large and isinstance(a, SklearnAdversary) else a for a in named)

    def check(self) -> None:
        """Refuse what cannot be done before any work is done."""
        method_named(self.hider, self.judges())
        if not self.cells:
            raise ParameterError("No cell is named. Name at least one: its row and its column.")
        check_targets("Table and report", (self.to, self.report), (self.path,), replace=self.replace)
        _ = self.form


@dataclass(frozen=True, eq=False)
class HidingInput:
    """The input, read and encoded: in memory, or in files of a scratch folder where it is larger than that.

    ``frames`` gives all rows, in one frame or several, always in the same order.
    """

    request: HidingRequest
    origin: Origin
    frames: Callable[[], Iterator[pl.DataFrame]]
    drafted: Schema
    schema: Schema  # of the published table
    table: EncodedTable
    counts: Mapping[str, Shared]  # of each column the rows that show a value, and the values
    remarks: tuple[Notice, ...]  # of whoever read and encoded it
    resources: Resources  # what the run may use

    @property
    def large(self) -> bool:
        """Whether the table is larger than memory."""
        return self.resources.scratch is not None

    @cached_property
    def predictors(self) -> tuple[str, ...]:
        """The columns adversaries reckon with."""
        apart = {name for name, counts in self.counts.items() if tells_rows_apart(counts)}
        return self.request.predictors or tuple(name for name in self.schema.names if name not in apart)

    @property
    def notices(self) -> Iterator[Notice]:
        """What the user should know about the columns."""
        yield from self.remarks
        drafted = self.drafted.columns
        wide = [c.name for c in drafted if c.type.is_numeric and self.counts[c.name].values > _FEW_VALUES]
        if wide:
            message = "nb and id3 take each number for a category of its own. Bin them first for a sharper check."
            yield Notice("numbers-as-categories", ", ".join(wide), message)
        for column in drafted:
            name = column.name
            if column.role in NOT_RELEASED:
                code, looks = "identifier", "it looks like an identifier"
                if column.reason == STATED:
                    code, looks = "left-out-elsewhere", "your recipe leaves it out"
                message = f"published as it is, although {looks} ({column.reason}). Hiding leaves no column out."
                yield Notice(code, name, message)
            elif not self.request.predictors and name not in self.predictors:
                message = (
                    "adversaries do not reckon with it: nearly every row has its own value. Bin it if it is a number."
                )
                yield Notice("not-a-predictor", name, message)
            if column.hierarchy is not None and self.schema[name].hierarchy is None:
                message = f"its hierarchy is not used: {self.request.hider} does not generalize."
                yield Notice("hierarchy-not-used", name, message)


def tells_rows_apart(column: Shared) -> bool:
    """Whether (nearly) every row has a value of its own, so that little can be learnt from the column."""
    if column.rows <= 1:
        return False
    return column.values == column.rows or (column.values > _FEW_VALUES and 2 * column.values > column.rows)


def read_input(request: HidingRequest, folder: Path) -> HidingInput:
    """The table as integer codes, in memory or in a scratch folder, and what was named found in it."""
    if request.path is not None and in_blocks(request.path, request.form, request.memory):
        return _read_large(request, request.path, folder)
    with request.clock("reading"):
        source = read(request.table, **request.recipe.reading)
        _check_cells(request, source.frame.columns, source.frame.height)
    with request.clock("encoding"):
        drafted = request.recipe.schema(draft_schema(source))
        schema = _published(drafted, request)
        table, notices = encode(source, schema, schema.names)
        _check_values(request, table)
    return HidingInput(
        request=request,
        origin=source.origin,
        frames=lambda: iter((source.frame,)),
        drafted=drafted,
        schema=schema.with_types(table.columns),
        table=table,
        counts=_counted(table.columns),
        remarks=(*source.notices, *notices),
        resources=Resources(request.memory),
    )


def _read_large(request: HidingRequest, path: Path, folder: Path) -> HidingInput:
    """The same in blocks; columns that tell many rows apart are not encoded where nobody asks for their values."""
    scratch = folder / SCRATCH
    resources = Resources(request.memory, scratch=scratch)
    (scratch / "codes").mkdir(mode=0o700, parents=True)
    scratch.chmod(0o700)
    with request.clock("reading"):
        stream = open_stream(path, **request.recipe.reading, scratch=scratch)
        _check_cells(request, stream.columns, stream.rows)
    with request.clock("encoding"):
        draft, sampled = draft_stream(stream)
        drafted = request.recipe.schema(draft)
        schema = _published(drafted, request)
        shared = shared_values(stream, _often_new(request, stream, schema), scratch)
        beside = {name: c for name, c in shared.items() if tells_rows_apart(c) and c.values > MOST_VALUES}
        at_once = block_rows(resources, len(stream.columns))
        blocks = encode_stream(
            stream,
            schema,
            [name for name in schema.names if name not in beside],
            scratch / "codes",
            threads=resources.threads,
            progress=lambda done, rows: request.clock.rows("encoding", done, rows),
            rows=at_once,
            drafted=_may_change(request, schema),
        )
        columns = {  # laid into files of the scratch folder when they are first asked for
            name: partial(lay_column, stream, blocks, beside.get(name), scratch / f"column-{place:05d}", name)
            for place, name in enumerate(schema.names)
        }
        table = EncodedTable(LazyColumns(columns), stream.rows)
        _check_values(request, table)
    return HidingInput(
        request=request,
        origin=stream.origin,
        frames=lambda: stream.frames(at_once),
        drafted=drafted,
        schema=schema.with_types(blocks.columns),
        table=table,
        counts=_counted(blocks.columns) | beside,
        remarks=(*stream.notices, *blocks.markers, *sampled, *blocks.notices),
        resources=resources,
    )


def lay_column(stream: Stream, blocks: Blocks, shared: Shared | None, path: Path, name: str) -> WholeColumn:
    """A column whose codes are in a file; of one that is not encoded (``shared``), whether it shows a value."""
    if shared is not None:
        counts = np.array([shared.rows, stream.rows - shared.rows])
        nulls = (frame[name].is_null().to_numpy() for frame in stream.frames(columns=[name]))
        return WholeColumn(name, ColumnType.CATEGORICAL, _laid(path, nulls, 1, stream.rows), _SHOWN, total=counts)
    column = blocks.columns[name]
    pieces = (blocks.block(block, [name])[name].codes for block in range(len(blocks)))
    codes = _laid(path, pieces, len(column.dictionary), stream.rows)
    return WholeColumn(name, column.type, codes, column.dictionary, total=column.counts)


def _laid(path: Path, pieces: Iterable[npt.NDArray[np.generic]], largest: int, rows: int) -> npt.NDArray[np.int32]:
    """Codes in a file, in the smallest type that holds them."""
    kind = np.min_scalar_type(largest)
    try:
        with path.open("xb") as file:
            for piece in pieces:
                file.write(np.ascontiguousarray(piece.astype(kind)).data)
    except OSError:
        raise scratch_full() from None
    mapped: npt.NDArray[np.int32] = np.memmap(path, kind, "r", shape=rows)
    return mapped


def _counted(columns: Mapping[str, EncodedColumn]) -> dict[str, Shared]:
    """Of each column the rows that show a value, and the values."""
    return {name: Shared(int(c.counts[:-1].sum()), len(c.dictionary)) for name, c in columns.items()}


def _often_new(request: HidingRequest, stream: Stream, schema: Schema) -> list[str]:
    """Columns that seem to tell rows apart, and whose values nobody needs."""
    sample = stream.part(0, min(stream.rows, _SAMPLE))
    needed = {*(name for _, name in request.cells), *request.predictors}
    needed |= {column.name for column in schema.columns if column.hierarchy is not None}
    return [
        name
        for name in schema.names
        if name not in needed and _OFTEN_NEW * sample[name].drop_nulls().n_unique() > sample.height
    ]


def _may_change(request: HidingRequest, schema: Schema) -> set[str]:
    """Columns whose type was drafted from a sample, and may be another one on all rows."""
    stated = {name for name, column in request.recipe.columns.items() if "type" in column}
    return {column.name for column in schema.columns if column.type not in _AS_IT_IS} - stated


def _check_cells(request: HidingRequest, columns: Sequence[str], height: int) -> None:
    """Every cell must be there."""
    last = height - 1 + request.first_row
    for row, name in request.cells:
        if name not in columns:
            raise HeaderError(unknown_column(name, columns))
        if isinstance(row, bool) or not isinstance(row, int):
            raise ParameterError("A row is a whole number. Name a cell as a pair such as (17, 'diagnosis').")
        if not request.first_row <= row <= last:
            raise ParameterError(f"There is no row {row}: rows are counted from {request.first_row} to {last}.")


def _check_values(request: HidingRequest, table: EncodedTable) -> None:
    """Every cell must show something."""
    for row, name in request.cells:
        if table[name].codes[row - request.first_row] == table[name].missing_code:
            raise ParameterError(f"Row {row} shows nothing in column {name!r} already. Leave this cell out.")


def _published(drafted: Schema, request: HidingRequest) -> Schema:
    """The columns of the published table; truth values stay as they are written."""
    generalizes = "-g" in request.hider

    def as_other(column: Column) -> Column:
        kind = ColumnType.CATEGORICAL if column.type is ColumnType.BOOLEAN else column.type
        return replace(column, role=Role.OTHER, type=kind, hierarchy=column.hierarchy if generalizes else None)

    return Schema(tuple(map(as_other, drafted.columns)))
