"""The whole way through Spark, on one screen: from a table that Spark knows to a verified folder of Parquet files.

What the driver gets of the rows: distinct values of the quasi-identifiers and of the target with their counts, counts
that are asked for, and a bounded sample as codes. How that is done is the part of ``rows/spark``; here is
what a release means by it: which roles, which method, which promise, who judges.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import Notice, OutputError, ParameterError, RequirementError, VerificationError
from incrowd.methods.catalog import find_method
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.issuing import issue
from incrowd.releases.job import Job
from incrowd.releases.pipeline import chance, notices_asked, plan_of, possible, staged_files, write_beside
from incrowd.releases.request import as_asked, has_counts, has_extremes, has_levels
from incrowd.report.outcome import Release
from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.spark.blocks import Meaning
from incrowd.rows.spark.release import Checks, Recounted, run_spark_release
from incrowd.rows.spark.session import spark_session
from incrowd.rows.spark.store import Gathered
from incrowd.rows.spark.table import SparkTable
from incrowd.tables.reading.dictionary import Tally, as_coded
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import settle
from incrowd.tables.reading.frames import check_types, is_spark_frame
from incrowd.tables.reading.source import MISSING_MARKERS, Origin, Source, spellings, without_markers
from incrowd.tables.roles import settled_roles, target_of
from incrowd.tables.streams.draft import Shared
from incrowd.tables.streams.encode import typed_column
from incrowd.tables.streams.gathering import GatheredColumn, growing
from incrowd.verification.class_sizes import k_check, sizes_of
from incrowd.verification.faithfulness import added_pieces, cells_check, compare_piece
from incrowd.verification.fingerprint import Fingerprint, InputReader, fingerprint
from incrowd.verification.input_table import ReleasedColumn
from incrowd.verification.judge import asked_of, expected_columns
from incrowd.verification.meaning import CellMeaning, decided
from incrowd.verification.request import Expected, Hint, InputFile, Original, Request
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.schema import Schema

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


def run_cluster_release(job: Job) -> Release:
    """Release a Spark frame, a table of Spark's catalog, or Parquet files that Spark can read."""
    if job.measuring.accuracy:
        raise ParameterError("Accuracy is not measured on Spark. Take a sample and ask incrowd compare.")
    if job.measuring.risk or job.measuring.attacks or job.ledger is not None:
        raise ParameterError(
            "On Spark no risk is measured, no attack is run and no ledger is kept: the whole table must be in memory "
            "for that. Leave them out, or release on one machine."
        )
    if job.recipe.rarest is not None:
        raise ParameterError("That no cell names a rare value is verified on one machine. Leave rarest out.")
    if isinstance(job.recipe.requirement, Together):
        raise RequirementError(
            "On Spark groups are promised their size, k. Further requirements are kept on one machine."
        )
    if job.query is not None:
        raise ParameterError(
            "Rows of PostgreSQL are read without Spark. Leave the engine out, or read them with spark.read."
        )
    if job.pair:
        raise ParameterError("Spark writes one table. Choose form counts, or release without Spark.")
    if job.outputs.table is not None:
        raise OutputError("With Spark the release goes to a folder of Parquet files. Name one.")
    outputs = replace(job.outputs, release=None) if job.outputs.release else job.outputs
    outputs.check(job.recipe_path)
    session = job.given.sparkSession if is_spark_frame(job.given) else spark_session(job.run.master)
    folder = str(job.outputs.release or _own_folder(session))
    randomness = chance(job)
    steps = ClusterSteps(job, randomness)
    given = str(job.given) if isinstance(job.given, Path) else job.given
    source = "a Spark table" if is_spark_frame(job.given) else str(job.given).rstrip("/").rpartition("/")[2]
    with staged_files(job.outputs) as drafts, _timed(job) as progress:

        def issued(plan: ReleasePlan, verdict: Verdict) -> Release:
            notices = (*steps.notices, *notices_asked(job))
            progress("certifying")
            described: dict[str, Any] = {"source": source, "written": "files", "form": FileForm("parquet")}
            facts, certificate = issue(job, plan, verdict, notices, steps.columns, **described)
            release = Release(plan, certificate, facts, job.outputs.release, lambda: session.read.parquet(folder))
            write_beside(release, job.outputs, drafts)
            return release

        steps.issue = issued
        run_spark_release(given, folder, steps, session=session, randomness=randomness, progress=progress)
    release: Release = steps.release
    return release


