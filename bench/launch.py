"""Run a command as a process of its own and write down what it cost.

``launch.py STDOUT COMMAND …`` prints wall and CPU seconds, peak memory and exit status as JSON. It imports next to
nothing: to the system, a process begins with the memory of the one that started it.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Start, wait, tell."""
    output, *command = sys.argv[1:]
    to_file = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    begun = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[to_file])
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - begun
    unit = 1 if sys.platform == "darwin" else 1024
    cost = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss * unit}
    print(json.dumps(cost | {"status": os.waitstatus_to_exitcode(status)}))


if __name__ == "__main__":
    main()
