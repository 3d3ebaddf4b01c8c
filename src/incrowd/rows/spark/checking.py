"""The verdict on a written release, counted where its files and the rows it came from are. Only counts come back.

Classes are counted by Spark SQL from the files. Cells are compared piece by piece: the file of a piece, read back from
its bytes, with what the program says the input held; that this is the input is shown by a salted sum over all rows.
"""

from __future__ import annotations

import pickle
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import OutputError
from incrowd.rows.blocks.drafting import PERSON
from incrowd.rows.spark.bin_checking import people_of_bins
from incrowd.rows.spark.blocks import SparkBlocks
from incrowd.rows.spark.drafting import BLOCK, KEY, Mixing, Pieces, left_out
from incrowd.rows.spark.promise_checking import class_sizes, counted_values, further_checks, owned_rows
from incrowd.rows.spark.session import (
    EXACT,
    ONE_BLOCK_AT_A_TIME,
    errors_translated,
    mapped,
    quiet,
    set_for_a_while,
    unwarned,
)
from incrowd.rows.spark.store import Listed
from incrowd.rows.spark.table import SparkTable
from incrowd.rows.spark.writing import listed_files
from incrowd.verification.beside import MOST_CELLS, unchanged_counts
from incrowd.verification.class_sizes import k_check, sizes_of
from incrowd.verification.comparison import PieceFindings
from incrowd.verification.faithfulness import added_pieces, cells_check, compare_piece
from incrowd.verification.forbidden_cells import EVERYBODY, PRESET, rare_cells, rare_values_check, safe_harbor_check
from incrowd.verification.input_table import ColumnOrigin
from incrowd.verification.judge import classes_of_rows, expected_columns, expected_of, names_shown, people_of
from incrowd.verification.limits import cells_beyond, limit_checks
from incrowd.verification.meaning import CellMeaning, decided
from incrowd.verification.opening import connect, register
from incrowd.verification.order import class_order_check, hidden_order_check, row_order_check, window
from incrowd.verification.person_keys import Fingerprint, InputReader, PersonKeys, fingerprint, owners_by_keys
from incrowd.verification.request import Expected, Original, Request
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.column_rules import NONE, YEAR, ZIP3, Coarsening
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.resources import Resources

Compare = Callable[[Any, Original], Any]
"""Given a PyArrow table that was read back and what the input held, what was found; must be small."""

Reader = Callable[[Iterable[Any]], Any]
"""Given batches of rows, what is to be known of them; must be small."""

_PART = r"part-(\d+)-"
_KINDS: dict[type[pl.DataType], str] = {
    pl.String: "VARCHAR",
    pl.Boolean: "BOOLEAN",
    pl.Int8: "TINYINT",
    pl.Int16: "SMALLINT",
    pl.Int32: "INTEGER",
    pl.Int64: "BIGINT",
    pl.Float32: "FLOAT",
    pl.Float64: "DOUBLE",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP",
    pl.Decimal: "DECIMAL",
}
"""What DuckDB calls the types of Spark's columns."""
_COARSE = {YEAR: "BIGINT", ZIP3: "VARCHAR"}  # the types that rules make of them


