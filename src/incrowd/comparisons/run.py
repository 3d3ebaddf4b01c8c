"""Compare methods by what classifiers learn from their releases, on any table.

::

    question -> prepare (read, time a few small trials, choose a protocol) -> run (trials on all cores) -> Comparison
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

from incrowd.comparisons.choices import Choice, choices, compared_methods, learner_names, own_learners, possible_ks
from incrowd.comparisons.comparison import Comparison, Results, digest_of, fingerprints, opened
from incrowd.comparisons.feeding import Feeding
from incrowd.comparisons.protocol import FiveByTwo, Protocol, find_protocol, protocol_by
from incrowd.comparisons.recommend import laboratory_by_rows, trials_by_rows
from incrowd.comparisons.scores import ACCURACY, PERSON_ACCURACY, Measure, find_measure
from incrowd.comparisons.subject import Subject, discretized, find_table, read_subject
from incrowd.comparisons.trial import Laboratory, Result, Setup, Trial, learners_of
from incrowd.comparisons.workers import STARTUP, Cost, measure_cost, run_trials
from incrowd.errors import ParameterError, guarded, named_option
from incrowd.methods.catalog import MethodOrName
from incrowd.tables.options import Wishes
from incrowd.tables.recipe import Recipe, beside_recipe, recipe_of
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.option import nearest, options_of
from incrowd.vocabulary.persons import PersonOptions
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import NOT_RELEASED, Role

_WISHES = tuple(one.name for one in options_of(Wishes))
_PREFERENCES = ("weights", "at_most", "apart", "lose")
LEARNERS = ("c45", "nb", "logistic")
MOST_ROWS = 60_000
BUDGET, AT_LEAST = 80.0, 0.3
"""Seconds that a comparison may take where nobody says how often to repeat it, and the share of them that is left for
trials however long the timing has taken: at the first run kernels are compiled."""

TRUST = 0.2
"""How much a guess of what trials cost counts, beside what they turn out to cost: as this share of them."""


@dataclass(frozen=True)
class Step:
    """How far a comparison is: what is done now, how many trials are finished, and the seconds left, if known."""

    what: str
    done: int = 0
    total: int = 0
    left: float | None = None


Watcher = Callable[[Step], None]


@dataclass(frozen=True)
class Question:
    """What to compare. What is None is chosen to fit the table."""

    methods: Sequence[MethodOrName] | None = None
    ks: Sequence[int] | None = None
    learners: Sequence[Any] = LEARNERS
    protocol: Protocol | None = None
    feeding: Feeding = field(default_factory=Feeding)
    seed: int = 1
    discretize: str | None = None
    jobs: int | None = None  # processes; one for each core, if not given
    measure: str = ACCURACY.name
    wishes: Mapping[str, Any] = field(default_factory=dict)  # what releases keep beside k, and how they show it

    def __post_init__(self) -> None:
        find_measure(self.measure)
        choices(self.methods or (), self.preferences, self.form)
        learner_names(self.learners)
        for k in self.ks or ():
            KAnonymity(k)
        if not self.learners:
            raise ParameterError("Name at least one learner, for instance c45.")
        if self.jobs is not None and self.jobs < 1:
            raise ParameterError("jobs must be a whole number of at least 1.")
        Setup(self.protocol or FiveByTwo(), self.feeding, self.seed, self.discretize)

    @property
    def preferences(self) -> Preferences:
        """Weights and limits."""
        return Preferences(**{name: self.wishes[name] for name in _PREFERENCES if name in self.wishes})

    @property
    def form(self) -> str | None:
        """The form that groups are released in; None: as the methods say."""
        return self.wishes.get("form")

    @property
    def cores(self) -> int:
        """How many processes to use."""
        if self.jobs is not None:
            return self.jobs
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, eq=False)
class Prepared:
    """A comparison that is ready to run: its trials, and what they will cost."""

    laboratory: Laboratory
    trials: tuple[Trial, ...]
    cost: Cost | None
    jobs: int
    measure: Measure = ACCURACY

    @property
    def seconds(self) -> float | None:
        """How long all trials will take, roughly."""
        return (
            None if self.cost is None else self.cost.whole(self.trials, self.laboratory.subject.table.height, self.jobs)
        )


class PersonsAndWishes(PersonOptions, Wishes, total=False):
    """Whose rows they are, and what is rather kept, as of a release."""


@guarded
def compare(
    table: Any,
    *,
    target: str | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    drop: Iterable[str] | None = None,
    recipe: Recipe | str | Path | None = None,
    methods: Sequence[MethodOrName] | None = None,
    ks: Sequence[int] | int | None = None,
    learners: Sequence[Any] = LEARNERS,
    protocol: Any = None,
    groups: Any = None,
    time: Any = None,
    feeding: Feeding | None = None,
    discretize: str | None = None,
    hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
    reading: Mapping[str, Any] | None = None,
    complete: bool = False,
    rows: int | None = MOST_ROWS,
    data: Path | None = None,
    to: str | Path | None = None,
    seed: int = 1,
    jobs: int | None = None,
    measure: str = ACCURACY.name,
    progress: Watcher | None = None,
    **wishes: Unpack[PersonsAndWishes],
) -> Comparison:
    """Release a part of the table by several methods, learn from each release, and test on the other part.

    Parameters
    ----------
    table
        A path, a pandas, polars or PyArrow table, or the name of a data set.
    target
        The class to predict.
    quasi_identifiers
        The columns an attacker may know; if not given, those that the draft of the schema suggests.
    drop
        Columns to leave out, beside those that look like identifiers.
    recipe
        A recipe, or its file; what is said beside it wins over what it says.
    methods, ks, learners
        What to compare, by name, see ``incrowd methods`` and ``incrowd learners``; or methods and learners as objects,
        among them any classifier like scikit-learn's.
    protocol
        How rows are split: a text such as ``"10-fold"``, one of :mod:`incrowd.comparisons.protocol`, or a splitter of
        scikit-learn; chosen by what it costs, if not given.
    groups
        A column, or a value for each row: rows of a group are never in both parts of a split.
    time
        A column of dates or numbers, or a value for each row: the past is learned from, what followed is tested on.
    feeding
        How learners take sets, intervals and bins, see :mod:`incrowd.comparisons.feeding`.
    discretize
        ``"train"`` or ``"before"``, see :class:`incrowd.comparisons.trial.Setup`.
    hierarchies
        By column.
    reading
        delimiter, encoding, missing, for text files.
    complete
        Use only rows in which nothing is missing.
    rows
        Use at most so many rows, drawn at random; None for all.
    data
        A folder with the data sets.
    to
        A folder: results are kept there as they come, and an interrupted comparison goes on from them.
    seed
        Of everything that is drawn. Nothing is published here, so there is one.
    jobs
        Processes; one for each core, if not given.
    measure
        What methods are compared by: accuracy, balanced-accuracy, auc, log-loss, or with a person column
        person-accuracy, in which everybody counts once. The results have all of them.
    progress
        Called with a :class:`Step` whenever there is something to tell.
    person, person_ids, missing_persons
        The column that says whose row it is, and how it is read, as for :func:`incrowd.release`: persons are split, and
        releases keep k persons. Nobody is learned from and tested on; splits that would do so are refused.
    keep_link, known_rows, count_known, order
        Releases in which persons can be followed, as for :func:`incrowd.release`: k persons share a history, or any so
        many rows of one, and the methods are those that promise it.
    known_together, require, class_sensitive, purest, population, rarest, form, redraw, bins, weights, at_most, apart, \
    lose
        As for :func:`incrowd.release`: kept in every trial, by the methods that can.

    Examples
    --------
    >>> from incrowd.comparisons.datasets.invented import make_patients
    >>> from incrowd.comparisons.protocol import FixedSplit
    >>> comparison = compare(make_patients(600), target="readmitted", methods=["mondrian"], ks=[5], learners=["nb"],
    ...                      protocol=FixedSplit(), jobs=1)
    >>> comparison.results.select("method", "k", "learner").rows()
    [('unprotected', 1, 'nb'), ('majority', 1, 'majority'), ('mondrian', 5, 'nb')]
    """
    if wishes.keys() & {"with_table", "key_column"}:
        raise ParameterError("A comparison takes one table. Leave with_table and key_column out.")
    if unknown := wishes.keys() - PersonsAndWishes.__annotations__.keys():
        options = {*inspect.signature(compare).parameters, *PersonsAndWishes.__annotations__} - {"wishes"}
        hint = nearest(min(unknown), {name: repr(name) for name in options})
        raise ParameterError(f"A comparison has no option {min(unknown)!r}.{hint} See help(incrowd.compare).")
    watch = progress or (lambda _step: None)
    named: dict[str, Any] = {"target": target, "quasi_identifiers": quasi_identifiers, "drop": drop, "recipe": recipe}
    named |= {"ks": [ks] if isinstance(ks, int) else ks, "hierarchies": hierarchies, "reading": reading}
    named |= {name: None if value is False else value for name, value in wishes.items()}
    prepared = prepare_table(
        table,
        named,
        {"complete": complete, "rows": rows, "seed": seed, "groups": groups, "time": time},
        data,
        watch,
        timed=protocol is None,
        methods=methods,
        learners=learners,
        protocol=None if protocol is None else find_protocol(protocol),
        feeding=feeding or Feeding(),
        seed=seed,
        discretize=discretize,
        jobs=jobs,
        measure=measure,
    )
    return run(prepared, None if to is None else Path(to), watch)


def prepare_table(
    table: Any,
    named: Mapping[str, Any],
    how: Mapping[str, Any],
    data: Path | None,
    watch: Watcher,
    *,
    timed: bool = True,
    **question: Any,
) -> Prepared:
    """A comparison on a table: ``named`` are its options that a recipe may say as well, ``how`` those of its rows.

    Where only sets of columns that are known together are named, their columns are the quasi-identifiers.
    """
    stated, _ = beside_recipe(named, _stated)
    wishes = {name: stated.pop(name) for name in _WISHES if name in stated}
    if (together := wishes.get("known_together")) and stated.get("quasi_identifiers") is None:
        stated["quasi_identifiers"] = list(dict.fromkeys(name for names, _ in together for name in names))
    asks = Question(ks=stated.pop("ks", None), wishes=wishes, **question)
    watch(Step("reading"))
    file = find_table(table, data, lambda sentence: watch(Step(sentence)))
    return prepare(read_subject(file, **stated, **how), asks, watch, timed=timed)


def _stated(recipe: Recipe) -> dict[str, Any]:
    """What a recipe says of a comparison."""
    stay = recipe.named(Role.PRIVATE, Role.SENSITIVE)
    columns = {
        name: {key: settings[key] for key in ("type", "order") if key in settings}
        | ({"role": settings["role"]} if name in stay else {})
        for name, settings in recipe.columns.items()
    }
    return {
        "target": recipe.target,
        "quasi_identifiers": recipe.known,
        "drop": recipe.named(*NOT_RELEASED, Role.PSEUDONYM),
        "columns": {name: settings for name, settings in columns.items() if settings},
        "hierarchies": recipe.hierarchies,
        "reading": recipe.reading,
        "ks": [recipe.k],
        "person": next(iter(recipe.named(Role.PERSON)), None),
        "person_ids": recipe.person_ids,
        "missing_persons": recipe.missing_persons,
        **{name: getattr(recipe, name) or None for name in ("keep_link", "known_rows", "count_known", "order")},
        **{name: getattr(recipe, name) for name in _WISHES},
        "known_together": [(known["columns"], known.get("k", recipe.k)) for known in recipe.known_together],
        "require": recipe.require or None,
    }


def prepare(subject: Subject, question: Question, watch: Watcher, *, timed: bool = True) -> Prepared:
    """Settle what is open, and find out what it costs."""
    begun = perf_counter()
    if question.discretize == "before":
        subject = discretized(subject)
    protocol = protocol_by(question.protocol, subject.split_by)
    if question.measure == PERSON_ACCURACY.name and subject.persons is None:
        raise ParameterError(f"A mean over persons needs to know whose rows they are: {named_option(person='COLUMN')}.")
    recipe = recipe_of({"target": subject.target, **question.wishes})  # type: ignore[typeddict-item]
    setup = Setup(
        protocol or FiveByTwo(1, stratified=True),
        question.feeding,
        question.seed,
        question.discretize,
        recipe,
        own_learners(question.learners),
    )
    subject = subject.under(recipe)
    question.preferences.check_columns(subject.schema)
    trained = [split.train for split in Laboratory(subject, setup).splits.values()]
    people = min(len(rows) if subject.persons is None else subject.persons.take(rows).count for rows in trained)
    ks = tuple(sorted(set(question.ks))) if question.ks else possible_ks(people)
    chosen = compared_methods(question.methods, subject.schema, subject.followed, question.preferences, question.form)
    learners, jobs = learner_names(question.learners), question.cores
    cost = None
    if timed:
        cost = measure_cost(subject, setup, chosen, ks[0], learners, lambda name: watch(Step(f"timing {name}")))
    grid = _Grid(subject, chosen, ks, learners)
    if protocol is None and cost is not None:
        budget = max(AT_LEAST * BUDGET, BUDGET - (perf_counter() - begun))
        setup = _affordable(grid, setup, cost, jobs, budget)
    trials, height = grid.trials(setup), subject.table.height
    if question.jobs is None and cost is not None and cost.whole(trials, height, 1) <= cost.whole(trials, height, jobs):
        jobs = 1
    return Prepared(Laboratory(subject, setup), trials, cost, jobs, find_measure(question.measure))


def run(prepared: Prepared, folder: Path | None = None, watch: Watcher = lambda _step: None) -> Comparison:
    """Run the trials that a former run has not left in the folder."""
    begun = perf_counter()
    laboratory = prepared.laboratory
    digest = digest_of(laboratory.subject) if folder else ""
    with opened(folder) as kept:
        runs = _results(prepared, kept, digest, watch)
        comparison = Comparison.of(laboratory, runs, perf_counter() - begun, prepared.measure)
        if laboratory.subject.persons is not None:
            by_rows = laboratory_by_rows(laboratory)
            trials = trials_by_rows(by_rows, prepared.trials, comparison.recommendation)
            beside = replace(prepared, laboratory=by_rows, trials=trials)
            comparison = replace(
                comparison,
                row_runs=tuple(_results(beside, kept, digest, watch)),
                seconds=perf_counter() - begun,
            )
    if folder is not None:
        comparison.save(folder)
    return comparison


def _results(prepared: Prepared, kept: Results, digest: str, watch: Watcher) -> list[Result]:
    """The results of all trials; those that are not kept are run."""
    laboratory = prepared.laboratory
    wanted = {trial.name: fingerprints(digest, laboratory, trial) for trial in prepared.trials}
    open_trials = [_unfinished(trial, wanted[trial.name], kept) for trial in prepared.trials]
    waiting = [trial for trial in open_trials if trial is not None]
    clock = _Clock(prepared, waiting, watch)
    clock.tell("splitting by rows, to see how wrong it is" if laboratory.setup.by_rows else "comparing")
    for trial, results in run_trials(laboratory, waiting, prepared.jobs):
        for result in results:
            kept.add(wanted[trial.name][result.learner], result)
        clock.finished(trial)
    return [kept.by_fingerprint[mark] for trial in prepared.trials for mark in wanted[trial.name].values()]


@dataclass(frozen=True, eq=False)
class _Grid:
    """All combinations of what is compared."""

    subject: Subject
    methods: tuple[Choice, ...]
    ks: tuple[int, ...]
    learners: tuple[str, ...]

    def trials(self, setup: Setup) -> tuple[Trial, ...]:
        """All trials, split by split, so that an interrupted run has compared all methods on fewer splits."""
        return tuple(
            Trial(choice, k, repetition, fold, self.learners)
            for repetition, fold in Laboratory(self.subject, setup).splits
            for choice in self.methods
            for k in ((1,) if choice.is_standard else self.ks)
        )


def _affordable(grid: _Grid, setup: Setup, cost: Cost, jobs: int, budget: float) -> Setup:
    """The setup with as many repetitions as the seconds allow."""
    for repetitions in (5, 3, 2):
        often = replace(setup, protocol=FiveByTwo(repetitions, stratified=True))
        if cost.whole(grid.trials(often), grid.subject.table.height, jobs) <= budget:
            return often
    return setup


def _unfinished(trial: Trial, wanted: Mapping[str, str], kept: Results) -> Trial | None:
    """The trial with the learners that have no result yet; None if all have."""
    left = [learner for learner in learners_of(trial) if wanted[learner] not in kept.by_fingerprint]
    if not left:
        return None
    return trial if trial.choice.own_learner else replace(trial, learners=tuple(left))


@dataclass(eq=False)
class _Clock:
    """Tells how far the run is; the estimate is corrected more and more by how long things really take."""

    prepared: Prepared
    waiting: Sequence[Trial]
    watch: Watcher

    def __post_init__(self) -> None:
        self._begun = perf_counter()
        self._left = {trial.name: self._guess(trial) for trial in self.waiting}
        self._whole = sum(self._left.values())

    def _guess(self, trial: Trial) -> float:
        rows, cost = self.prepared.laboratory.subject.table.height, self.prepared.cost
        return 1.0 if cost is None else cost.of(str(trial.choice), rows)

    def finished(self, trial: Trial) -> None:
        """Note a trial, and tell."""
        self._left.pop(trial.name)
        self.tell(f"{trial.choice}, k={trial.k}")

    def tell(self, what: str = "comparing") -> None:
        """How far it is."""
        total = len(self.prepared.trials)
        self.watch(Step(what, total - len(self._left), total, self._remaining()))

    def _remaining(self) -> float | None:
        """Seconds left: guessed seconds, times how much slower they have turned out to be so far."""
        left, jobs = sum(self._left.values()), self.prepared.jobs
        worked, loading = self._whole - left, STARTUP if jobs > 1 else 0.0
        spent = max(0.0, perf_counter() - self._begun - loading) * jobs
        trust = 0.0 if self.prepared.cost is None else self._whole * TRUST
        if worked + trust == 0:
            return None
        return left / jobs * (spent + trust) / (worked + trust)
