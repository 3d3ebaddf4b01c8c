"""Where results are kept: finished trials survive an interruption and are not run again.

A folder holds ``trials.jsonl``, a line for each learner's part of a trial, flushed to disk as it is finished. A line
begins with a fingerprint of all that the result depends on. It holds names of columns and methods, counts and scores,
but no value of the table; the table itself enters the fingerprint under a key that stays with its owner.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from incrowd.comparisons.learners.learner import Learner
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.trial import Laboratory, Result, Trial, learners_of
from incrowd.errors import OutputError
from incrowd.optional import package_of
from incrowd.report.certificate import owner_key
from incrowd.vocabulary.certificates import version

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
