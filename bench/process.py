"""What a command costs as a process of its own: wall and CPU seconds, peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


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

    @property
    def gigabytes(self) -> float:
        """The largest peak memory."""
        return max(run.memory for run in self.runs) / 1e9

    @property
    def stages(self) -> dict[str, float]:
        """Median seconds of each stage the command reports."""
        return {stage: median(run.stages[stage] for run in self.runs) for stage in self.runs[0].stages}


class Workshop:
    """A folder to measure in: commands run there, and leave no trace outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config")}

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
        """Run a command; what it prints is kept if it is the JSON of a release."""
        output = self.folder / "stdout"
        launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")), str(output)]
        told = subprocess.run(
            [*launcher, *command],
            cwd=self.folder,
            env={**self._environment, **(environment or {})},
            stdout=subprocess.PIPE,
            check=True,
        )
        cost: dict[str, Any] = json.loads(told.stdout)
        if cost["status"] != 0:
            raise RuntimeError(f"a measured command ended with status {cost['status']}: {' '.join(command[:6])} …")
        said = output.read_text(encoding="utf-8")
        stages = json.loads(said)["seconds"] if said else {}
        return Cost(cost["wall"], cost["cpu"], cost["memory"], stages)

    def alternate(self, commands: Mapping[str, Sequence[str]], repetitions: int) -> dict[str, Costs]:
        """Run all commands one after the other, several times over, so that all meet the same conditions."""
        rounds = [{name: self.run(command) for name, command in commands.items()} for _ in range(repetitions)]
        return {name: Costs(_column(rounds, name)) for name in commands}


def _column(rounds: Iterable[Mapping[str, Cost]], name: str) -> tuple[Cost, ...]:
    return tuple(each[name] for each in rounds)
