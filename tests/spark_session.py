"""One Spark session for a test module, and the whole way through Spark as the pipeline is to go it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from incrowd.algorithms.catalog import find_method, make_method
from incrowd.engines.spark.blocks import Meaning
from incrowd.engines.spark.release import Recounted, run_spark_release
from incrowd.errors import VerificationError
from incrowd.pipeline import promised
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.reading.dictionary import Tally, as_coded
from incrowd.reading.draft import Facts, draft_schema, draft_type
from incrowd.reading.encode import settle
from incrowd.reading.frames import check_types
from incrowd.reading.missing import spellings, without_markers
from incrowd.reading.source import MISSING_MARKERS, Origin, Source
from incrowd.reading.streams.distinct import growing
from incrowd.reading.streams.gathering import Found
from incrowd.reading.streams.repeats import Shared
from incrowd.understanding import settled_roles, target_of
from incrowd.verification.asked import Asked, Original
from incrowd.verification.class_sizes import k_check, sizes_of
from incrowd.verification.faithfulness import cells_check
from incrowd.verification.pieces import added_pieces, compare_piece
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.randomness import SeededRandomness, SystemRandomness
from incrowd.vocabulary.schema import Schema

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors know the package, not this file


def local_session(**settings):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("incrowd tests")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in (fixed | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def code(series: pl.Series) -> tuple[Any, pl.Series]:
    """Raw codes of a column and the values behind them."""
    known = growing(series.dtype)
    codes = known.codes(as_coded(series.to_frame()).to_series())
    return codes, known.values


def clean(markers: Sequence[str], frame: pl.DataFrame) -> pl.DataFrame:
    """Columns that are released as they are, markers of missing values as null."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(without_markers(texts, spellings(markers)))


def draft(target: str | None, markers: tuple[str, ...], sample: pl.DataFrame) -> Schema:
    """A first schema from a sample; run by an executor."""
    return draft_schema(Source.of(sample, Origin("parquet", missing=markers)), target=target)


def compare(asked: Asked, rows: int, written: Any, draft: Any) -> Any:
    """What a written piece shows next to what the input held; run by an executor."""
    return compare_piece(written, asked, Original(draft.original, draft.origin, rows, draft.claims), escapes=False)


@dataclass(eq=False)
class SparkSteps:
    """Understands, decides and judges as the pipeline does."""

    recipe: Any
    randomness: Any
    notices: list[Any] = field(default_factory=list)
    native: dict[str, pl.DataType] = field(default_factory=dict)

    @property
    def markers(self) -> tuple[str, ...]:
        return tuple(self.recipe.reading.get("missing", MISSING_MARKERS))

    @property
    def code(self):
        return code

    @property
    def clean(self):
        return partial(clean, self.markers)

    def schema(self, table):
        self.notices += check_types(table.schema, 1).notices
        self.native = dict(table.schema)
        target = target_of(self.recipe)
        drafted = table.on_a_sample(partial(draft, target, self.markers))

        def repeats(names):
            return {n: Shared(*found) for n, found in table.uniqueness(names, spellings(self.markers)).items()}

        schema, doubts = settled_roles(drafted, self.recipe, repeats)
        self.notices += doubts
        return schema

    def meanings(self, schema, found):
        columns, meanings = {column.name: column for column in schema.columns}, {}
        for name, gathered in found.items():
            known = _found(gathered, self.markers)
            column = columns[name]
            if "type" not in self.recipe.columns.get(name, {}):
                column = self._typed(column, known)
            settled = settle(known.tally, column, self.markers)
            places = known.places(settled)
            columns[name] = replace(column, type=settled.type)
            self.notices += settled.notices
            places = np.append(places[1:], places[:1])
            meanings[name] = Meaning(settled.type, settled.dictionary, gathered.values, places)
        self.rows = int(next(iter(found.values())).counts.sum())
        self.recipe.requirement.check_possible(self.rows)
        self.known = Schema(tuple(columns[column.name] for column in schema.columns))
        return self.known, meanings

    def _typed(self, column, known):
        counts = known.tally.counts
        fact = Facts(column.name, int(counts.sum()), int(counts[:-1].sum()), len(known.tally.values))
        native = self.native[column.name]
        by_type_alone = known.tally.values.dtype != native
        drafted = draft_type(pl.Series([], dtype=native) if by_type_alone else known.tally.values, fact)
        return column if drafted.type is column.type else replace(column, type=drafted.type, order=())

    def plan(self, population, columns: Mapping[str, Any]):
        method = make_method(self.recipe.method, dict(self.recipe.parameters))
        steps = method.decide(population, self.recipe.requirement, self.randomness)
        return ReleasePlan(
            method.name,
            tuple(method.parameters().items()),
            self.recipe.requirement,
            self.known,
            self.rows,
            (Drop(self.known.identifiers), *steps),
        )

    def asked(self, plan):
        return promised(self.recipe.requirement, self.known.quasi_identifiers, plan, str)

    def promised(self, plan):
        return [columns for _, columns, _ in self.asked(plan).promises]

    def comparing(self, plan):
        return partial(compare, self.asked(plan), self.rows)

    def judge(self, plan, found: Recounted):
        asked = self.asked(plan)
        sizes = [sizes_of(bars) for bars in found.sizes]
        counted = [k_check(one, name, k) for one, (name, _, k) in zip(sizes, asked.promises, strict=True)]
        lost = self.rows - found.rows
        whole = found.rows == found.different == sizes[0].rows and 0 <= lost <= asked.may_lose
        checks = [
            Check("columns", list(found.columns) == list(asked.columns), f"{len(found.columns)} columns"),
            *counted,
            Check("rows", whole, f"{found.rows:,} released, {lost:,} left out"),
        ]
        wrong = added_pieces(iter(found.pieces), asked, escapes=False)
        checks += [cells_check(name, wrong[name], name in asked.quasi_identifiers) for name in asked.columns]
        nearest = min(zip(sizes, asked.promises, strict=True), key=lambda one: one[0].smallest / one[1][2])[0]
        verdict = Verdict(nearest, tuple(checks))
        if not verdict.passed:
            failed = "; ".join(f"{check.name}: {check.found}" for check in verdict.checks if not check.passed)
            raise VerificationError(f"The release failed its verification and was not published. {failed}.")
        return verdict


def _found(gathered, markers):
    """The values of a column, markers of missing values counted as null."""
    text = gathered.values.dtype == pl.String
    gone = gathered.values.is_in(spellings(markers)) if text else gathered.values.is_null()
    kept = ~gone.to_numpy()
    nothing = gathered.counts[-1] + gathered.counts[:-1][~kept].sum()
    return Found(Tally(gathered.values.filter(~gone), np.append(gathered.counts[:-1][kept], nothing)), kept, ())


def spark_release(given, folder, recipe, session, seed=None, **options):
    """A release of a Spark table, and the steps that made it."""
    randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    steps = SparkSteps(recipe, randomness)
    find_method(recipe.method)
    made = run_spark_release(given, str(folder), steps, session=session, randomness=randomness, **options)
    return made, steps
