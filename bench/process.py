"""What a command costs as a process of its own: wall and CPU seconds, peak memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Cost:
    """One run."""

    wall: float
    cpu: float
    memory: int
    stages: Mapping[str, float]


@dataclass(frozen=True)
class Costs:
    """Several runs of the same command."""

    runs: tuple[Cost, ...]

    @property
    def wall(self) -> float:
        """Median wall seconds."""
        return median(run.wall for run in self.runs)

    @property
    def best(self) -> float:
        """Wall seconds of the fastest run."""
        return min(run.wall for run in self.runs)

    @property
    def cpu(self) -> float:
        """Median CPU seconds, user and system, all threads."""
        return median(run.cpu for run in self.runs)

    def ratios(self, yardstick: Costs) -> list[float]:
        """CPU seconds in those of what ran in the same rounds."""
        return [mine.cpu / other.cpu for mine, other in zip(self.runs, yardstick.runs, strict=True)]

    @property
    def gigabytes(self) -> float:
        """The largest peak memory."""
        return max(run.memory for run in self.runs) / 1e9

    @property
    def stages(self) -> dict[str, float]:
        """Median seconds of each stage the command reports."""
        return {stage: median(run.stages[stage] for run in self.runs) for stage in self.runs[0].stages}


@dataclass(frozen=True)
class LeftOut:
    """Why there are no figures."""

    why: str

    def __str__(self) -> str:
        return f"left out, {self.why}"


class Workshop:
    """A folder to measure in: commands run there, and leave no trace outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        found_at = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        apart = {"XDG_CONFIG_HOME": str(folder / "config"), "PYTHONPATH": found_at}
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._environment = {**kept, **apart}  # an installed program keeps its bytecode

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
        """Run a command; what it prints is kept if it is the JSON of a release."""
        ended, cost = self._launch(command, environment, inf)
        if ended["status"] != 0:
            raise RuntimeError(f"a measured command ended with status {ended['status']}: {' '.join(command[:6])} …")
        return cost

    def attempt(
        self, command: Sequence[str], limit: float, environment: Mapping[str, str] | None = None
    ) -> Cost | LeftOut:
        """The same for what may fail; after that many seconds it is ended."""
        ended, cost = self._launch(command, environment, limit)
        if ended["late"]:
            return LeftOut(f"not done after {limit:.0f} s")
        if ended["status"] == -signal.SIGKILL:
            return LeftOut("ended by the system, as it is when memory runs out")
        return LeftOut(f"failed with status {ended['status']}") if ended["status"] != 0 else cost

    def _launch(
        self, command: Sequence[str], environment: Mapping[str, str] | None, limit: float
    ) -> tuple[dict[str, Any], Cost]:
        """How it ended, and what it cost."""
        output = self.folder / "stdout"
        launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")), str(output), str(limit)]
        launched = subprocess.run(
            [*launcher, *command],
            cwd=self.folder,
            env={**self._environment, **(environment or {})},
            stdout=subprocess.PIPE,
            check=True,
        )
        ended: dict[str, Any] = json.loads(launched.stdout)
        printed = output.read_text(encoding="utf-8")
        stages = json.loads(printed)["seconds"] if printed.startswith("{") and ended["status"] == 0 else {}
        return ended, Cost(ended["wall"], ended["cpu"], ended["memory"], stages)

    def alternate(self, commands: Mapping[str, Sequence[str]], repetitions: int) -> dict[str, Costs]:
        """Run all commands one after the other, several times over, so that all meet the same conditions."""
        rounds = [{name: self.run(command) for name, command in commands.items()} for _ in range(repetitions)]
        return {name: Costs(_column(rounds, name)) for name in commands}


def _column(rounds: Iterable[Mapping[str, Cost]], name: str) -> tuple[Cost, ...]:
    return tuple(each[name] for each in rounds)
