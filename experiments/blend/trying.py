"""Groups published as counts, and what their recipient learns from: the values dealt out again, several times."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.blend.cells import BINNED, COUNTS, STRICT, UNPROTECTED, Cell, Outcome, keep
from incrowd.comparisons.choices import KADET, Choice
from incrowd.comparisons.datasets.catalog import find_dataset
from incrowd.comparisons.feeding import Feeding, Parts, feed_release, feed_unprotected, joined, label_names, raw_cells
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Examples
from incrowd.comparisons.protocol import FiveByTwo, seed_of
from incrowd.comparisons.releasing import publish_and_score, without_unused
from incrowd.comparisons.scores import quality
from incrowd.comparisons.subject import Subject, find_table, read_subject
from incrowd.errors import IncrowdError
from incrowd.methods.blending.blend import Blend, PreparedRows
from incrowd.methods.catalog import find_method, make_method
from incrowd.methods.judging import Judge
from incrowd.methods.method import applied
from incrowd.methods.numeric import public_bins
from incrowd.methods.release_forms import formed, suited
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts, Bin, Seat, Show, Step
from incrowd.recipients.matrix import Numbers
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.memory.population import EmbeddedPopulation, bin_table
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Suppressed
from incrowd.vocabulary.requirement import KAnonymity, Requirement
from incrowd.vocabulary.requirements.words import asked_for


def deal(codes: Codes, groups: Codes, generator: np.random.Generator) -> Codes:
    """The values of each group, dealt over its rows at random.

    Examples
    --------
    >>> dealt = deal(np.array([1, 2, 3, 3]), np.array([0, 0, 1, 1]), np.random.default_rng(1))
    >>> sorted(dealt[:2].tolist()), dealt[2:].tolist()
    ([1, 2], [3, 3])
    """
    dealt = np.empty_like(codes)
    dealt[np.argsort(groups, kind="stable")] = codes[np.lexsort((generator.random(len(codes)), groups))]
    return dealt


def feed_counts(
    parts: Parts,
    bins: Bin,
    names: Collection[str],
    groups: Codes,
    hidden: Collection[str] = (),
    deals: int = 5,
    seed: int = 0,
) -> tuple[Examples, Examples]:
    """Training rows as dealt from counts, every row once for each deal, and test rows in the same public bins.

    Parameters
    ----------
    parts
        The rows to learn from and to test on.
    bins
        The public cuts of the numbers among ``names``.
    names, hidden
        The attributes that are released as counts, and those of them that show nothing.
    groups
        The group of each row to learn from.
    """
    generator = np.random.default_rng(seed)
    train, test = bin_table(parts.train, bins), bin_table(parts.test, bins)
    target, rows = parts.train[parts.target], np.tile(np.arange(parts.train.height), deals)
    pairs = []
    for name in parts.inputs:
        if name in hidden:
            continue
        own = train[name]
        codes = own.codes[rows] if name not in names else _deals(own.codes, groups, deals, generator)
        pairs.append(joined(name, raw_cells(_with(own, codes)), raw_cells(test[name])))
    labels = label_names(target, bool(target.counts[-1] or parts.test[parts.target].counts[-1]))
    weights = np.full(len(rows), 1 / deals) if deals > 1 else None
    return (
        Examples(tuple(pair[0] for pair in pairs), target.codes[rows].astype(np.int64), labels, weights),
        Examples(tuple(pair[1] for pair in pairs), parts.truth, labels),
    )


def _deals(codes: Codes, groups: Codes, deals: int, generator: np.random.Generator) -> Codes:
    return np.concatenate([deal(codes, groups, generator) for _ in range(deals)])


def _with(column: EncodedColumn, codes: Codes) -> EncodedColumn:
    return EncodedColumn(column.name, column.type, codes, column.dictionary)


def purity(groups: Codes, labels: Codes) -> tuple[float, float]:
    """Share of the rows in groups of one class, and the largest share that one class has in a group.

    Examples
    --------
    >>> purity(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    (0.5, 1.0)
    """
    classes = int(labels.max(initial=0)) + 1
    cells = groups.astype(np.int64) * classes + labels
    counts: npt.NDArray[np.int64] = np.bincount(cells, minlength=(int(groups.max()) + 1) * classes).reshape(-1, classes)
    sizes, most = counts.sum(axis=1), counts.max(axis=1)
    return float(sizes[most == sizes].sum() / sizes.sum()), float((most / np.maximum(sizes, 1)).max())


LEARNERS = ("c45", "nb", "logistic", "boosting")
SEED = 20_261_116
"""Of the splits that are reported. The method was chosen on splits of seed 1."""


def subject_of(table: str, known: str, data: Path | None = None, rows: int | None = None) -> Subject:
    """A data set by name, complete rows only."""
    dataset = find_dataset(table)
    named = find_table(table, data, lambda _said: None)
    wanted = list(dataset.quasi_identifiers(known))
    return read_subject(named, target=dataset.target, quasi_identifiers=wanted, complete=True, rows=rows, seed=SEED)


@dataclass(eq=False)
class Bench:
    """The rows of one split, and what cells on it share."""

    subject: Subject
    repetition: int
    fold: int
    learners: Sequence[str] = LEARNERS
    _prepared: dict[str, PreparedRows] = field(default_factory=dict)

    def __post_init__(self) -> None:
        classes = self.subject.classes.codes.astype(np.int64)
        splits = FiveByTwo(self.repetition + 1).splits(classes, SEED)
        self.split = next(s for s in splits if (s.repetition, s.fold) == (self.repetition, self.fold))
        self.parts = self.subject.parts(self.split)
        self.known = without_unused(EncodedTable.of(self.parts.train[name] for name in self.subject.schema.encoded))

    def run(self, cell: Cell) -> Outcome:
        """The outcome of a cell; what cannot be done is said."""
        try:
            return self._run(cell)
        except IncrowdError as error:
            return Outcome(status=f"{type(error).__name__}: {error}")

    def _run(self, cell: Cell) -> Outcome:
        parts, schema = self.parts, self.subject.schema
        if cell.method == UNPROTECTED:
            return self._learned(*feed_unprotected(parts))
        if cell.method == BINNED:
            nobody = np.arange(parts.train.height, dtype=np.int32)
            return self._learned(*feed_counts(parts, self._bins(cell.k), (), nobody, deals=1))
        if cell.method == KADET:
            scores, _ = publish_and_score(parts, schema, cell.k, {"require": cell.besides} if cell.besides else {})
            return Outcome({KADET: _figures(scores, parts)})
        requirement = asked_for(cell.besides, KAnonymity(cell.k)) if cell.besides else KAnonymity(cell.k)
        requirement.check_possible(self.known.height)
        randomness = SeededRandomness(seed_of(SEED, "release", *map(str, vars(cell).values())))
        population = EmbeddedEngine().population(self.known, schema, randomness)
        steps = self._steps(cell, population, requirement, randomness)
        return (
            self._from_counts(cell, steps, population)
            if cell.form == COUNTS
            else self._from_values(cell, steps, population, requirement, randomness)
        )

    def _bins(self, k: int) -> Bin:
        schema = self.subject.schema
        assert schema.target is not None
        return public_bins(self.known, schema.quasi_identifiers, self.known[schema.target], "class", k)

    def _steps(
        self, cell: Cell, population: EmbeddedPopulation, requirement: Requirement, randomness: SeededRandomness
    ) -> tuple[Step, ...]:
        """What the method decides; what Blend prepares is prepared once for every k."""
        choice = Choice.of(cell.method)
        method = suited(make_method(choice.method, dict(choice.parameters)), cell.form)
        if not isinstance(method, Blend):
            return method.decide(population, requirement, randomness)
        judge = Judge.of(requirement, population)
        like = str(Blend(method.guide, method.cuts, method.hide))
        if like not in self._prepared:
            chance = SeededRandomness(seed_of(SEED, "prepare", like, str(self.repetition), str(self.fold)))
            self._prepared[like] = method.prepare(population, judge.k, chance)
        return method.split(self._prepared[like], judge, randomness)

    def _from_counts(self, cell: Cell, steps: tuple[Step, ...], population: EmbeddedPopulation) -> Outcome:
        """Counts in the same public bins for every method, dealt out again."""
        names = self.subject.schema.quasi_identifiers
        plan = self._plan(cell, steps, KAnonymity(cell.k))
        after = applied(plan.steps, population)
        assert isinstance(after, EmbeddedPopulation)
        assert after.groups is not None
        groups: Codes = after.groups
        bins = next((Bin(step.cuts) for step in steps if isinstance(step, AsCounts)), None) or self._bins(cell.k)
        shown = next(step for step in steps if isinstance(step, Show))
        seated = any(isinstance(step, Seat) for step in steps)
        hidden = [n for n, form in zip(names, shown.groups[0].forms, strict=True) if isinstance(form, Suppressed)]
        seed = seed_of(SEED, "deal", *map(str, vars(cell).values()))
        fed = feed_counts(self.parts, bins, names, groups, hidden if seated else (), cell.deals, seed)
        labels = self.known[self.parts.target].codes
        pure, surest = purity(groups, labels)
        sizes = np.bincount(groups)
        facts = {"groups": len(sizes), "smallest": int(sizes.min()), "pure": pure, "surest": surest}
        return self._learned(*fed, {**facts, "hidden": len(hidden) if seated else 0})

    def _from_values(
        self,
        cell: Cell,
        steps: tuple[Step, ...],
        population: EmbeddedPopulation,
        requirement: Requirement,
        randomness: SeededRandomness,
    ) -> Outcome:
        """A release of plain values, fed as in every comparison; of sets no test row shows, a value is drawn."""
        engine, frame = EmbeddedEngine(), self.subject.frame
        if cell.form == STRICT:
            steps = formed(steps, STRICT, population, requirement)
        plan = engine.settle(self._plan(cell, steps, requirement), population)
        draft = engine.draft(plan, population, frame[self.split.train], randomness)
        feeding = Feeding(sets="auto") if find_method(plan.method).generalizes else Feeding(sets="draw")
        fed = feed_release(self.parts, plan, draft, frame[self.split.test], feeding, seed_of(SEED, "feed"))
        names = [column.name for column in plan.written if column.source in plan.names]
        groups = np.unique(draft.frame.select(names).hash_rows().to_numpy(), return_inverse=True)[1]
        pure, surest = purity(groups.astype(np.int32), self.known[self.parts.target].codes[draft.origin])
        return self._learned(*fed, {"shown": plan.share_of_cells_shown, "pure": pure, "surest": surest})

    def _plan(self, cell: Cell, steps: tuple[Step, ...], requirement: Requirement) -> ReleasePlan:
        method = Choice.of(cell.method).method
        return ReleasePlan(method, (), requirement, self.subject.schema, self.known.height, steps)

    def _learned(self, train: Examples, test: Examples, facts: dict[str, float] | None = None) -> Outcome:
        scores = {}
        for name in self.learners:
            try:
                scores[name] = _figures(find_learner(name).fit(train, 1).scores(test), self.parts)
            except (IncrowdError, ValueError, ArithmeticError, np.linalg.LinAlgError):
                continue
        return Outcome(scores, facts or {})


def _figures(scores: Numbers, parts: Parts) -> tuple[float, float | None]:
    reached = quality(scores, parts.truth)
    return reached.accuracy, None if math.isnan(reached.auc) else reached.auc


def try_cells(cells: Sequence[Cell], path: Path, data: Path | None, rows: int | None) -> int:
    """Try the cells of one split and keep each outcome as it is known; returns how many there were."""
    first = cells[0]
    bench = Bench(subject_of(first.table, first.known, data, rows), first.repetition, first.fold)
    for cell in cells:
        keep(path, cell, bench.run(cell))
    return len(cells)


def try_all(
    bundles: Sequence[Sequence[Cell]],
    path: Path,
    data: Path | None = None,
    rows: int | None = None,
    jobs: int = 1,
    tell: Callable[[str], Any] = print,
) -> None:
    """Try bundles of cells, each on one split, in this process or in several."""
    total, done = sum(map(len, bundles)), 0
    if jobs == 1:
        for cells in bundles:
            done += try_cells(cells, path, data, rows)
            tell(f"{done} of {total} cells")
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for one in as_completed([pool.submit(try_cells, cells, path, data, rows) for cells in bundles]):
            done += one.result()
            tell(f"{done} of {total} cells")
