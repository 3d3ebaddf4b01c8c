"""A process that reads damaged files, and may die of one. A program for ``quality.fuzz``.

    python -m quality.worker READER FOLDER                    writes the valid files into the folder
    python -m quality.worker READER FOLDER SEED FIRST LAST    reads the files of these cases

Before a case it prints the number of the case; after it, the number and the trouble, if there is any.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from quality.readers import READERS, Seed
from quality.trial import MOST_SECONDS, damaged, judge


def main(name: str, folder: str, *numbers: str) -> None:
    """Make the files, or read the damaged ones."""
    reader, place = READERS[name], Path(folder)
    if not numbers:
        for number, valid in enumerate(reader.seeds()):
            (place / f"{number:03}{valid.ending}").write_bytes(valid.data)
        return
    seed, first, last = map(int, numbers)
    seeds = valid_files(place)
    replies = _be_quiet()
    with TemporaryDirectory(prefix="incrowd-fuzz-") as scratch:
        for valid in seeds:
            reader.read(_put(scratch, valid.ending, valid.data))
        for case in range(first, last):
            os.write(replies, f"{case}\n".encode())
            path = _put(scratch, *damaged(reader, seeds, seed, case))
            _limit(MOST_SECONDS)
            trouble = judge(reader, path)
            _limit(0)
            if trouble:
                os.write(replies, f"{case} {trouble}\n".encode())


def _limit(seconds: float) -> None:
    """End this process, whatever holds it, when it has worked so long, or waited much longer."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 12 * seconds)


def valid_files(folder: Path) -> list[Seed]:
    """The valid files that were written into a folder."""
    return [Seed(file.name[3:], file.read_bytes()) for file in sorted(folder.iterdir())]


def _put(folder: str, ending: str, data: bytes) -> Path:
    path = Path(folder, f"case{ending}")
    path.write_bytes(data)
    return path


def _be_quiet() -> int:
    """Libraries print where they panic, to nowhere; no core is left; what is not foreseen is not hidden.

    Gives the descriptor of what was standard output.
    """
    replies, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["INCROWD_DEBUG"] = "1"
    return replies


if __name__ == "__main__":
    main(*sys.argv[1:])
