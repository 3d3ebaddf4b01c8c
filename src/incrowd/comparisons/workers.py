"""Trials on several cores: processes of our own, fed through pipes, so that no raw row is written to a disk.

Plain processes rather than ``multiprocessing``: a user's script needs no main guard, and a notebook works, too.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import incrowd
from incrowd.comparisons.trial import Laboratory, Result, Trial
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


if __name__ == "__main__":
    serve_trials()
