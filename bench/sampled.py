"""Where a command of incrowd spends its time: ``python -m bench.sampled STACKS COMMAND …``.

A thread looks at the stacks of all others every few milliseconds. A look counts for the time since the one before, so
that a kernel which lets nobody look counts in full, at the place where it was called. The stacks go to STACKS as JSON:
``[[["main", "incrowd.releases.pipeline:run_release", …], seconds], …]``.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from types import FrameType

EVERY = 0.005
OURS = "incrowd."
WAITING = {"wait", "_worker", "get", "select", "_wait_for_tstate_lock"}
HIDDEN = ("__main__", "incrowd.cli.main", "typer", "click", "runpy")
LOADERS, IMPORTING = {"importlib", "_frozen_importlib", "_frozen_importlib_external", "zipimport"}, "importing"
THREADS, WAITS = {"threading", "concurrent", "queue"}, "waiting"


class Sampler(threading.Thread):
    """Looks until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stacks: Counter[tuple[str, ...]] = Counter()
        self.over = threading.Event()
        self.main = threading.main_thread().ident

    def run(self) -> None:
        """Look, and count the time since the last look."""
        last = time.perf_counter()
        while not self.over.wait(EVERY):
            now = time.perf_counter()
            for thread, frame in sys._current_frames().items():
                if thread != self.ident:
                    self._count(thread, frame, now - last)
            last = now

    def _count(self, thread: int, frame: FrameType, seconds: float) -> None:
        if thread != self.main and frame.f_code.co_name in WAITING:
            return
        stack = fold(frame)
        self.stacks[("main thread" if thread == self.main else "other threads", *stack)] += seconds  # type: ignore[assignment]


def fold(frame: FrameType | None) -> list[str]:
    """Our functions, outermost first; a library called by them is one entry, whatever it does inside."""
    modules: list[tuple[str, str]] = []
    while frame is not None:
        modules.append((frame.f_globals.get("__name__", "?"), frame.f_code.co_name))
        frame = frame.f_back
    return cut([_entry(module, function) for module, function in reversed(modules) if not module.startswith(HIDDEN)])


def _entry(module: str, function: str) -> str:
    """What a frame is called."""
    if module.startswith(OURS):
        return f"{module}:{function}"
    top = module.partition(".")[0]
    return IMPORTING if top in LOADERS else WAITS if top in THREADS else top


def cut(names: Sequence[str]) -> list[str]:
    """Without what libraries call, what happens while a module is imported, and how a thread was begun.

    Examples
    --------
    >>> stack = ["waiting", "incrowd.releases.pipeline:run", "polars", "polars", "incrowd.api:a", "importing", "numba"]
    >>> cut(stack)
    ['incrowd.releases.pipeline:run', 'polars', 'incrowd.api:a', 'importing']
    """
    kept: list[str] = []
    for name in names:
        if (not kept and name == WAITS) or (kept and not kept[-1].startswith(OURS) and not name.startswith(OURS)):
            continue
        kept.append(name)
        if name == IMPORTING:
            break
    return kept


def main() -> None:
    """Sample the command line of incrowd."""
    target, *arguments = sys.argv[1:]
    sampler = Sampler()
    sampler.start()
    sys.argv = ["incrowd", *arguments]
    try:
        from incrowd.cli.main import main as command

        command()
    finally:
        sampler.over.set()
        sampler.join()
        with open(target, "w", encoding="utf-8") as file:
            json.dump(list(sampler.stacks.items()), file)


if __name__ == "__main__":
    main()
