"""A process that runs trials: ``python -m incrowd.lab.worker``, started by :mod:`incrowd.lab.workers`.

It reads the laboratory once and then trials, one after the other, and answers each with its results, all pickled. It
ends when its input ends, so it does not outlive the process that started it by more than a trial.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys


def main() -> None:
    """Answer trials until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr
    tasks = sys.stdin.buffer
    laboratory = pickle.load(tasks)
    while True:
        try:
            trial = pickle.load(tasks)
        except EOFError:
            return
        try:
            answer = (True, laboratory.run(trial))
        except Exception as error:  # told to the parent, which raises it
            answer = (False, error)
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except BrokenPipeError:  # the parent is gone: nobody wants the answer
            os._exit(1)  # without the last flush of Python, which would complain once more


if __name__ == "__main__":
    main()