@contextmanager
def _timed(job: Job) -> Iterator[Callable[[str], None]]:
    """Gives what is told of each stage as it begins; a stage ends when the next one begins."""
    with ExitStack() as running:

        def begin(stage: str) -> None:
            running.close()
            running.enter_context(job.clock(stage))

        yield begin


def _own_folder(session: Any) -> Path:
    """A folder for a release that goes to no named place; only where all of Spark is on this machine."""
    if not session.sparkContext.master.startswith("local"):
        raise OutputError("Say where the release goes: to= a folder that every executor can write.")
    return Path(tempfile.mkdtemp(prefix="incrowd-")) / "release"


@dataclass(eq=False)
class ClusterSteps:
    """Understands, decides and judges as a release on one machine does."""

    job: Job
    randomness: Randomness
    notices: list[Notice] = field(default_factory=list)
    native: dict[str, pl.DataType] = field(default_factory=dict)
    known: Schema = field(default_factory=lambda: Schema(()))
    rows: int = 0
    columns: Mapping[str, Any] = field(default_factory=dict)
    values: dict[str, pl.Series] = field(default_factory=dict)
    salt: int = field(default_factory=lambda: secrets.randbits(62))
    expected: Any = None
    issue: Callable[[ReleasePlan, Verdict], Any] = lambda _plan, _verdict: None
    release: Any = None

    @property
    def markers(self) -> tuple[str, ...]:
        """The texts that mean missing."""
        return tuple(self.job.recipe.reading.get("missing", MISSING_MARKERS))

    @property
    def code(self) -> Any:
        """What gives the raw codes of a column and the values behind them; run by an executor."""
        return _code

    @property
    def clean(self) -> Any:
        """What makes null of markers in columns that are released as they are; run by an executor."""
        return partial(_clean, self.markers)

    def schema(self, table: SparkTable) -> Schema:
        """Every column with its role and a first type."""
        shape = check_types(dict(table.schema), 1)
        self.notices += shape.notices
        self.native = dict(table.schema)
        recipe = self.job.recipe
        drafted = table.on_a_sample(partial(_draft, target_of(recipe), self.markers, shape.kept))

        def repeats(names: Sequence[str]) -> dict[str, Shared]:
            return {name: Shared(*found) for name, found in table.uniqueness(names, spellings(self.markers)).items()}

        schema, doubts = settled_roles(drafted, recipe, repeats)
        self.notices += doubts
        return schema

    def meanings(self, schema: Schema, found: Mapping[str, Gathered]) -> tuple[Schema, Mapping[str, Meaning]]:
        """What the distinct values become, and the schema with the types they have."""
        columns, meanings = {column.name: column for column in schema.columns}, {}
        for name, gathered in found.items():
            known, column = _found(gathered, self.markers), columns[name]
            self.values[name] = gathered.values
            if "type" not in self.job.recipe.columns.get(name, {}):
                column = typed_column(column, known, self.native[name])
            settled = settle(known.tally, column, self.markers)
            places = known.places(settled)
            columns[name] = replace(column, type=settled.type)
            self.notices += settled.notices
            of_values = np.append(places[1:], places[:1])
            meanings[name] = Meaning(settled.type, settled.dictionary, gathered.values, of_values, settled.counts)
        self.rows = int(next(iter(found.values())).counts.sum())
        self.known = Schema(tuple(columns[column.name] for column in schema.columns))
        return self.known, meanings

    def plan(self, population: BlockedPopulation, columns: Mapping[str, Any]) -> ReleasePlan:
        """What is to be done; means are not known yet."""
        self.columns = columns
        self.notices += possible(self.job, self.known, columns, self.rows)
        return plan_of(self.job, self.known, self.rows, population, self.randomness)

    def checks(self, columns: Sequence[str], rows: int) -> Checks:
        """What is looked at; the rest of the verdict is :meth:`judge`."""
        request = self._request()
        sources = expected_columns(request, columns)
        self.expected = asked_of(request, sources, None)
        return Checks(
            sets=[names for _, names, _ in self.expected.promises],
            compare=partial(_compare, self.expected, rows, self.salt),
            names=[one.column.name for one in sources],
            read=InputReader(sources, self._meanings(sources), self.salt),
            look=partial(_fingerprint, self.salt),
        )

    def _request(self) -> Request:
        """What the user asked for; where the rows are is Spark's business."""
        recipe = self.job.recipe
        return Request(
            input=InputFile(Path(), "parquet", missing=self.markers),
            release=Path(),
            form=FileForm("parquet"),
            columns=as_asked(recipe, self.known),
            requirement=recipe.requirement,
            hint=Hint(Path(), ()),
            counted=has_counts(recipe),
            levels=has_levels(recipe),
            extremes=has_extremes(recipe),
            loses_rows=find_method(recipe.method).loses_rows,
        )

    def _meanings(self, sources: Sequence[ReleasedColumn]) -> dict[str, CellMeaning]:
        """How the cells of each column are read; what all of them decide together is decided on their values."""
        found = {}
        for one in sources:
            meaning = CellMeaning(one.column.type, _KINDS.get(type(self.native[one.column.name]), ""), self.markers)
            values = self.values.get(one.column.name)
            found[one.name] = meaning if values is None else decided(values.to_arrow(), meaning)
        return found

    def judge(self, plan: ReleasePlan, found: Recounted) -> Verdict:
        """The verdict; raises unless everything holds."""
        asked = self.expected
        sizes = [sizes_of(bars) for bars in found.sizes]
        pieces = list(found.pieces)
        claimed = sum((mark for _, mark in pieces), Fingerprint()) + sum(found.lost, Fingerprint())
        same = claimed == sum(found.input, Fingerprint())
        lost = self.rows - found.rows
        whole = found.rows == found.different == sizes[0].rows and 0 <= lost <= asked.may_lose
        checks = [
            Check("columns", list(found.columns) == list(asked.columns), f"{len(found.columns)} columns, as asked for"),
            *(k_check(one, name, k) for one, (name, _, k) in zip(sizes, asked.promises, strict=True)),
            Check("rows", whole, f"{found.rows:,} released, {lost:,} left out"),
            Check("input", same, "the rows that were compared are those of the input" if same else "other rows"),
            Check("left out", lost == plan.rows_dropped, f"{lost:,} rows"),
        ]
        wrong = added_pieces((one for one, _ in pieces), asked, escapes=False)
        checks += [cells_check(name, wrong[name], name in asked.quasi_identifiers) for name in asked.columns]
        nearest = min(zip(sizes, asked.promises, strict=True), key=lambda one: one[0].smallest / one[1][2])[0]
        verdict = Verdict(nearest, tuple(checks), self.rows)
        if not verdict.passed:
            failed = "; ".join(f"{check.name}: {check.found}" for check in verdict.checks if not check.passed)
            raise VerificationError(f"The release failed its verification and was not published. {failed}.")
        self.release = self.issue(plan, verdict)
        return verdict


