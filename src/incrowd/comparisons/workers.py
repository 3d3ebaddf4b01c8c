"""Trials on several cores: processes of our own, fed through pipes, so that no raw row is written to a disk.

Plain processes rather than ``multiprocessing``: a user's script needs no main guard, and a notebook works, too.

What a comparison costs, before it starts: a few small trials, timed and extended to all rows.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

import incrowd
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.trial import Laboratory, Result, Setup, Trial
from incrowd.errors import IncrowdError, ParameterError

Answer = tuple[Trial | None, list[Result] | BaseException]
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")


_ELSEWHERE = "Define its class in a module that can be imported, or use one process: jobs=1."


def run_trials(laboratory: Laboratory, trials: Sequence[Trial], jobs: int) -> Iterator[tuple[Trial, list[Result]]]:
    """The results of the trials as they are finished; with one job in this process, in their order.

    When the caller stops listening, or an error is raised, the processes are ended at once.
    """
    if jobs <= 1 or len(trials) <= 1 or _stays_here(laboratory, trials):
        for trial in trials:
            yield trial, laboratory.run(trial)
        return
    with _crew(laboratory, trials, min(jobs, len(trials))) as answers:
        for _ in trials:
            served, answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            assert served is not None
            yield served, answer


def _stays_here(laboratory: Laboratory, trials: Sequence[Trial]) -> bool:
    """Whether a method or a learner is of the user's own script or notebook, which other processes do not have."""
    methods = [trial.choice.entry.module for trial in trials if trial.choice.entry is not None]
    learners = [type(getattr(one, "classifier", one)).__module__ for one in laboratory.setup.own]
    return "__main__" in (*methods, *learners)


@contextmanager
def _crew(laboratory: Laboratory, trials: Sequence[Trial], jobs: int) -> Iterator[queue.Queue[Answer]]:
    """Processes that work through the trials; their answers."""
    waiting: queue.SimpleQueue[Trial] = queue.SimpleQueue()
    for trial in trials:
        waiting.put(trial)
    answers: queue.Queue[Answer] = queue.Queue()
    packed = _packed(laboratory)
    crew = [_started() for _ in range(jobs)]
    try:
        for process in crew:
            threading.Thread(target=_serve, args=(process, packed, waiting, answers), daemon=True).start()
        yield answers
    finally:
        for process in crew:
            process.kill()
        for process in crew:
            process.wait()


def _packed(laboratory: Laboratory) -> bytes:
    try:
        return pickle.dumps(laboratory)
    except Exception as error:  # whatever an object that was passed raises
        words = f"An object that was passed cannot be sent to other processes ({type(error).__name__})."
        raise ParameterError(f"{words} {_ELSEWHERE}") from None


def _started() -> subprocess.Popen[bytes]:
    """A worker that finds this very package, and all that this process finds, with one thread to itself."""
    here = str(Path(incrowd.__file__).parents[1])
    path = os.pathsep.join(dict.fromkeys([here, *filter(None, sys.path)]))
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(_ONE_THREAD, "1")}
    command = [sys.executable, "-P", "-m", "incrowd.comparisons.workers"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def _serve(
    process: subprocess.Popen[bytes], packed: bytes, waiting: queue.SimpleQueue[Trial], answers: queue.Queue[Answer]
) -> None:
    """Hand trials to one worker until none is left."""
    assert process.stdin is not None
    assert process.stdout is not None
    sent: Trial | None = None
    try:
        process.stdin.write(packed)
        while True:
            try:
                sent = waiting.get_nowait()
            except queue.Empty:
                process.stdin.close()
                return
            process.stdin.write(pickle.dumps(sent))
            process.stdin.flush()
            worked, answer = pickle.load(process.stdout)
            answers.put((sent, answer))
            if not worked:
                return
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        answers.put((sent, IncrowdError("A process of the comparison ended unexpectedly, for want of memory perhaps.")))


def serve_trials() -> None:
    """What a worker does: answer trials until the input ends.

    It reads the laboratory once and then trials, one after the other, and answers each with its results, all pickled.
    It does not outlive the process that started it by more than a trial.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr
    tasks = sys.stdin.buffer
    try:
        laboratory = pickle.load(tasks)
        while True:
            _send(_answered(laboratory, pickle.load(tasks)), answers)
    except EOFError:
        return
    except (AttributeError, ImportError) as error:
        words = f"An object that was passed cannot be imported by other processes ({type(error).__name__})."
        _send((False, ParameterError(f"{words} {_ELSEWHERE}")), answers)
        tasks.read()  # to its end, so that the parent is not left with a broken pipe


def _answered(laboratory: Laboratory, trial: Trial) -> tuple[bool, list[Result] | Exception]:
    try:
        return True, laboratory.run(trial)
    except Exception as error:  # told to the parent, which raises it
        return False, error


def _send(answer: tuple[bool, list[Result] | Exception], answers: BinaryIO) -> None:
    try:
        pickle.dump(answer, answers)
        answers.flush()
    except BrokenPipeError:  # the parent is gone: nobody wants the answer
        os._exit(1)  # without the last flush of Python, which would complain once more


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


if __name__ == "__main__":
    serve_trials()
