"""What a comparison costs, before it starts: a few small trials, timed and extended to all rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd.comparisons.choices import Choice
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.trial import Laboratory, Setup, Trial

SIZES = (600, 2400)  # rows of the two timings: the second is four times the first, so growth shows
STARTUP = 4.0
"""Seconds a process needs to load the libraries and the compiled kernels."""


@dataclass(frozen=True)
class Cost:
    """Seconds of a trial of each method: a fixed part, and one for each row that is released or tested."""

    lines: dict[str, tuple[float, float]]

    def of(self, method: str, rows: int) -> float:
        """Seconds of one trial."""
        fixed, slope = self.lines[method]
        return fixed + slope * rows

    def whole(self, trials: Sequence[Trial], rows: int, jobs: int) -> float:
        """Seconds of all trials on so many cores."""
        work = [self.of(str(trial.choice), rows) for trial in trials]
        if not work:
            return 0.0
        return max(sum(work) / jobs, max(work)) + (STARTUP if jobs > 1 else 0.0)


def measure_cost(
    subject: Subject,
    setup: Setup,
    methods: Sequence[Choice],
    k: int,
    learners: Sequence[str],
    tell: Callable[[str], None],
) -> Cost:
    """Time a trial of each method on few and on more rows. It also loads, or compiles, every kernel once."""
    lines = {}
    for choice in methods:
        tell(str(choice))
        times = [(_rows(size, subject), _timed(subject, setup, choice, k, learners, size)) for size in SIZES]
        lines[str(choice)] = _line(times)
    return Cost(lines)


def _rows(size: int, subject: Subject) -> int:
    return min(size, subject.table.height)


def _timed(subject: Subject, setup: Setup, choice: Choice, k: int, learners: Sequence[str], size: int) -> float:
    rows = _rows(size, subject)
    small = subject.take(np.arange(rows) * (subject.table.height // rows))
    laboratory = Laboratory(small, replace(setup, protocol=FixedSplit(0.5)))
    people = small.table.height if small.persons is None else small.persons.count
    trial = Trial(choice, min(k, max(2, people // 8)), 0, 0, tuple(learners))
    if size == SIZES[0]:
        laboratory.run(trial)
    begun = time.perf_counter()
    laboratory.run(trial)
    return time.perf_counter() - begun


def _line(times: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """The line through two timings; neither part is negative."""
    (few, short), (many, long) = times
    slope = max(0.0, (long - short) / (many - few)) if many > few else 0.0
    return max(0.0, short - slope * few), slope


def in_words(seconds: float) -> str:
    """A duration, roughly."""
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 90 * 60 else f"{seconds / 3600:.1f} hours"
