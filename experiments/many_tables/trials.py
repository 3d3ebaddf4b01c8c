"""Trials: a method at one k and requirement on one split. What they give is kept, so a run goes on where it stopped."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.many_tables.tables import PAPERS, ROWS, SEED, TABLES, subject_of
from incrowd.attacks.membership import advantage
from incrowd.comparisons.choices import UNPROTECTED, Choice
from incrowd.comparisons.comparison import digest_of
from incrowd.comparisons.feeding import Feeding, feed_release, feed_unprotected
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Examples, predicted
from incrowd.comparisons.protocol import FiveByTwo, RowSplit, seed_of
from incrowd.comparisons.releasing import Made, release_rows
from incrowd.comparisons.scores import quality
from incrowd.comparisons.subject import Subject
from incrowd.errors import CannotRunError, IncrowdError
from incrowd.methods.blending.blend import Blend, PreparedRows
from incrowd.methods.method import Population
from incrowd.risk.boxes import guess_from_release, read_released
from incrowd.vocabulary.certificates import version
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.requirements.words import asked_for

BLEND, COUNTS = "blend", "infogain-mondrian(form='counts')"
PLAIN = ("blend(form='strict')", "kactus-plus", "kactus", "infogain-mondrian", "tdr")
METHODS = (BLEND, COUNTS, *PLAIN)
LEARNERS = ("c45", "weka-j48", "nb", "logistic", "boosting", "knn", "forest")
STAGES = ((10, 30, 100), (5, 300))
"""Every k, in the order in which they are run, each by every method for all tables; none is larger than a third of the
rows learned from."""
PUREST, ENTROPY = "alpha=0.9", "entropy-l=1.4"
EQUAL = (BLEND, COUNTS, "kactus-plus", "kactus", "infogain-mondrian")
EQUAL_KS = (10, 100)
"""At equal promises, one after each stage."""
CAUSES = (("blend(hide=False,redraw=0)", 1), ("blend(hide=False,redraw=0)", 10), ("blend(redraw=0)", 10))
"""What stands between the rows themselves and Blend's release at k = 10, one thing after the other: public bins; groups
of which counts are exact and nothing is hidden; groups that hide what is of no use; counts that are drawn (Blend). On
the first split of the papers' tables, for what is found may be mended there."""
REPETITIONS = 5
FILE = "trials.jsonl"


@dataclass(frozen=True)
class Trial:
    """A method, with parameters in brackets, at one k, with what is asked besides, on one split of a table."""

    table: str
    method: str
    k: int
    besides: str
    repetition: int
    fold: int


@dataclass(frozen=True)
class Outcome:
    """By learner accuracy, balanced accuracy and AUC; ``right``: which test rows it told right; figures of the release.

    ``status`` says why there are none.
    """

    scores: dict[str, tuple[float, float, float | None]] = field(default_factory=dict)
    right: dict[str, str] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    status: str = ""

    def correct(self, learner: str) -> npt.NDArray[np.bool_]:
        """Which test rows a learner told right."""
        bits = np.unpackbits(np.frombuffer(base64.b64decode(self.right[learner]), np.uint8))
        return bits[: int(self.facts["tested"])].astype(np.bool_)


def trials(repetitions: int = REPETITIONS) -> Iterator[Trial]:
    """All trials, in the order of their run: split by split every table and method, at each k and at equal promises."""
    for repetition in range(repetitions):
        for fold in (0, 1):
            split = repetition, fold
            yield from (Trial(table, UNPROTECTED, 1, "", *split) for table in TABLES)
            for ks, equal in zip(STAGES, EQUAL_KS, strict=True):
                for k in ks:
                    yield from (Trial(table, method, k, "", *split) for method in METHODS for table in TABLES)
                if split == (0, 0) and ks == STAGES[0]:
                    yield from (Trial(table, method, k, "", *split) for method, k in CAUSES for table in PAPERS)
                for besides in (PUREST, ENTROPY):
                    yield from (Trial(table, method, equal, besides, *split) for method in EQUAL for table in TABLES)


Prepared = dict[tuple[str, bool, bool], PreparedRows]


@contextmanager
def one_guide(kept: Prepared) -> Iterator[None]:
    """Inside, Blend's guide is asked once about the rows of a split: from five on it does not depend on k."""
    own = Blend.prepare

    def prepare(self: Blend, population: Population, k: int, *others: Any) -> PreparedRows:
        key = self.cuts, self.hide, k < 5
        if key not in kept:
            kept[key] = own(self, population, k, *others)
        return kept[key]

    Blend.prepare = prepare  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Blend.prepare = own  # type: ignore[method-assign]


