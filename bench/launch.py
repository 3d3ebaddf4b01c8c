"""Run a command as a process of its own and write down what it cost.

``launch.py STDOUT LIMIT COMMAND …`` prints wall and CPU seconds, peak memory, exit status and whether it was ended
after LIMIT seconds, as JSON. It imports next to nothing: to the system, a process begins with the memory of the one
that started it. Peak memory is the system's figure for one process; where a command starts others, it is that of all
of them together, looked at ten times a second, and so are CPU seconds: a process that nobody waited for is in no sum.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

EVERY, PAGE, TICK = 0.1, os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


class Watch(threading.Thread):
    """Looks at a process and those below it, and ends them when their time is over."""

    def __init__(self, child: int, limit: float) -> None:
        super().__init__(daemon=True)
        self.child, self.deadline = child, time.perf_counter() + limit
        self.most, self.spent, self.late = 0, 0.0, False
        self.over = threading.Event()

    def run(self) -> None:
        """Look until it is over."""
        while not self.over.wait(EVERY):
            family = list(_family(self.child))
            if len(family) > 1:
                self.most = max(self.most, sum(map(_resident, family)))
                self.spent = max(self.spent, sum(map(_spent, family)))
            if time.perf_counter() > self.deadline and not self.late:
                self.late = True
                os.killpg(self.child, signal.SIGKILL)


def main() -> None:
    """Start, wait, tell."""
    output, limit, *command = sys.argv[1:]
    to_file = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    begun = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[to_file], setpgroup=0)
    watch = Watch(child, float(limit))
    watch.start()
    try:
        _, status, usage = os.wait4(child, 0)
    except KeyboardInterrupt:
        os.killpg(child, signal.SIGKILL)
        raise
    wall = time.perf_counter() - begun
    watch.over.set()
    unit = 1 if sys.platform == "darwin" else 1024
    memory = max(usage.ru_maxrss * unit, watch.most)
    cost = {
        "wall": wall,
        "cpu": max(usage.ru_utime + usage.ru_stime, watch.spent),
        "memory": memory,
        "late": watch.late,
    }
    print(json.dumps(cost | {"status": os.waitstatus_to_exitcode(status)}))


def _family(process: int) -> Iterator[int]:
    """A process and all below it, as far as the system tells."""
    yield process
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as listed:
                for child in listed.read().split():
                    yield from _family(int(child))
    except OSError:
        return


def _resident(process: int) -> int:
    """The memory of one process in bytes; pages that it shares count in each."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except OSError:
        return 0


def _spent(process: int) -> float:
    """CPU seconds of one process and of those that it waited for."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:15])) / TICK
    except OSError:
        return 0.0


if __name__ == "__main__":
    main()