def checked(request: Request, table: SparkTable, pieces: Pieces, folder: str) -> Verdict:
    """The verdict on the files in a folder, given the input and the rows that the release was made of."""
    blocks, dropped = pieces.drafting.population.blocks, pieces.drafting.plan.rows_dropped
    assert isinstance(blocks, SparkBlocks)
    assert blocks.store is not None
    session, input_rows, salt = table.session, pieces.drafting.population.rows, secrets.randbits(62)
    columns = written_columns(session, folder)
    sources = expected_columns(request, columns)
    expected = expected_of(request, sources, people_of(request, sources, Resources()), input_rows)
    rows, different = rows_used(pieces, blocks.listed)
    held = [*sources, *_persons(request)]
    meanings = _meanings(request, table, blocks, held)
    everybody: Mapping[str, Any] = {}
    if request.rarest:
        counts = counted_values(table, sources, meanings, request.input)
        everybody = {f"{EVERYBODY}_{at}": values for at, values in counts.items()}
    comparing = partial(_compare, request, sources, replace(expected, people=None), salt, everybody)
    files, findings = compared(pieces, folder, comparing)
    dropped_owner = PERSON if request.persons is not None and request.persons.missing == "drop" else None
    file = request.input
    reader = InputReader(held, meanings, salt, dropped_owner, coarsen=file.coarsen, missing=file.missing)
    read = summed_up(table, [one.column.name for one in held], reader)
    sizes, counted = _promises(request, table, pieces, folder, expected, meanings)
    without = 0 if sizes.persons is None else sizes.persons.without
    lost = left_out(blocks.store, pieces.drafting, partial(_fingerprint, salt)) if dropped else ()
    same = sum((*(one.marks for one in findings), *lost), Fingerprint()) == sum(read, Fingerprint())
    input_rows += without
    gone = input_rows - rows
    whole = rows == different == sizes.rows and 0 <= gone - without <= expected.may_lose
    cells = added_pieces((one.cells for one in findings), expected)
    quasi, drawn = expected.quasi_identifiers, expected.drawn is not None
    checks = [
        Check("columns", columns == list(expected.columns), f"{len(columns)} columns, as requested"),
        *counted,
        *further_checks(session, folder, expected),
        Check("rows", whole, f"{rows:,} released, {gone:,} left out"),
        Check("input", same, "the rows that were compared are those of the input" if same else "other rows"),
        Check("left out", gone - without == request.left_out, f"{gone:,} rows"),
        *(cells_check(name, cells.wrong[name], name in quasi, drawn=drawn) for name in expected.columns),
        _of_all(files),
        *(_of_all(each) for each in zip(*(one.checks for one in findings), strict=True)),
    ]
    if request.rarest:
        checks.append(rare_values_check(sum((Counter(one.rare) for one in findings), Counter()), request.rarest))
    if request.counted:
        keys = None if request.persons is None else PersonKeys(request.persons, secrets.token_bytes(32))
        checks.append(people_of_bins(table, folder, expected, reader, keys, request.requirement.smallest_group))
    checks += limit_checks(request, _of_all_pieces([one.beyond for one in findings]))
    undone = None
    if rows * len(columns) <= MOST_CELLS:
        undone = looked_at_together(pieces, folder, partial(_unchanged, request, expected, sources))
    return Verdict(sizes, tuple(checks), input_rows, cells.shown, unchanged=undone)


def _promises(
    request: Request,
    table: SparkTable,
    pieces: Pieces,
    folder: str,
    expected: Expected,
    meanings: Mapping[str, CellMeaning],
) -> tuple[ClassSizes, list[Check]]:
    """The classes that are nearest to breaking their promise, and a check for each, of rows or of persons."""
    for owner in _persons(request):
        assert request.persons is not None
        numeric = [one.name for one in request.columns if one.type.is_numeric]
        shown = [name for name in expected.quasi_identifiers if name in numeric and name not in expected.counts]
        with owned_rows(
            pieces,
            folder,
            table,
            owner,
            meanings[owner.name],
            request.persons,
            quasi=expected.quasi_identifiers,
            numbers=shown,
        ) as owned:
            return owned.checks(expected.promises, expected.shared_means)
    sizes = [sizes_of(class_sizes(table.session, folder, names)) for _, names, _ in expected.promises]
    nearest = min(zip(sizes, expected.promises, strict=True), key=lambda one: one[0].smallest / one[1][2])[0]
    return nearest, [k_check(one, name, k) for one, (name, _, k) in zip(sizes, expected.promises, strict=True)]


def _persons(request: Request) -> tuple[ColumnOrigin, ...]:
    """The column that says whose rows they are, if there is one, under the name it has beside what is compared."""
    if request.persons is None:
        return ()
    return tuple(ColumnOrigin(PERSON, column) for column in request.columns if column.name == request.persons.column)


def _meanings(
    request: Request, table: SparkTable, blocks: SparkBlocks, sources: Sequence[ColumnOrigin]
) -> dict[str, CellMeaning]:
    """How the cells of each column are read; what all of them decide together is decided on their values."""
    meanings = {}
    for one in sources:
        name = one.column.name
        rule = Coarsening.of(request.input.coarsen.get(name, NONE))
        kind = _COARSE.get(rule.kind) or _KINDS.get(type(table.schema[name]), "")
        meaning = CellMeaning(one.column.type, kind, request.input.missing)
        known = blocks.meanings.get(name)
        meanings[one.name] = meaning if known is None else decided(known.values.to_arrow(), meaning)
    return meanings


@dataclass(frozen=True)
class Findings:
    """What was found in a piece of a release."""

    cells: PieceFindings
    marks: Fingerprint  # a sum over its input rows
    checks: tuple[Check, ...]  # what is true of it if it is true of all pieces
    rare: Mapping[str, int]  # cells that name few people
    beyond: Mapping[str, int]  # cells that are coarser than each limit allows


