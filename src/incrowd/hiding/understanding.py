"""From what was given to codes: the table, its columns, and the cells that were named found in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from incrowd.errors import HeaderError, Notice, ParameterError
from incrowd.hiding.account import MOST_VALUES, doubts_about, tells_rows_apart
from incrowd.hiding.flat_table import FlatTable
from incrowd.hiding.job import HidingJob
from incrowd.hiding.rows import Rows, StreamedRows, WholeRows
from incrowd.holding.blocks import block_rows
from incrowd.holding.choice import in_blocks
from incrowd.reading.draft import draft_schema
from incrowd.reading.encode import encode
from incrowd.reading.read import read
from incrowd.reading.streams.draft import draft_stream
from incrowd.reading.streams.encode import encode_stream
from incrowd.reading.streams.repeats import Shared, shared_values
from incrowd.reading.streams.stream import Stream, open_stream
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column

SCRATCH = "scratch"
_SAMPLE = 200_000
_OFTEN_NEW = 4  # a column is counted beforehand if one row of so many has a value of its own in the sample
_AS_IT_IS = (ColumnType.BOOLEAN, ColumnType.CATEGORICAL, ColumnType.ORDERED)


@dataclass(frozen=True, eq=False)
class Understood:
    """The input, read and encoded.

    Parameters
    ----------
    rows, schema, table
        The table as it was given, its columns, and as codes.
    values
        How many different values each column has.
    predictors
        The columns adversaries reckon with.
    notices
        What should be known.
    resources
        What the run may use.
    """

    rows: Rows
    schema: Schema
    table: EncodedTable
    values: Mapping[str, int]
    predictors: tuple[str, ...]
    notices: tuple[Notice, ...]
    resources: Resources


def understand(job: HidingJob, folder: Path) -> Understood:
    """The table as integer codes, in memory or in a scratch folder, and what was named found in it."""
    if job.path is not None and in_blocks(job.path, job.form, job.memory):
        return _understand_large(job, job.path, folder)
    with job.clock("reading"):
        source = read(job.given, **job.recipe.reading)
        _check_cells(job, source.frame.columns, source.frame.height)
    with job.clock("encoding"):
        drafted = job.recipe.schema(draft_schema(source))
        schema = _published(drafted, job)
        table, notices = encode(source, schema, schema.names)
        _check_values(job, table)
    found = Found(drafted, _typed(schema, table.columns), table, _counted(table.columns))
    return _settled(job, WholeRows(source), found, (*source.notices, *notices), Resources(job.memory))


def _understand_large(job: HidingJob, path: Path, folder: Path) -> Understood:
    """The same in blocks; columns that tell many rows apart are not encoded where nobody asks for their values."""
    scratch = folder / SCRATCH
    resources = Resources(job.memory, scratch=scratch)
    (scratch / "codes").mkdir(mode=0o700, parents=True)
    scratch.chmod(0o700)
    with job.clock("reading"):
        stream = open_stream(path, **job.recipe.reading, scratch=scratch)
        _check_cells(job, stream.columns, stream.rows)
    with job.clock("encoding"):
        draft, sampled = draft_stream(stream)
        drafted = job.recipe.schema(draft)
        schema = _published(drafted, job)
        shared = shared_values(stream, _often_new(job, stream, schema), scratch)
        beside = {name: c for name, c in shared.items() if tells_rows_apart(c) and c.values > MOST_VALUES}
        at_once = block_rows(resources, len(stream.columns))
        blocks = encode_stream(
            stream,
            schema,
            [name for name in schema.names if name not in beside],
            scratch / "codes",
            threads=resources.threads,
            progress=lambda done, rows: job.clock.rows("encoding", done, rows),
            rows=at_once,
            drafted=_may_change(job, schema),
        )
        table = FlatTable(stream, blocks, beside, scratch).table(schema.names)
        _check_values(job, table)
    found = Found(drafted, _typed(schema, blocks.columns), table, _counted(blocks.columns) | beside)
    told = (*stream.notices, *blocks.markers, *sampled, *blocks.notices)
    return _settled(job, StreamedRows(stream, at_once), found, told, resources)


@dataclass(frozen=True, eq=False)
class Found:
    """The columns: as they were drafted, as they are published, their codes, and how many values they have."""

    drafted: Schema
    schema: Schema
    table: EncodedTable
    counts: Mapping[str, Shared]


def _settled(job: HidingJob, rows: Rows, found: Found, told: tuple[Notice, ...], resources: Resources) -> Understood:
    """With the predictors, and what should be known about the columns."""
    apart = {name for name, counts in found.counts.items() if tells_rows_apart(counts)}
    predictors = job.predictors or tuple(name for name in found.schema.names if name not in apart)
    values = {name: found.counts[name].values for name in found.schema.names}
    doubts = doubts_about(found.drafted, found.schema, values, () if job.predictors else predictors, job.hider)
    return Understood(rows, found.schema, found.table, values, predictors, (*told, *doubts), resources)


def _typed(schema: Schema, columns: Mapping[str, EncodedColumn]) -> Schema:
    """The schema with the types that columns have on all rows."""
    return Schema(tuple(replace(c, type=columns[c.name].type) if c.name in columns else c for c in schema.columns))


def _counted(columns: Mapping[str, EncodedColumn]) -> dict[str, Shared]:
    """Of each column the rows that show a value, and the values."""
    return {name: Shared(int(c.counts[:-1].sum()), len(c.dictionary)) for name, c in columns.items()}


def _often_new(job: HidingJob, stream: Stream, schema: Schema) -> list[str]:
    """Columns that seem to tell rows apart, and whose values nobody has asked for."""
    sample = stream.part(0, min(stream.rows, _SAMPLE))
    asked = {*(name for _, name in job.cells), *job.predictors}
    asked |= {column.name for column in schema.columns if column.hierarchy is not None}
    return [
        name
        for name in schema.names
        if name not in asked and _OFTEN_NEW * sample[name].drop_nulls().n_unique() > sample.height
    ]


def _may_change(job: HidingJob, schema: Schema) -> set[str]:
    """Columns whose type was drafted from a sample, and may be another one on all rows."""
    said = {name for name, column in job.recipe.columns.items() if "type" in column}
    return {column.name for column in schema.columns if column.type not in _AS_IT_IS} - said


def _check_cells(job: HidingJob, columns: Sequence[str], height: int) -> None:
    """Every cell must be there."""
    last = height - 1 + job.first_row
    for row, name in job.cells:
        if name not in columns:
            raise HeaderError(unknown_column(name, columns))
        if isinstance(row, bool) or not isinstance(row, int):
            raise ParameterError("A row is a whole number. Name a cell as a pair such as (17, 'diagnosis').")
        if not job.first_row <= row <= last:
            raise ParameterError(f"There is no row {row}: rows are counted from {job.first_row} to {last}.")


def _check_values(job: HidingJob, table: EncodedTable) -> None:
    """Every cell must show something."""
    for row, name in job.cells:
        if table[name].codes[row - job.first_row] == table[name].missing_code:
            raise ParameterError(f"Row {row} shows nothing in column {name!r} already. Leave this cell out.")


def _published(drafted: Schema, job: HidingJob) -> Schema:
    """The columns of the published table; truth values stay as they are written."""
    generalizes = "-g" in job.hider
    return Schema(tuple(_as_other(column, generalizes) for column in drafted.columns))


def _as_other(column: Column, generalizes: bool) -> Column:
    kind = ColumnType.CATEGORICAL if column.type is ColumnType.BOOLEAN else column.type
    return replace(column, role=Role.OTHER, type=kind, hierarchy=column.hierarchy if generalizes else None)
