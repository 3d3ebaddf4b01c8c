"""What a comparison gives back: results, a summary, a recommendation, pages that show them; and where results are kept.

Finished trials survive an interruption and are not run again. A folder holds ``trials.jsonl``, a line for each
learner's part of a trial, flushed to disk as it is finished. A line begins with a fingerprint of all that the result
depends on. It holds names of columns and methods, counts and scores, but no value of the table; the table itself
enters the fingerprint under a key that stays with its owner.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from incrowd.comparisons.choices import STANDARDS
from incrowd.comparisons.learners.learner import Learner
from incrowd.comparisons.recommend import Advice, Recommendation, RowSplitError, recommend, row_split_errors
from incrowd.comparisons.scores import ACCURACY, PERSON_ACCURACY, Measure
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.summary import Summary, SummaryCell
from incrowd.comparisons.trial import Laboratory, Result, Setup, Trial, learners_of
from incrowd.errors import Notice, OutputError
from incrowd.optional import package_of
from incrowd.report.certificate import owner_key
from incrowd.tables.publishing.staging import staged
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.source import Origin
from incrowd.vocabulary.certificates import version, versions

FILE = "trials.jsonl"
_TYPES = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}


@dataclass(eq=False)
class Results:
    """Results by fingerprint; written to a folder as they come, if there is one."""

    by_fingerprint: dict[str, Result] = field(default_factory=dict)
    _file: TextIO | None = None

    def add(self, fingerprint: str, result: Result) -> None:
        """Keep a result, on disk before this returns."""
        self.by_fingerprint[fingerprint] = result
        if self._file is not None:
            json.dump({"fingerprint": fingerprint, **asdict(result)}, self._file, allow_nan=False)
            self._file.write("\n")
            self._file.flush()
            os.fsync(self._file.fileno())


@contextmanager
def opened(folder: Path | None) -> Iterator[Results]:
    """The results of a folder, which is made if need be; without a folder, results are in memory only."""
    if folder is None:
        yield Results()
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / FILE).open("a+", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder.name}: results cannot be kept there: {error.strerror}.") from None
    with file:
        _lock(file, folder)
        yield Results(_whole_lines(file), file)


def _lock(file: TextIO, folder: Path) -> None:
    """Keep other runs out, where the system has locks that end with the process; Windows has none."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OutputError(f"Another run is writing to {folder.name}. Wait for it, or name another folder.") from None


def _whole_lines(file: TextIO) -> dict[str, Result]:
    """What earlier runs kept; a last line that was cut off is removed, lines of other versions are passed over."""
    file.seek(0)
    text = file.read()
    whole, _, torn = text.rpartition("\n")
    if torn:
        os.ftruncate(file.fileno(), len(f"{whole}\n".encode()) if whole else 0)
    file.seek(0, os.SEEK_END)
    return dict(_parsed(whole.splitlines()))


def _parsed(lines: Iterable[str]) -> Iterator[tuple[str, Result]]:
    names = {each.name for each in fields(Result)}
    for line in lines:
        try:
            data = json.loads(line)
            yield data["fingerprint"], Result(**{name: value for name, value in data.items() if name in names})
        except (ValueError, TypeError, KeyError):
            continue


def digest_of(subject: Subject) -> str:
    """What tells this table from others, under the owner's key: a plain hash of a small table could be guessed."""
    digest = hmac.new(owner_key(), digestmod=hashlib.sha256)
    for column in subject.schema.columns:
        encoded = subject.table[column.name]
        parts = [column.name, column.role, column.type, encoded.dictionary.cast(pl.String).to_list()]
        tree = None if column.hierarchy is None else repr(column.hierarchy)
        digest.update(json.dumps([*parts, tree]).encode())
        digest.update(encoded.codes.tobytes())
    for each in () if subject.people is None else subject.people.columns.values():
        digest.update(json.dumps([each.name, each.dictionary.cast(pl.String).to_list()]).encode())
        digest.update(each.codes.tobytes())
    if subject.persons is not None:
        digest.update(subject.persons.codes.tobytes())
        digest.update(b"" if subject.order is None else subject.order.codes.tobytes())
    return digest.hexdigest()


def fingerprints(digest: str, laboratory: Laboratory, trial: Trial) -> dict[str, str]:
    """For each learner of the trial, what its result depends on, hashed.

    A split enters by its rows, so a longer run goes on where a shorter ended, and other rows make other trials.
    """
    setup = laboratory.setup
    split = laboratory.split_marks[trial.repetition, trial.fold]
    figures = [each.name for each in fields(Result)]
    shared = [version("incrowd"), figures, digest, split, repr(setup.feeding), setup.seed, setup.discretize]
    recipe = setup.recipe
    kept = [setup.requirement(trial.k).to_json(), repr(recipe.preferences), recipe.rarest, recipe.redraw, recipe.bins]
    shared += [*trial.name, *([] if trial.choice.is_standard else kept)]
    entry = trial.choice.entry
    shared += [] if entry is None or entry.foreign is None else [entry.package]
    own = {learner.name: [_parameters(learner), package_of(type(learner))] for learner in setup.own}
    return {
        learner: hashlib.sha256(json.dumps([*shared, learner, *own.get(learner, ())]).encode()).hexdigest()[:32]
        for learner in learners_of(trial)
    }