def _code(series: pl.Series) -> tuple[Any, pl.Series]:
    known = growing(series.dtype)
    return known.codes(as_coded(series.to_frame()).to_series()), known.values


def _clean(markers: Sequence[str], frame: pl.DataFrame) -> pl.DataFrame:
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(without_markers(texts, spellings(markers)))


def _draft(target: str | None, markers: tuple[str, ...], kept: tuple[str, ...], sample: pl.DataFrame) -> Schema:
    return draft_schema(Source.of(sample.select(kept), Origin("parquet", missing=markers)), target=target)


def _compare(asked: Expected, rows: int, salt: int, written: Any, draft: Any) -> Any:
    original = Original(draft.original, draft.origin, rows, draft.claims)
    return compare_piece(written, asked, original, escapes=False), _fingerprint(salt, draft.original)


def _fingerprint(salt: int, original: Any) -> Fingerprint:
    return fingerprint(original, salt)


def _found(gathered: Gathered, markers: Sequence[str]) -> GatheredColumn:
    """The values of a column, markers of missing values counted as null."""
    text = gathered.values.dtype == pl.String
    gone = gathered.values.is_in(spellings(markers)) if text else gathered.values.is_null()
    kept = ~gone.to_numpy()
    nothing = gathered.counts[-1] + gathered.counts[:-1][~kept].sum()
    return GatheredColumn(
        Tally(gathered.values.filter(~gone), np.append(gathered.counts[:-1][kept], nothing)), kept, ()
    )
