"""Running an experiment: trials on all cores, kept as they come, with the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from experiments.papers import printed
from experiments.reproduce.evidence import Cell, Printed, flagged, printed_cells
from experiments.reproduce.experiment import Case, Part
from experiments.reproduce.preparing import Bench, Prepared
from experiments.reproduce.reproduction import Reproduction
from incrowd.comparisons.comparison import Results, digest_of, fingerprints, opened
from incrowd.comparisons.run import Step, Watcher
from incrowd.comparisons.trial import DONE, Result, Trial, learners_of
from incrowd.comparisons.workers import STARTUP, Cost, measure_cost, run_trials

TRUST = 0.2
"""How much a guess of what trials cost counts, beside what they turn out to cost: as this share of them."""
Marks = dict[tuple[str, int, int, int], dict[str, str]]


@dataclass(frozen=True, eq=False)
class Work:
    """What is left to do on a bench, and what it costs; ``marks`` are the fingerprints of all trials."""

    bench: Bench
    marks: Marks
    waiting: tuple[Trial, ...]
    cost: Cost

    def seconds(self, trial: Trial) -> float:
        """Of one trial."""
        return self.cost.of(str(trial.choice), self.bench.rows)

    def whole(self, jobs: int) -> float:
        """Seconds of all that is left."""
        return self.cost.whole(self.waiting, self.bench.rows, jobs)


def run(
    prepared: Prepared,
    folder: Path | None = None,
    watch: Watcher = lambda _step: None,
    announce: Callable[[int, float], None] = lambda _trials, _seconds: None,
) -> Reproduction:
    """Run the trials that a former run has not left in the folder, and write the pages there.

    ``announce`` is told, before it starts, how many trials are left and how many seconds they will take.
    """
    jobs = prepared.options.cores
    with opened(folder) as kept:
        works = work_left(prepared, kept, folder is not None, watch)
        announce(sum(len(work.waiting) for work in works), sum(work.whole(jobs) for work in works))
        clock = _Clock(works, prepared.trials, jobs, watch)
        for work in works:
            for trial, results in run_trials(work.bench.laboratory, work.waiting, jobs):
                for result in results:
                    kept.add(work.marks[trial.name][result.learner], result)
                clock.finished(work, trial)
    watch(Step("looking at the results", prepared.trials, prepared.trials))
    cells = tuple(cell for part in prepared.parts for cell in _cells(prepared, part, works, kept))
    facts = prepared.experiment.look(prepared) if prepared.experiment.look else {}
    reproduction = Reproduction.of(prepared, cells, facts)
    if folder is not None:
        reproduction.save(folder)
    return reproduction


def work_left(prepared: Prepared, kept: Results, on_disk: bool, watch: Watcher) -> list[Work]:
    """What is left on each bench. Where something is, a few small trials are timed."""
    return [_work(bench, kept, on_disk, watch) for bench in prepared.benches]


def _work(bench: Bench, kept: Results, on_disk: bool, watch: Watcher) -> Work:
    laboratory = bench.laboratory
    digest = digest_of(laboratory.subject) if on_disk else repr(bench.table)
    marks = {trial.name: fingerprints(digest, laboratory, trial) for trial in bench.trials}
    waiting = tuple(_unfinished(bench.trials, marks, kept))
    choices = dict.fromkeys(trial.choice for trial in waiting)
    learners = dict.fromkeys(name for trial in waiting for name in trial.learners)
    k = min((trial.k for trial in waiting if not trial.choice.is_standard), default=1)

    def tell(method: str) -> None:
        watch(Step(f"timing {method} on {bench.table.dataset}"))

    cost = measure_cost(laboratory.subject, laboratory.setup, tuple(choices), k, tuple(learners), tell)
    return Work(bench, marks, waiting, cost)


def _unfinished(trials: Sequence[Trial], marks: Marks, kept: Results) -> Iterator[Trial]:
    """The trials, with the learners that have no result yet."""
    for trial in trials:
        left = [name for name in learners_of(trial) if marks[trial.name][name] not in kept.by_fingerprint]
        if left:
            yield trial if trial.choice.own_learner else replace(trial, learners=tuple(left))


@dataclass(eq=False)
class _Clock:
    """Tells how far the run is; guesses are corrected more and more by how long things really take."""

    works: Sequence[Work]
    total: int
    jobs: int
    watch: Watcher

    def __post_init__(self) -> None:
        self._begun = perf_counter()
        self._open = sum(len(work.waiting) for work in self.works)
        self._whole = self._left = sum(work.seconds(trial) for work in self.works for trial in work.waiting)
        self._starting = STARTUP * sum(bool(work.waiting) for work in self.works) if self.jobs > 1 else 0.0
        self.tell("starting")

    def finished(self, work: Work, trial: Trial) -> None:
        """Note a trial, and tell."""
        self._open -= 1
        self._left -= work.seconds(trial)
        self.tell(f"{work.bench.table.dataset}: {trial.choice}, k={trial.k}")

    def tell(self, what: str) -> None:
        """How far it is."""
        worked, trust = self._whole - self._left, TRUST * self._whole
        begun = worked / self._whole if self._whole else 1.0
        spent = max(0.0, perf_counter() - self._begun - begun * self._starting) * self.jobs
        slower = (spent + trust) / (worked + trust) if worked + trust else 1.0
        left = max(0.0, self._left) / self.jobs * slower + (1 - begun) * self._starting
        self.watch(Step(what, self.total - self._open, self.total, left))


def _cells(prepared: Prepared, part: Part, works: Sequence[Work], kept: Results) -> list[Cell]:
    """The cells of a part, beside what was printed, with their flags."""
    known = {} if part.printed is None else printed_cells(part, printed(part.printed))
    by_table = {work.bench.table: work for work in works}
    cells = [
        _cell(prepared, case, learner, k, by_table[case.table], kept, known)
        for case in prepared.cases
        if case.part == part.name
        for learner in prepared.learners(case)
        for k in case.chosen_ks(prepared.options.quick)
    ]
    return flagged(cells, part)


def _cell(
    prepared: Prepared,
    case: Case,
    learner: str,
    k: int,
    work: Work,
    kept: Results,
    known: dict[tuple[str, str, str, str, int], Printed],
) -> Cell:
    experiment = prepared.experiment
    own = case.choice.own_learner or learner
    results: list[Result] = [
        kept.by_fingerprint[work.marks[trial.name][own]]
        for trial in work.bench.trials
        if trial.choice == case.choice and trial.k == k
    ]
    place = (case.part, case.label, experiment.inducer(learner), case.algorithm, k)
    failed = [result.status for result in results if result.status != DONE]
    return Cell(
        *place,
        tuple(result for result in results if result.status == DONE),
        failed[0] if failed else "",
        known.get(place),
        doubt=experiment.doubts.get(place, ""),
        measure=experiment.measure,
    )