def _compare(
    request: Request,
    sources: Sequence[ColumnOrigin],
    expected: Expected,
    salt: int,
    everybody: Mapping[str, Any],
    written: Any,
    original: Original,
) -> Findings:
    cells = compare_piece(written, expected, _without_persons(original))
    some = original.table.slice(*_span(window(written.num_rows)))
    hidden = [(name, some[name].combine_chunks()) for name in expected.quasi_identifiers]
    checks = [row_order_check(original.origin, seeded=request.seeded), hidden_order_check(hidden)]
    rare: Mapping[str, int] = {}
    with connect(threads=1) as connection:
        register(connection, _decoded(written), "released")
        register(connection, original.table, "original")
        checks.append(class_order_check(hidden, classes_of_rows(connection, expected, window(written.num_rows))))
        rare = rare_cells(connection, request, expected, everybody) if everybody else rare
        beyond = cells_beyond(connection, request, names_shown(sources), expected, original)
        checks += [safe_harbor_check(connection, request, sources)] if request.preset == PRESET else []
    return Findings(cells, _fingerprint(salt, original.table), tuple(checks), rare, beyond)


def _unchanged(
    request: Request, expected: Expected, sources: Sequence[ColumnOrigin], written: Any, original: Original
) -> UnchangedCounts | None:
    if request.persons is not None:
        keys = PersonKeys(request.persons, secrets.token_bytes(32))
        owners = owners_by_keys(keys.of(original.table.column(PERSON)), request.persons)
        expected, original = replace(expected, owners=owners), _without_persons(original)
    with connect(threads=1) as connection:
        register(connection, written, "released")
        return unchanged_counts(connection, request, sources, expected, original)


def _without_persons(original: Original) -> Original:
    """What the input held in the columns of the release."""
    if PERSON not in original.table.column_names:
        return original
    return replace(original, table=original.table.drop_columns([PERSON]))


def _span(rows: slice) -> tuple[int, int]:
    return rows.start, rows.stop - rows.start


def _of_all(checks: Sequence[Check]) -> Check:
    """One check for the same check of every piece: the first that fails, or the first."""
    return next((check for check in checks if not check.passed), checks[0])


