"""From an experiment to laboratories and their trials: each table is read once, and each trial is run once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.reproduce.experiment import Case, Experiment, Part, Table
from incrowd.comparisons.choices import Choice, learner_names
from incrowd.comparisons.datasets.catalog import Dataset, find_dataset, load
from incrowd.comparisons.run import Step, Watcher
from incrowd.comparisons.subject import Subject, discretized, understand_table
from incrowd.comparisons.trial import Laboratory, Setup, Trial
from incrowd.errors import ParameterError
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.hierarchy import Hierarchy


@dataclass(frozen=True)
class Options:
    """How an experiment is to be run.

    Parameters
    ----------
    quick
        Fewer splits, fewer k and fewer rows: minutes instead of hours.
    parts
        Only these tables or figures.
    learners
        Only these, each in place of the paper's learner of its kind.
    weka
        Weka's learners in place of ours, where there are some.
    splits
        Only so many of the protocol's splits, the first ones.
    seed, jobs
        As in :func:`incrowd.comparisons.run.compare`.
    """

    quick: bool = False
    parts: tuple[str, ...] | None = None
    learners: tuple[str, ...] | None = None
    weka: bool = False
    seed: int = 1
    jobs: int | None = None
    splits: int | None = None

    def __post_init__(self) -> None:
        if self.splits is not None and self.splits < 1:
            raise ParameterError("splits must be a whole number of at least 1.")
        if self.jobs is not None and self.jobs < 1:
            raise ParameterError("jobs must be a whole number of at least 1.")
        if self.weka and self.learners:
            raise ParameterError("--weka chooses the learners. Leave it out, or --learners.")

    @property
    def cores(self) -> int:
        """How many processes to use."""
        if self.jobs is not None:
            return self.jobs
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def command(self, experiment: str) -> str:
        """The command that asks for it; the folder with the data is not told.

        Examples
        --------
        >>> Options(quick=True, parts=("2", "3")).command("kactus")
        'python -m experiments reproduce kactus --quick --parts 2,3'
        """
        words = ["python -m experiments reproduce", experiment]
        words += ["--quick"] if self.quick else []
        words += [f"--parts {','.join(self.parts)}"] if self.parts else []
        words += [f"--learners {','.join(self.learners)}"] if self.learners else []
        words += ["--weka"] if self.weka else []
        words += [f"--splits {self.splits}"] if self.splits else []
        words += [f"--seed {self.seed}"] if self.seed != 1 else []
        return " ".join(words)


@dataclass(frozen=True, eq=False)
class Bench:
    """A table with its laboratory, and the trials to run there."""

    table: Table
    laboratory: Laboratory
    trials: tuple[Trial, ...]

    @property
    def rows(self) -> int:
        """Of the table."""
        return self.laboratory.subject.table.height


@dataclass(frozen=True, eq=False)
class Prepared:
    """An experiment that is ready to run."""

    experiment: Experiment
    options: Options
    parts: tuple[Part, ...]
    cases: tuple[Case, ...]
    benches: tuple[Bench, ...]

    @property
    def trials(self) -> int:
        """How many there are."""
        return sum(len(bench.trials) for bench in self.benches)

    def bench(self, table: Table) -> Bench:
        """The bench of a table."""
        return next(bench for bench in self.benches if bench.table == table)

    def learners(self, case: Case) -> tuple[str, ...]:
        """The learners of a case, as they were asked for."""
        return chosen_learners(self.experiment, self.options, case.learners)


def prepare(
    experiment: Experiment, options: Options, data: Path | None = None, watch: Watcher = lambda _step: None
) -> Prepared:
    """Read the tables and list the trials.

    Parameters
    ----------
    experiment, options
        What to run, and how.
    data
        A folder with the data sets; without one, as :func:`incrowd.comparisons.datasets.catalog.load` finds them.
    watch
        Is told what is done.
    """
    parts = experiment.chosen_parts(options.parts)
    _check_learners(experiment, options)
    names = {part.name for part in parts}
    cases = tuple(c for c in experiment.cases if c.part in names and chosen_learners(experiment, options, c.learners))
    tables = dict.fromkeys(case.table for case in cases)
    benches = []
    for table in tables:
        watch(Step(f"reading {table.dataset}"))
        subject = read_table(table, experiment, options, data, watch)
        protocol = table.protocol or (experiment.quick_protocol if options.quick else experiment.protocol)
        recipe = Recipe(known_together=[{"columns": list(known)} for known in table.together])
        laboratory = Laboratory(subject, Setup(protocol, experiment.feeding, options.seed, table.discretize, recipe))
        benches.append(Bench(table, laboratory, _trials(experiment, options, table, cases, laboratory)))
    return Prepared(experiment, options, parts, cases, tuple(benches))


def read_table(table: Table, experiment: Experiment, options: Options, data: Path | None, watch: Watcher) -> Subject:
    """The table of a case, with the columns and rows that are used."""
    dataset = find_dataset(table.dataset)
    path = load(dataset.name, data, lambda line: watch(Step(line)))
    used = named_columns(dataset, table.attributes)
    subject = understand_table(
        path,
        target=dataset.target,
        quasi_identifiers=named_columns(dataset, table.quasi_identifiers),
        identifiers=[name for name in dataset.attributes if name not in used],
        numeric=dataset.numeric,
        hierarchies=_hierarchies(table, dataset),
        complete=dataset.name in experiment.complete,
        rows=experiment.quick_rows if options.quick else None,
        seed=options.seed,
        name=dataset.name,
    )
    return discretized(subject) if table.discretize == "before" else subject


def named_columns(dataset: Dataset, names: str | tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a set of the catalog, or those that are named."""
    return dataset.quasi_identifiers(names) if isinstance(names, str) else names


