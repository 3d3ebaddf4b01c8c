"""Which stage is running, how far it is, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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