def _parameters(learner: Learner) -> str:
    """All parameters of a learner that was passed; of a classifier also those of what it is made of."""
    classifier = getattr(learner, "classifier", None)
    return repr(learner) if classifier is None else f"{type(classifier)} {classifier.get_params()}"


def as_frame(results: Sequence[Result]) -> pl.DataFrame:
    """Results as a table, a row for each learner's part of a trial."""
    schema = {each.name: _TYPES[str(each.type).split(" ")[0]] for each in fields(Result)}
    rows: list[dict[str, Any]] = [asdict(result) for result in results]
    return pl.DataFrame(rows, schema=schema, orient="row")


BEST, AS_GOOD, UNCLEAR, NOT_ABOVE = "best", "as good", "not clearly worse", "not above majority"
PERSONS, LAST = "person_accuracy", "status"
COLUMNS: dict[str, Any] = {
    "learner": pl.String,
    "method": pl.String,
    "k": pl.Int64,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "unprotected": pl.Float64,
    "majority": pl.Float64,
    "advice": pl.String,
    "splits": pl.Int64,
    "smallest_group": pl.Int64,
    "average_risk": pl.Float64,
    "cells_kept": pl.Float64,
    "rows_kept": pl.Float64,
    LAST: pl.String,
}


def summary_frame(summary: Summary, recommendation: Recommendation) -> pl.DataFrame:
    """The cells of a summary with what is advised; see :meth:`incrowd.comparisons.comparison.Comparison.to_frame`."""
    advised = {(one.learner, one.k): one for one in recommendation.advice}
    rows = [_row(cell, summary, advised.get((cell.learner, cell.k))) for cell in summary.cells]
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    over_persons = pl.Series(PERSONS, [cell.mean(PERSONS) for cell in summary.cells], pl.Float64)
    if over_persons.is_null().all():
        return frame
    return frame.with_columns(over_persons).select(*(name for name in COLUMNS if name != LAST), PERSONS, LAST)


def _row(cell: SummaryCell, summary: Summary, advice: Advice | None) -> tuple[Any, ...]:
    interval = cell.interval if cell.is_known else None
    own, majority = summary.unprotected(cell.learner), summary.majority
    trained, released = cell.mean("train_rows"), cell.mean("released_rows")
    sizes = [result.smallest_group for result in cell.results if result.smallest_group is not None]
    return (
        cell.learner,
        cell.method,
        None if cell.method in STANDARDS else cell.k,
        cell.measure.name,
        cell.value if cell.is_known else None,
        interval and interval.low,
        interval and interval.high,
        own.value if own else None,
        majority.value if majority else None,
        None if advice is None or cell.method in STANDARDS else _advised(cell, advice),
        len(cell.values),
        min(sizes, default=None),
        cell.mean("average_risk"),
        cell.mean("cells_kept"),
        released / trained if released is not None and trained else None,
        cell.status,
    )


def _advised(cell: SummaryCell, advice: Advice) -> str | None:
    if cell is advice.best:
        return BEST if advice.beats_majority else NOT_ABOVE
    if not advice.beats_majority:
        return None
    return AS_GOOD if cell in advice.equals else UNCLEAR if cell in advice.unclear else None