@dataclass(eq=False)
class Bench:
    """A table and its splits."""

    subject: Subject
    learners: tuple[str, ...] = LEARNERS

    def __post_init__(self) -> None:
        self.digest = digest_of(self.subject)
        self._splits: dict[tuple[int, int], RowSplit] = {}
        self._prepared: dict[tuple[int, int], Prepared] = {}

    def split(self, trial: Trial) -> RowSplit:
        """The rows of a trial; those of a class in equal parts."""
        if (trial.repetition, trial.fold) not in self._splits:
            classes = self.subject.classes.codes.astype(np.int64)
            every = FiveByTwo(trial.repetition + 1, stratified=True).splits(classes, SEED)
            self._splits = {(one.repetition, one.fold): one for one in every}
        return self._splits[trial.repetition, trial.fold]

    def mark(self, trial: Trial) -> str:
        """What the outcome depends on, hashed."""
        known = [version("incrowd"), self.digest, SEED, ROWS, self.learners, astuple(trial)]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]

    def run(self, trial: Trial) -> Outcome:
        """The outcome; what cannot be done says why."""
        split = self.split(trial)
        if 3 * trial.k > len(split.train):
            return Outcome(status="k is more than a third of the rows")
        parts = self.subject.parts(split)
        if trial.method == UNPROTECTED:
            return self._learned(*feed_unprotected(parts), {"tested": len(split.test)})
        begun = time.process_time()
        try:
            made = self._released(trial, split)
        except IncrowdError as error:
            return Outcome(status=f"{type(error).__name__}: {error}")
        facts = {
            "seconds": time.process_time() - begun,
            "tested": len(split.test),
            "groups": made.risk.groups,
            "smallest": made.risk.smallest,
            "pure": made.risk.pure,
            "shown": made.plan.share_of_cells_shown,
            **self._attacked(made, split),
        }
        unseen, seed = self.subject.frame[split.test], seed_of(SEED, "feed", *astuple(trial))
        return self._learned(*feed_release(parts, made.plan, made.draft, unseen, Feeding(), seed), facts)

    def _released(self, trial: Trial, split: RowSplit) -> Made:
        choice, requirement = Choice.of(trial.method), KAnonymity(trial.k)
        with one_guide(self._prepared.setdefault((trial.repetition, trial.fold), {})):
            return release_rows(
                self.subject.table.take(split.train),
                self.subject.frame[split.train],
                self.subject.schema,
                choice.method,
                dict(choice.parameters),
                asked_for(trial.besides, requirement) if trial.besides else requirement,
                seed_of(SEED, "release", *astuple(trial)),
            )

    def _attacked(self, made: Made, split: RowSplit) -> dict[str, float]:
        """How often the class of a member and of a stranger is guessed right, and what membership adds."""
        subject = self.subject
        try:
            released = read_released(made.draft.frame, subject.table, subject.schema)
            people = subject.table.take(split.train), subject.table.take(split.test)
            members, others = guess_from_release(released, *people, subject.target, seed_of(SEED, "forest") % 2**31)
        except CannotRunError:
            return {}
        lead = advantage(members.count, others.count)[0]
        return {
            "members": members.count[0] / members.count[1],
            "strangers": others.count[0] / others.count[1],
            "advantage": lead,
        }

    def _learned(self, train: Examples, test: Examples, facts: dict[str, float]) -> Outcome:
        scores, right = {}, {}
        for name in self.learners:
            try:
                chances = np.asarray(find_learner(name).fit(train, 1).scores(test), np.float64)
            except (IncrowdError, ValueError, ArithmeticError, np.linalg.LinAlgError):
                continue
            reached = quality(chances, test.classes)
            auc = None if np.isnan(reached.auc) else round(reached.auc, 5)
            scores[name] = (round(reached.accuracy, 5), round(reached.balanced_accuracy, 5), auc)
            right[name] = base64.b64encode(np.packbits(predicted(chances) == test.classes).tobytes()).decode()
        return Outcome(scores, right, facts)


def read_outcomes(folder: Path) -> dict[Trial, Outcome]:
    """What former runs kept, by trial; a torn line is passed over, and of two the later counts."""
    kept: dict[Trial, Outcome] = {}
    for _, trial, outcome in _lines(folder):
        kept[trial] = outcome
    return kept


def _lines(folder: Path) -> Iterator[tuple[str, Trial, Outcome]]:
    path = folder / FILE
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            data: dict[str, Any] = json.loads(line)
            scores = {name: (a, b, c) for name, (a, b, c) in data["outcome"].pop("scores").items()}
            yield data["mark"], Trial(**data["trial"]), Outcome(scores, **data["outcome"])
        except (ValueError, KeyError, TypeError):
            continue


def run_trials(
    folder: Path,
    data: Path | None,
    seconds: float,
    tell: Callable[[str], None],
    every: Iterable[Trial] | None = None,
    bench_of: Callable[[str, Path | None], Bench] | None = None,
) -> None:
    """Run trials in their order for so many seconds, passing over those that are kept under the same mark."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {mark for mark, _, _ in _lines(folder)}
    benches: dict[str, Bench] = {}
    make = bench_of or (lambda table, where: Bench(subject_of(table, where)))
    end, every = time.monotonic() + seconds, list(trials() if every is None else every)
    with (folder / FILE).open("a", encoding="utf-8") as file:
        for number, trial in enumerate(every):
            if time.monotonic() > end:
                tell(f"{number} of {len(every)} trials, then the time was up")
                return
            bench = benches.setdefault(trial.table, benches.get(trial.table) or make(trial.table, data))
            mark = bench.mark(trial)
            if mark in kept:
                continue
            line: Mapping[str, Any] = {"mark": mark, "trial": asdict(trial), "outcome": asdict(bench.run(trial))}
            file.write(json.dumps(line) + "\n")
            file.flush()
            if number % 10 == 0:
                tell(f"{number} of {len(every)} trials")
