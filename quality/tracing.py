"""Which tests run which lines, and how long each takes: asked once, and kept until the program or its tests change."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from quality.child import HOOK, ROOT, Tracer

KEPT = ROOT / ".quality"
TESTS = (
    "tests/unit/verification",
    "tests/unit/vocabulary",
    "tests/unit/tables/publishing",
    "tests/property/test_requirements_agree.py",
    "tests/property/test_population_requirements.py",
    "tests/property/test_promises_read_back.py",
    "tests/property/test_counts_text.py",
    "tests/property/test_joint_releases.py",
    "tests/property/test_rare_values.py",
    "tests/property/test_unchanged.py",
    "tests/golden/test_unchanged_columns.py",
    "tests/unit/releases/certified",
    "tests/unit/hiding/test_hiding_pipeline.py",
    "tests/unit/hiding/test_hiding_believes_nobody.py",
    "tests/unit/models/test_model_believes_nobody.py",
    "tests/faults",
    "tests/hostile/test_bad_models.py",
    "tests/hostile/test_bad_pairs.py",
    "tests/hostile/test_unchanged_cells.py",
)
SLOWEST = 40.0  # seconds; a test that takes longer is not asked about a mutant


@dataclass(frozen=True)
class Traced:
    """For each test the seconds it takes and the lines of the program it runs."""

    seconds: dict[str, float]
    lines: dict[str, set[tuple[str, int]]]

    def touching(self, path: str, first: int, last: int) -> list[str]:
        """The tests that run some of the lines, quick ones first."""
        wanted = {(path, line) for line in range(first, last + 1)}
        tests = [test for test, lines in self.lines.items() if not wanted.isdisjoint(lines)]
        return self._in_order(tests)

    def loading(self, path: str) -> list[str]:
        """The tests that run any line of a file, quick ones first."""
        return self._in_order([test for test, lines in self.lines.items() if any(path == name for name, _ in lines)])

    def _in_order(self, tests: list[str]) -> list[str]:
        return sorted((t for t in tests if self.seconds[t] <= SLOWEST), key=lambda test: self.seconds[test])


def traced(tests: Sequence[str] = TESTS) -> Traced:
    """What is known of the tests as they are now."""
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"traced-{_fingerprint(tests)}.json"
    if not path.exists():
        for old in KEPT.glob("traced-*.json"):
            old.unlink()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        words = [sys.executable, "-m", "quality.tracing", str(path), *tests]
        subprocess.run(words, cwd=ROOT, env=environment, check=True)
    data = json.loads(path.read_text(encoding="utf-8"))
    files = data["files"]
    lines = {test: {(files[file], line) for file, line in seen} for test, seen in data["lines"].items()}
    return Traced(data["seconds"], lines)


def _fingerprint(tests: Sequence[str]) -> str:
    digest = hashlib.sha256(repr(tuple(tests)).encode())
    for place in ("src", *tests):
        path = ROOT / place
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            digest.update(str(file).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@dataclass
class Plugin:
    """Notes the lines of each test, those of processes it starts by the time at which they were run."""

    folder: Path
    tracer: Tracer = field(default_factory=Tracer)
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    spans: list[tuple[float, float, str]] = field(default_factory=list)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Run a test, traced."""
        self.tracer.lines.clear()
        begun = time.time()
        self.tracer.start()
        yield
        self.tracer.stop()
        ended = time.time()
        self.spans.append((begun, ended, item.nodeid))
        self.seconds[item.nodeid], self.lines[item.nodeid] = ended - begun, set(self.tracer.lines)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that fails by itself tells nothing about a mutant."""
        if report.failed:
            self.seconds[report.nodeid] = float("inf")

    def with_processes(self) -> dict[str, set[tuple[str, int]]]:
        """The lines of all tests, with those that other processes ran meanwhile."""
        for file in self.folder.glob("*.lines"):
            for noted in file.read_text(encoding="utf-8").splitlines():
                moment, name, line = noted.split("\t")
                place = bisect_right(self.spans, float(moment), key=lambda span: span[0]) - 1
                if place >= 0 and float(moment) <= self.spans[place][1]:
                    self.lines[self.spans[place][2]].add((name, int(line)))
        return self.lines


def main(argv: Sequence[str]) -> int:
    """Run tests, and write what they run to a file."""
    file, *tests = argv
    with TemporaryDirectory(prefix="incrowd-lines-") as folder:
        os.environ["INCROWD_TRACE"] = folder
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HOOK), os.environ.get("PYTHONPATH", "")])
        sys.path.insert(0, str(HOOK))  # for processes that are started with the path of this one
        plugin = Plugin(Path(folder))
        pytest.main(
            ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-m", "not slow", *tests], plugins=[plugin]
        )
        lines = plugin.with_processes()
    files = sorted({name for seen in lines.values() for name, _ in seen})
    number = {name: place for place, name in enumerate(files)}
    places = {test: sorted((number[name], line) for name, line in seen) for test, seen in lines.items()}
    failed = [test for test, seconds in plugin.seconds.items() if seconds == float("inf")]
    for test in failed:
        del places[test], plugin.seconds[test]
    data = {"files": files, "lines": places, "seconds": plugin.seconds}
    Path(file).write_text(json.dumps(data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
