"""The whole way of hiding cells: from a table to the same table with some cells withheld.

::

    read -> understand -> hide -> write in a private place -> compare the written file with the table -> publish

Rows stay where they are: it is the owner's table with cells withheld, and a cell is found again by its row. All columns
are published, and all of them are as they were but for the cells that are told.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.algorithms.cell_hiding.changes import CellChange
from incrowd.algorithms.cell_hiding.hide import Cell, Hiding
from incrowd.algorithms.cell_hiding.hide import hide_cells as hide_in_codes
from incrowd.algorithms.cell_hiding.methods import Options
from incrowd.clock import Clock
from incrowd.errors import HeaderError, Notice, ParameterError, RequirementError, VerificationError
from incrowd.hiding.account import Account, doubts_about, tells_rows_apart
from incrowd.hiding.job import AUTO, HidingJob
from incrowd.hiding.telling import Telling
from incrowd.hierarchies.read import hierarchies_in
from incrowd.publishing.serialise import safe_name, write_table
from incrowd.publishing.staging import staged
from incrowd.reading.draft import draft_schema
from incrowd.reading.encode import encode
from incrowd.reading.frames import to_frame_like
from incrowd.reading.read import read
from incrowd.reading.source import Source
from incrowd.recipe import Recipe, with_hierarchies
from incrowd.report.hiding_facts import HidingFacts
from incrowd.report.hiding_report import hiding_html, hiding_summary
from incrowd.verification.hidden_cells import verify_hidden_cells
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.fresh import fresh_frame
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column


@dataclass(frozen=True, eq=False)
class Hidden:
    """A table with cells withheld.

    Attributes
    ----------
    report
        The facts: what was withheld and why, who guesses what. Private: keep it with the table.
    verdict
        The outcome of the independent comparison.
    changes
        All cells that are published differently, rows counted from 0.
    path
        Where the table was written, if it was.
    """

    report: HidingFacts
    verdict: Verdict
    changes: tuple[CellChange, ...]
    path: Path | None
    _table: Callable[[], Any]

    @property
    def table(self) -> Any:
        """The table: the kind of frame that came in; from a file, a polars frame."""
        return self._table()

    def __str__(self) -> str:
        return hiding_summary(self.report)

    def _repr_html_(self) -> str:
        return hiding_html(self.report, whole_page=False)


@dataclass(frozen=True, eq=False)
class Understood:
    """The input, read and encoded; the columns adversaries reckon with."""

    source: Source
    schema: Schema
    table: EncodedTable
    predictors: tuple[str, ...]
    notices: tuple[Notice, ...]


def hide_cells(
    table: Any,
    cells: Iterable[tuple[int, str]],
    method: str = AUTO,
    adversaries: Sequence[str] = ("nb", "id3"),
    *,
    to: str | Path | None = None,
    report_to: str | Path | None = None,
    hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None = None,
    predictors: Sequence[str] = (),
    degree: int = 3,
    lean: bool = False,
    nearest: bool = False,
    strict: bool = False,
    attack: bool = False,
    first_row: int = 0,
    reading: Mapping[str, Any] | None = None,
    randomness: Randomness | None = None,
    progress: Callable[[str], None] | None = None,
) -> Hidden:
    """Withhold cells so that adversaries who learn from the rest of the table do not guess them.

    Parameters
    ----------
    table
        A path, or a pandas, polars or PyArrow table.
    cells
        Pairs of a row and a column. Rows are counted from ``first_row``.
    method
        A hider by name (``incrowd.algorithms.cell_hiding.methods.NAMES``); ``auto`` is the generic one, which works
        against all the given adversaries.
    adversaries
        Who checks the result: nb, nb-ignored, nb-shared, id3, svm, logistic, forest, boosting, knn.
    to, report_to
        Files to write: the table, and the private HTML report.
    hierarchies
        For the generalizing methods (those with ``-g``), by column, or a folder with a file for each.
    predictors
        The columns adversaries reckon with; if not given, all but those where nearly every row has its own value.
    degree, lean, nearest
        See :class:`incrowd.algorithms.cell_hiding.methods.Options`.
    strict
        Publish nothing if an adversary still guesses a cell.
    attack
        Also run the suppression-pattern attack on each cell; it re-runs the hider for every value.
    first_row
        The number of the first row: 0, as in data frames. The command line counts from 1.
    reading
        How to read a text file: delimiter, encoding, missing.
    randomness
        Where draws come from; the system's cryptographic source if not given.
    progress
        Called with the name of each stage as it begins.

    Examples
    --------
    >>> people = pl.DataFrame({"pain": ["no"] * 3 + ["some"] * 2 + ["much"] * 3,
    ...                        "ill": ["no"] * 3 + ["cold"] * 2 + ["flu"] * 3})
    >>> hidden = hide_cells(people, [(3, "ill")])
    >>> hidden.table.row(3), hidden.table.row(4), hidden.verdict.passed
    ((None, None), ('some', 'cold'), True)
    """
    recipe = Recipe(reading=dict(reading or {}))
    if isinstance(hierarchies, str | Path):
        hierarchies = hierarchies_in(hierarchies)
    return run_hiding(
        HidingJob(
            table,
            tuple(cells),
            method,
            tuple(adversaries),
            Options(degree, lean, nearest),
            with_hierarchies(recipe, hierarchies or {}),
            tuple(predictors),
            None if to is None else Path(to),
            None if report_to is None else Path(report_to),
            first_row,
            strict,
            attack,
            randomness,
            Clock(progress) if progress else Clock(),
        )
    )


def run_hiding(job: HidingJob) -> Hidden:
    """Read, hide, write, compare; publish only what the comparison proves."""
    job.check()
    known = understand(job)
    hiding = hide(job, known)
    with _private_place(job) as place:
        with job.clock("writing"):
            write_table(withheld(known.source.frame, hiding.changes), place, job.form)
        with job.clock("verifying"):
            verdict = verify(job, known, hiding, place)
        with job.clock("measuring"):
            facts = describe(job, known, hiding, verdict)
        table = None if job.to else to_frame_like(pl.read_parquet(place), known.source.origin)
    if job.report_to:
        with staged(job.report_to) as place:
            place.write_text(hiding_html(facts), encoding="utf-8")
    path = job.to
    return Hidden(facts, verdict, hiding.changes, path, lambda: table if path is None else read(path).frame)


def understand(job: HidingJob) -> Understood:
    """The table as integer codes, and the cells and columns that were named found in it."""
    with job.clock("reading"):
        source = read(job.given, **job.recipe.reading)
        _check_cells(job, source.frame)
    with job.clock("encoding"):
        drafted = job.recipe.schema(draft_schema(source))
        generalizes = "-g" in job.hider
        schema = Schema(tuple(_published(column, generalizes) for column in drafted.columns))
        table, notices = encode(source, schema, schema.names)
        _check_values(job, table)
        schema = Schema(tuple(replace(column, type=table[column.name].type) for column in schema.columns))
    predictors = job.predictors or tuple(name for name in schema.names if not tells_rows_apart(table[name]))
    doubts = doubts_about(drafted, schema, table, () if job.predictors else predictors, job.hider)
    return Understood(source, schema, table, predictors, (*source.notices, *notices, *doubts))


def hide(job: HidingJob, known: Understood) -> Hiding:
    """Which cells to withhold; refused if a cell is still guessed and that was forbidden."""
    cells = [Cell(row - job.first_row, name) for row, name in job.cells]

    def told(done: int, total: int) -> None:
        job.clock.progress(f"hiding: {done} of {total} cells")

    with job.clock("hiding"):
        hiding = hide_in_codes(
            known.table,
            known.schema,
            cells,
            job.hider,
            job.judges(),
            job.randomness,
            predictors=known.predictors,
            options=job.options,
            progress=told,
        )
    exposed = sum(outcome.exposed for outcome in hiding.outcomes)
    if job.strict and exposed:
        raise RequirementError(
            f"{exposed} of {len(hiding.outcomes)} cells are still guessed by an adversary, and nothing was published. "
            "Try the method auto, which works against all of them, or publish without strict."
        )
    return hiding


def withheld(frame: pl.DataFrame, changes: Iterable[CellChange]) -> pl.DataFrame:
    """The table with changes applied, in fresh memory; a column with groups in it becomes text.

    Examples
    --------
    >>> withheld(pl.DataFrame({"age": [39, 40]}), [CellChange(1, "age", "(30, 50]")])["age"].to_list()
    ['39', '(30, 50]']
    """
    shows: dict[str, dict[int, str | None]] = {}
    for change in changes:
        shows.setdefault(change.attribute, {})[change.row] = change.shows
    columns = []
    for name, cells in shows.items():
        column = frame[name].cast(pl.String) if any(cells.values()) else frame[name].clone()
        groups = {row: label for row, label in cells.items() if label is not None}
        column = column.scatter([row for row in cells if row not in groups], None)
        columns.append(column.scatter(list(groups), list(groups.values())) if groups else column)
    return fresh_frame(frame.with_columns(columns))


def verify(job: HidingJob, known: Understood, hiding: Hiding, written: Path) -> Verdict:
    """The second opinion on the written bytes; raises unless everything holds."""
    rename = safe_name if job.form.kind == "csv" else str
    original = known.source.frame.rename({name: rename(name) for name in known.source.frame.columns})
    told = Telling(known.table, known.schema, known.predictors, hiding, rename).of(job.adversaries)
    original_table = original.to_arrow(compat_level=pl.CompatLevel.oldest())
    verdict = verify_hidden_cells(written, job.form, original_table, told)
    if not verdict.passed:
        failed = "; ".join(f"{check.name}: {check.found}" for check in verdict.checks if not check.passed)
        raise VerificationError(f"The table failed its verification and was not published. {failed}.")
    return verdict


def describe(job: HidingJob, known: Understood, hiding: Hiding, verdict: Verdict) -> HidingFacts:
    """The facts of a verified hiding."""
    account = Account(hiding, known.table, known.schema, job.judges(), job.first_row)
    return account.facts(
        verdict,
        source=job.path.name if job.path else f"a {known.source.origin.form} table",
        output=job.to.name if job.to else None,
        attack=job.attack,
        notices=known.notices,
        seconds=job.clock.seconds,
    )


@contextmanager
def _private_place(job: HidingJob) -> Iterator[Path]:
    """Where the table is written first: beside its target, or in a folder that goes away."""
    if job.to:
        with staged(job.to) as place:
            yield place
    else:
        with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
            yield Path(folder) / "hidden.parquet"


def _check_cells(job: HidingJob, frame: pl.DataFrame) -> None:
    """Every cell must be there."""
    last = frame.height - 1 + job.first_row
    for row, name in job.cells:
        if name not in frame.columns:
            raise HeaderError(unknown_column(name, frame.columns))
        if isinstance(row, bool) or not isinstance(row, int):
            raise ParameterError("A row is a whole number. Name a cell as a pair such as (17, 'diagnosis').")
        if not job.first_row <= row <= last:
            raise ParameterError(f"There is no row {row}: rows are counted from {job.first_row} to {last}.")


def _check_values(job: HidingJob, table: EncodedTable) -> None:
    """Every cell must show something."""
    for row, name in job.cells:
        if table[name].codes[row - job.first_row] == table[name].missing_code:
            raise ParameterError(f"Row {row} shows nothing in column {name!r} already. Leave this cell out.")


def _published(column: Column, generalizes: bool) -> Column:
    """A column of the published table; truth values stay as they are written."""
    kind = ColumnType.CATEGORICAL if column.type is ColumnType.BOOLEAN else column.type
    return replace(column, role=Role.OTHER, type=kind, hierarchy=column.hierarchy if generalizes else None)