_PACKAGES = ("incrowd", "numpy", "polars", "numba", "scikit-learn")
_FRAME = Origin("polars")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods, compared on a table."""

    name: str
    rows: int
    target: str
    quasi_identifiers: tuple[str, ...]
    free: tuple[str, ...]
    setup: Setup
    splitting: str
    runs: tuple[Result, ...]
    notices: tuple[Notice, ...]
    seconds: float
    measure: Measure = ACCURACY
    origin: Origin = _FRAME
    persons: int | None = None  # how many, if rows are not persons
    row_runs: tuple[Result, ...] = ()  # what a split by rows would have said

    @classmethod
    def of(
        cls, laboratory: Laboratory, runs: Sequence[Result], seconds: float, measure: Measure = ACCURACY
    ) -> Comparison:
        """The comparison that a laboratory made."""
        subject = laboratory.subject
        known = (*subject.schema.quasi_identifiers, subject.target)
        return cls(
            name=subject.name,
            rows=subject.table.height,
            target=subject.target,
            quasi_identifiers=subject.schema.quasi_identifiers,
            free=tuple(name for name in subject.schema.names if name not in known),
            setup=laboratory.setup,
            splitting=laboratory.splitting,
            runs=tuple(runs),
            notices=subject.notices,
            seconds=seconds,
            measure=measure,
            origin=subject.origin,
            persons=None if subject.persons is None else subject.persons.count,
        )

    @cached_property
    def results(self) -> pl.DataFrame:
        """All results, with what was the same for all of them."""
        conditions = {
            "table": self.name,
            "protocol": self.splitting,
            "feeding": str(self.setup.feeding),
            "discretize": self.setup.discretize or "no",
            "limits": json.dumps(stated) if (stated := self.setup.stated()) else "no",
            "seed": self.setup.seed,
            "version": version("incrowd"),
        }
        return as_frame(self.runs).with_columns(pl.lit(value).alias(name) for name, value in conditions.items())

    def to_frame(self) -> Any:
        """What was compared as a table: a row for each method, k and learner, in the kind of frame that came in.

        The table itself is the method ``unprotected``, the baseline ``majority``; both have no k. Files give a polars
        frame, as does :attr:`results`, which has every single split.

        ================== ==============================================================================
        column             what it is
        ================== ==============================================================================
        learner            what was trained; ``majority`` and ``kadet`` are their own learners
        method             what released the rows, with its unusual parameters
        k                  its k; null for ``unprotected`` and ``majority``
        measure            what methods are compared by
        value              the mean over the splits; null if there is none
        low, high          the ends of its 95 % interval; null if there is none
        unprotected        what the learner reaches with the table itself
        majority           what the baseline reaches
        advice             ``best``, ``as good``, ``not clearly worse``, ``not above majority`` (the best, but not
                           shown to be better than the baseline) or null
        splits             on how many splits there is a value
        smallest_group     rows, or persons, of the smallest group of all releases
        average_risk       mean over the released rows of one over the size of their group, in rows or persons
        cells_kept         share of the quasi-identifiers' cells that show something
        rows_kept          share of the rows that are released
        person_accuracy    the mean accuracy over persons; only where a person may have several rows
        status             ``done``, or why there is no value, or not on every split
        ================== ==============================================================================
        """
        return to_frame_like(summary_frame(self.summary, self.recommendation), self.origin)

    @cached_property
    def summary(self) -> Summary:
        """Means and intervals."""
        return Summary.of(self.runs, self.measure)

    @cached_property
    def over_persons(self) -> Summary | None:
        """The mean accuracy over persons in place of that over rows, where rows are not persons."""
        is_accuracy = self.persons is not None and self.measure is ACCURACY
        return Summary.of(self.runs, PERSON_ACCURACY) if is_accuracy else None

    @cached_property
    def row_split_errors(self) -> tuple[RowSplitError, ...]:
        """How wrong a split by rows would be; nothing where rows are persons."""
        return row_split_errors(self.summary, self.row_runs)

    @cached_property
    def recommendation(self) -> Recommendation:
        """What to use, in words."""
        return recommend(self.summary)

    def plot(self, learner: Any = None, *, against: str = "k", ax: Any = None) -> Any:
        """What a learner (the first, if none is named) reaches with each method, against ``"k"`` or what releases tell.

        Parameters
        ----------
        learner
            One of those that were compared, as it was named or passed there.
        against
            ``"k"``, with intervals; ``"risk"``, the average risk of the releases; ``"purity"``, the share of rows with
            the most frequent class of their group; ``"inference"``, the class advantage that an attack measured.
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("chart.svg")`` writes it.
        """
        from incrowd.comparisons.charts import comparison_drawing

        drawing = comparison_drawing(self.summary, learner, against)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:
        from incrowd.comparisons.page import comparison_html

        return comparison_html(self, whole=False)

    @property
    def versions(self) -> dict[str, str]:
        """What it was measured with."""
        return versions(_PACKAGES)

    def page(self) -> str:
        """One HTML page: no network, no script, charts as inline SVG."""
        from incrowd.comparisons.page import comparison_html

        return comparison_html(self)

    def markdown(self) -> str:
        """The same in Markdown, without the charts."""
        from incrowd.comparisons.page import markdown_lines

        return "\n".join(markdown_lines(self))

    def save(self, folder: Path) -> None:
        """Write results.parquet, results.csv, README.md and index.html, each complete or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        with staged(folder / "results.parquet") as hidden:
            self.results.write_parquet(hidden)
        with staged(folder / "results.csv") as hidden:
            self.results.write_csv(hidden)
        for name, text in (("README.md", self.markdown()), ("index.html", self.page())):
            with staged(folder / name) as hidden:
                hidden.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Comparison of {len(self.summary.methods)} methods on {self.name}\n{self.recommendation}"