def _of_all_pieces(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The sums of counts that every piece has."""
    return {name: sum(one[name] for one in counts) for name in (counts[0] if counts else ())}


def _fingerprint(salt: int, rows: Any) -> Fingerprint:
    return fingerprint(rows, salt)


def written_columns(session: Any, folder: str) -> list[str]:
    """The names of the columns in the written files."""
    with errors_translated(), set_for_a_while(session, EXACT):
        return [field.name for field in session.read.parquet(folder).schema.fields]


def rows_used(pieces: Pieces, listed: Sequence[Listed]) -> tuple[int, int]:
    """How many rows the pieces have, and how many different rows of the input these are.

    A row that is not one of its block is none of the input.
    """
    height = {number: block.rows for number, block in enumerate(listed)}
    used = Used(height)
    by_block = pieces.frame.select(BLOCK, "origins").groupBy(BLOCK)
    with errors_translated(), unwarned():
        counts = by_block.applyInArrow(lambda table: used(table), "rows long, different long").collect()
    return sum(row.rows for row in counts), sum(row.different for row in counts)


@dataclass(frozen=True, eq=False)
class Used:
    """Counts the rows of a block that are released."""

    height: dict[int, int]

    def __call__(self, table: Any) -> Any:
        """The counts for the one block that all parts come from."""
        import pyarrow as pa

        with quiet():
            rows = np.concatenate([np.frombuffer(part.as_buffer(), np.uint32) for part in table["origins"]])
            seen = np.zeros(self.height.get(table[BLOCK][0].as_py(), 0), bool)
            seen[rows[rows < len(seen)]] = True
            return pa.table({"rows": [len(rows)], "different": [int(seen.sum())]})


def summed_up(table: SparkTable, names: Sequence[str], read: Reader) -> list[Any]:
    """What a reader makes of some columns of the input, as Spark reads it, in every part."""
    from pyspark.sql import functions as sql

    with errors_translated():
        # two columns of a release may come from one of the input, and Arrow asks for names of their own
        chosen = table.frame.select([sql.col(table.at(name)).alias(f"n{i}") for i, name in enumerate(names)])
        answers = mapped(chosen, Summing(read), "answer binary").collect()
    return [pickle.loads(row.answer) for row in answers]


@dataclass(frozen=True, eq=False)
class Summing:
    """Hands the batches of a partition to a reader."""

    read: Reader

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What it makes of them, as one cell."""
        import pyarrow as pa

        yield pa.record_batch({"answer": [pickle.dumps(self.read(batches))]})


def compared(pieces: Pieces, folder: str, compare: Compare) -> tuple[list[Check], list[Any]]:
    """What is in each file beside its cells, and what is found in each piece, its file read back from its bytes."""
    answers = _with_files(pieces, folder, Comparing(pieces.mixing, compare))
    return [check for check, _ in answers], [finding for _, finding in answers if finding is not None]


def looked_at_together(pieces: Pieces, folder: str, look: Compare) -> Any:
    """What one executor finds in all pieces together."""
    [answer] = _with_files(pieces, folder, Joined(pieces.mixing, look), together=True)
    return answer


def _with_files(pieces: Pieces, folder: str, work: Callable[[Any, Any], Any], *, together: bool = False) -> list[Any]:
    """What is made of the rows of each piece and its file, or of all of them together."""
    with errors_translated(), set_for_a_while(pieces.frame.sparkSession, ONE_BLOCK_AT_A_TIME):
        rows = beside_files(pieces, folder, work, "answer binary", together=together).collect()
    return [pickle.loads(row.answer) for row in rows]


def beside_files(
    pieces: Pieces, folder: str, work: Callable[[Any, Any], Any], schema: str, *, together: bool = False
) -> Any:
    """A frame of what is made of the rows of each piece and its file, or of all of them together."""
    from pyspark.sql import functions as sql

    session = pieces.frame.sparkSession
    paths = listed_files(session, folder)
    places = sql.create_map(*(sql.lit(x) for pair in enumerate(pieces.keys) for x in pair))
    with errors_translated(), unwarned():
        place = sql.regexp_extract(sql.element_at(sql.split("path", "/"), -1), _PART, 1).cast("int")
        contents = session.read.format("binaryFile").load(paths).select(places[place].alias(KEY), "content")
        group = sql.lit(0) if together else sql.col(KEY)
        frames = (pieces.frame.drop("origins"), contents)
        dealt, files = (frame.withColumn("group", group).groupBy("group") for frame in frames)
        return dealt.cogroup(files).applyInArrow(lambda parts, file: work(parts, file), schema)


def written_rows(files: Any) -> Any:
    """The rows of the one file of a piece, read back from its bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if files.num_rows != 1:
        raise _foreign()
    return pq.read_table(pa.BufferReader(files["content"][0].as_buffer())).replace_schema_metadata(None)


@dataclass(frozen=True, eq=False)
class Comparing:
    """Looks at the bytes of a piece's file, and compares it with its rows."""

    mixing: Mixing
    compare: Compare

    def __call__(self, parts: Any, files: Any) -> Any:
        """What was found, as one cell."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with quiet(), TemporaryDirectory(prefix="incrowd-") as folder:
            if files.num_rows != 1:
                raise _foreign()
            path = Path(folder) / "release.parquet"
            path.write_bytes(files["content"][0].as_buffer())
            written, findings = pq.read_table(path).replace_schema_metadata(None), None
            if parts.num_rows:
                findings = self.compare(written, original_of(self.mixing, parts))
            elif written.num_rows:
                raise _foreign()
            return pa.table({"answer": [pickle.dumps((bytes_check(path, FileForm("parquet")), findings))]})


@dataclass(frozen=True, eq=False)
class Joined:
    """Looks at all pieces and their files as one table."""

    mixing: Mixing
    look: Compare

    def __call__(self, parts: Any, files: Any) -> Any:
        """What was found, as one cell."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        with quiet():
            written, originals = [], []
            for key, content in zip(files[KEY], files["content"], strict=True):
                part = parts.filter(pc.equal(parts[KEY], key))
                if part.num_rows:
                    written.append(pq.read_table(pa.BufferReader(content.as_buffer())).replace_schema_metadata(None))
                    originals.append(original_of(self.mixing, part))
            answer = None
            if originals:
                tables = pa.concat_tables([_decoded(one.table) for one in originals])
                origin = np.concatenate([one.origin for one in originals])
                answer = self.look(pa.concat_tables(written), Original(tables, origin, originals[0].rows))
            return pa.table({"answer": [pickle.dumps(answer)]})


def original_of(mixing: Mixing, parts: Any) -> Original:
    """What the input held in the rows of a piece."""
    blobs = zip(parts[BLOCK].to_pylist(), parts["rows"], strict=True)
    return mixing.original(parts[KEY][0].as_py(), [(block, blob.as_buffer()) for block, blob in blobs])


def _decoded(table: Any) -> Any:
    """The columns without dictionaries."""
    import pyarrow as pa

    plain = [getattr(field.type, "value_type", field.type) for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, plain, strict=True))))


def _foreign() -> OutputError:
    return OutputError("A written file is missing, or does not belong to the release. Nothing was published.")
