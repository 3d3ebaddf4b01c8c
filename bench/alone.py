"""One release in a process of its own: ``python -m bench.alone METHOD K FEW FILE``.

The process first releases a few rows, which loads libraries and compiled kernels, and then measures the file. It prints
the figures as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.process import LeftOut
from bench.releasing import release_timed


@dataclass(frozen=True)
class Figures:
    """CPU seconds of the whole release and of deciding; groups in the release."""

    whole: float
    deciding: float
    groups: int

    def __str__(self) -> str:
        return f"{self.whole:.2f} s CPU, deciding {self.deciding:.2f}, {self.groups:,} groups"


def main() -> None:
    """Warm up, measure, tell."""
    method, k, few, file = sys.argv[1:]
    release_timed(Path(few), method, int(k))
    spent = release_timed(Path(file), method, int(k))
    print(json.dumps(asdict(Figures(spent.whole, spent.deciding, spent.facts.groups))))


def measure_alone(method: str, k: int, few: Path, file: Path, limit: float) -> Figures | LeftOut:
    """Run this module as a process; after that many seconds it is ended."""
    folder = str(file.parent)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "bench.alone", method, str(k), str(few), str(file)],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "XDG_CONFIG_HOME": folder, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return LeftOut(f"not done after {limit:.0f} s")
    if done.returncode == -signal.SIGKILL:
        return LeftOut("ended by the system, as it is when memory runs out")
    if done.returncode != 0:
        raise RuntimeError(f"{method} on {file.name} ended with status {done.returncode}")
    return Figures(**json.loads(done.stdout))


if __name__ == "__main__":
    main()