def _hierarchies(table: Table, dataset: Dataset) -> dict[str, Hierarchy]:
    if not table.hierarchies:
        return {}
    every = table.hierarchies == "all"
    return {name: tree for name, tree in adult_hierarchies().items() if every or name not in dataset.numeric}


def _trials(
    experiment: Experiment, options: Options, table: Table, cases: Sequence[Case], laboratory: Laboratory
) -> tuple[Trial, ...]:
    """All trials on a table, split by split; what several cases ask for is asked once."""
    wanted: dict[tuple[Choice, int], dict[str, None]] = {}
    for case in cases:
        if case.table == table:
            for k in case.chosen_ks(options.quick):
                learners = chosen_learners(experiment, options, case.learners)
                wanted.setdefault((case.choice, k), {}).update(dict.fromkeys(learners))
    return tuple(
        Trial(choice, k, repetition, fold, tuple(learners))
        for repetition, fold in list(laboratory.splits)[: options.splits]
        for (choice, k), learners in wanted.items()
    )


def chosen_learners(experiment: Experiment, options: Options, usual: Iterable[str]) -> tuple[str, ...]:
    """The learners to run where the paper has the usual ones.

    A name chooses the paper's learner with the paper's parameters; another learner of the same column stands in for it.
    """
    if options.weka:
        return tuple(experiment.weka.get(name, name) for name in usual)
    if options.learners is None:
        return tuple(usual)
    own = {experiment.inducer(name): name for name in learner_names(options.learners)}
    return tuple(_chosen(own[column], name) for name in usual if (column := experiment.inducer(name)) in own)


def _chosen(name: str, usual: str) -> str:
    """The learner of that name, or the paper's own where the name is a word for it."""
    return usual if name == usual.partition("(")[0] else name


def _check_learners(experiment: Experiment, options: Options) -> None:
    for name in learner_names(options.learners or ()):
        if name not in experiment.inducers:
            known = ", ".join(experiment.inducers)
            raise ParameterError(f"{experiment.name} has no results for {name!r}. Learners there: {known}.")
