"""What a run may use: memory, cores, and a folder for what does not fit into memory."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from incrowd.errors import ParameterError

_MADE = 50_000  # objects between two looks for garbage; Python's 700 take a sixth of the time of a large release


@contextmanager
def looking_rarely() -> Iterator[None]:
    """Look for garbage that refers to itself less often: plans and trees have a million objects, and none of it."""
    before = gc.get_threshold()
    gc.set_threshold(max(_MADE, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def give_back() -> None:
    """Give memory that was freed back to the system, which allocators else keep for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
PROGRAM = 400 * 10**6
"""What the program and its libraries take before the first row: 350 MB are measured, and allocators keep some."""
LEAST = 500 * 10**6
"""The smallest limit that can be kept."""


@dataclass(frozen=True)
class Resources:
    """Limits of a run."""

    memory: int | None = None  # bytes of memory that the run may use; ``None`` if only the machine limits it
    threads: int = field(default_factory=lambda: cores())  # how many cores work at the same time
    scratch: Path | None = None  # a private folder for what does not fit into memory; it goes when the run ends
    program: int = 0  # bytes of the memory that the program itself takes; what is shared out is the rest

    def share(self, part: float) -> int | None:
        """A part of the memory that the program leaves for rows, if it is limited."""
        return None if self.memory is None else int(max(self.memory - self.program, self.memory // 5) * part)

    def check_fits(self, need: int, part: float, what: str) -> None:
        """Refuse what does not fit into a part of the memory, with the limit that would do."""
        room = self.share(part)
        if room is not None and need > room:
            enough = amount(int(self.program + need / part))
            raise ParameterError(
                f"{what} needs about {enough} of memory. Use --memory {enough}, or leave columns out or coarsen them."
            )


def amount(size: int) -> str:
    """An amount of memory as people write it, rounded up."""
    tenths = -(-size // 10**8)
    return f"{tenths * 100}MB" if tenths < 10 else f"{tenths / 10:g}GB"


def cores() -> int:
    """The cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bytes_of(text: str | int) -> int:
    """An amount of memory as people write it."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(text).lower())
    if not match:
        raise ParameterError("An amount of memory is a number with a unit. Give for instance 4GB.")
    size = int(float(match[1]) * _UNITS[match[2]])
    if size < LEAST:
        raise ParameterError("A run needs 500MB of memory at least, most of it for the program. Give for instance 4GB.")
    return size


Progress = Callable[[str], None]

_OFTEN = 0.2  # seconds between two messages: a screen need not follow every block


@dataclass(eq=False)
class Clock:
    """Tells the user which stage is running and remembers how long each took."""

    progress: Progress = lambda _stage: None
    seconds: dict[str, float] = field(default_factory=dict)
    _begun: float = field(default=0.0, repr=False)
    _last: float = field(default=0.0, repr=False)
    _stage: str = field(default="", repr=False)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Announce a stage and time the block."""
        self.progress(stage)
        begun = self._begun = time.perf_counter()
        self._stage = stage
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - begun

    def rows(self, stage: str, done: int, total: int) -> None:
        """Tell how far the running stage is: rows done, rows a second, time left; at most five times a second."""
        now = time.perf_counter()
        if stage != self._stage:  # a part of the announced one that begins where the last part ended
            self._stage, self._begun = stage, self._last or self._begun
        if now - self._last < _OFTEN and done < total:
            return
        self._last = now
        self.progress(stage + ": " + how_far(done, total, now - self._begun))


def how_far(done: int, total: int, seconds: float) -> str:
    """Rows done of all rows, their speed, and the time that is left at this speed."""
    text = f"{done:,} of {total:,} rows"
    if not done or seconds <= 0:
        return text
    minutes, left = divmod(round((total - done) * seconds / done), 60)
    return f"{text}, {done / seconds:,.0f} rows/s, {f'{minutes} min ' if minutes else ''}{left} s left"
