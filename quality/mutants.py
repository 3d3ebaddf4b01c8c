"""``python -m quality mutants [--sample N] [--only WORD] [--tests PATH]``: do the tests notice small changes?

Every change of :mod:`quality.operators` is made, one at a time, in verification, requirements and publication; those
tests that run the changed line are run, quick ones first, until one fails. All tests are collected once; a process is
forked for each mutant and gets the changed code, and so do the processes that its tests start.

Exit status 1 if fewer than 95 % were noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from quality.child import HOOK, ROOT, SOURCE, TARGETS, module_of
from quality.grafting import CannotGraftError, graft
from quality.operators import Mutation, mutated, mutations
from quality.page import table, write_section
from quality.tracing import TESTS, Traced, traced

GOAL = 0.95
LONGEST = 40.0  # seconds for all tests of a mutant; what was not noticed by then survives
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
NOTICED = "noticed"  # the file in which a mutant leaves the name of the test that noticed it
KILLED, SURVIVED, UNTESTED = "killed", "survived", "no test"


@dataclass(frozen=True)
class Mutant:
    """A change of a file."""

    path: Path
    change: Mutation

    @property
    def place(self) -> str:
        """The file, as it is named on the page."""
        return self.path.relative_to(SOURCE / "incrowd").as_posix()

    @property
    def text(self) -> str:
        """The line that is changed."""
        return self.path.read_text(encoding="utf-8").splitlines()[self.change.line - 1].strip()

    def __str__(self) -> str:
        return f"{self.place}:{self.change.line}: {self.change.what}"


def main(argv: Sequence[str] | None = None) -> int:
    """Make mutants, run tests, print survivors; write the section of the page if asked for."""
    arguments = _arguments(argv)
    everything = [
        mutant for mutant in all_mutants() if not arguments.only or any(o in str(mutant) for o in arguments.only)
    ]
    harmless = equivalents()
    chosen = [mutant for mutant in everything if _key(mutant) not in harmless]
    if arguments.sample and arguments.sample < len(chosen):
        chosen = random.Random(arguments.seed).sample(chosen, arguments.sample)
    tests = arguments.tests or TESTS
    outcomes = run(chosen, traced(tests), tests, seconds=arguments.seconds, verbose=arguments.verbose)
    for mutant, outcome in outcomes.items():
        if outcome != KILLED:
            print(f"{outcome}: {mutant}\n    {mutant.text}", flush=True)
    killed = sum(outcome == KILLED for outcome in outcomes.values())
    print(f"{len(outcomes)} mutants of {len(everything)}, {killed} killed ({killed / max(1, len(outcomes)):.1%})")
    if arguments.write:
        write_section(
            arguments.write, "mutants", section(outcomes, len(everything), len(everything) - len(chosen), arguments)
        )
    return 0 if killed >= GOAL * len(outcomes) else 1


def all_mutants() -> list[Mutant]:
    """Every change of every file."""
    return [Mutant(path, change) for path in _files() for change in mutations(path.read_text(encoding="utf-8"))]


def _files() -> Iterator[Path]:
    for target in TARGETS:
        path = ROOT / target
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def equivalents() -> set[tuple[str, str, str]]:
    """The mutants that do what the program does, by file, line and change; each has its reason in the file."""
    data = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
    return {(each["file"], each["line"], each["change"]) for each in data.get("equivalent", ())}


def _key(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.place, mutant.text, mutant.change.what


def run(
    mutants: Sequence[Mutant],
    known: Traced,
    tests: Sequence[str] = (),
    *,
    seconds: float = LONGEST,
    verbose: bool = False,
) -> dict[Mutant, str]:
    """What became of each mutant."""
    plugin = Runner(mutants, known, seconds, verbose)
    with TemporaryDirectory(prefix="incrowd-mutants-") as folder:
        plugin.folder = Path(folder)
        words = ["-qqq", "-s", "-p", "no:cacheprovider", "--no-summary", f"--basetemp={folder}/pytest"]
        pytest.main([*words, "-m", "not slow", *(tests or TESTS)], plugins=[plugin])
    return plugin.outcomes


class Runner:
    """Instead of running the tests that were collected, runs some of them for each mutant."""

    def __init__(self, mutants: Sequence[Mutant], known: Traced, seconds: float, verbose: bool) -> None:
        self.mutants, self.known, self.seconds, self.verbose = mutants, known, seconds, verbose
        self.outcomes: dict[Mutant, str] = {}
        self.killers: dict[Path, list[str]] = {}
        self.folder = Path()

    def pytest_runtestloop(self, session: Any) -> bool:
        """Go through all mutants."""
        _check_threads()
        items = {item.nodeid: item for item in session.items}
        for number, mutant in enumerate(self.mutants):
            tests = [items[test] for test in self._tests(mutant) if test in items]
            begun = time.monotonic()
            self.outcomes[mutant] = self._outcome(mutant, tests) if tests else UNTESTED
            if self.verbose:
                line = f"{number + 1}/{len(self.mutants)} {self.outcomes[mutant]}: {mutant}"
                print(f"{line} ({len(tests)} tests, {time.monotonic() - begun:.1f} s)", file=sys.stderr, flush=True)
        return True

    def _tests(self, mutant: Mutant) -> list[str]:
        """Tests that run the changed statement; of what is run when the file is loaded, all that use the file."""
        path = str(mutant.path)
        tests = self.known.touching(path, mutant.change.first, mutant.change.last) or self.known.loading(path)
        first = [test for test in self.killers.get(mutant.path, ()) if test in tests]  # who noticed much notices more
        return list(dict.fromkeys([*first, *tests]))

    def _outcome(self, mutant: Mutant, tests: Sequence[Any]) -> str:
        """Fork, change, run; what a process that ended, or was ended, says of its mutant."""
        own = self.folder / "own"
        process = os.fork()
        if process == 0:
            _live_as(mutant, tests, own, self.known, self.seconds)
        _, status = os.waitpid(process, 0)
        _end_group(process)
        if (own / NOTICED).exists():
            self.killers.setdefault(mutant.path, []).insert(0, (own / NOTICED).read_text(encoding="utf-8"))
        shutil.rmtree(own, ignore_errors=True)
        ended = os.waitstatus_to_exitcode(status)
        return _anew(mutant, tests) if ended == 3 else KILLED if ended else SURVIVED


def _check_threads() -> None:
    """Threads of a library do not survive a fork, and who waits for them waits for ever."""
    names = [Path(f"/proc/self/task/{task}/comm").read_text().strip() for task in os.listdir("/proc/self/task")]
    if "polars-0" in names:
        raise RuntimeError("A test module works with polars while it is imported. Let a fixture do that.")


def _live_as(mutant: Mutant, tests: Sequence[Any], own: Path, known: Traced, longest: float) -> None:
    """The life of a mutant: exit status 0 if no test notices it, 1 if one does, 3 if it cannot be brought about."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1), os.dup2(nowhere, 2)
    os.environ.update(_environment(mutant))
    sys.path.insert(0, str(HOOK))  # for processes that are started with the path of this one
    try:
        source = mutant.path.read_text(encoding="utf-8")
        name = module_of(mutant.path)
        if name in sys.modules:
            graft(name, mutated(source, mutant.change.number))
        tests[0].config._tmp_path_factory._basetemp = own
        own.mkdir()
        os._exit(_noticed(tests, known, own, longest))
    except CannotGraftError:
        os._exit(3)
    except BaseException:
        os._exit(1)


def _anew(mutant: Mutant, tests: Sequence[Any]) -> str:
    """The same in a process that imports everything anew, for what cannot be grafted."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    with TemporaryDirectory(prefix="incrowd-mutants-") as folder:
        words += [f"--basetemp={folder}/pytest", *(item.nodeid for item in tests[:50])]
        try:
            ended = subprocess.run(words, cwd=ROOT, env=_environment(mutant), capture_output=True, timeout=10 * LONGEST)
        except subprocess.TimeoutExpired:
            return KILLED
    return KILLED if ended.returncode else SURVIVED


def _environment(mutant: Mutant) -> dict[str, str]:
    """What a process has to know to run with the change."""
    path = os.pathsep.join([str(HOOK), str(SOURCE), os.environ.get("PYTHONPATH", "")])
    return os.environ | {
        "INCROWD_MUTANT": f"{mutant.path.relative_to(ROOT)}:{mutant.change.number}",
        "PYTHONPATH": path,
    }


def _noticed(tests: Sequence[Any], known: Traced, own: Path, longest: float) -> int:
    from _pytest.runner import runtestprotocol

    begun = time.monotonic()  # not CPU: much of it is that of processes that nobody waits for
    for place, item in enumerate(tests):
        if time.monotonic() - begun > longest:
            return 0
        signal.alarm(int(20 + 10 * known.seconds[item.nodeid]))  # a test that takes much longer than usual has noticed
        following = tests[place + 1] if place + 1 < len(tests) else None
        if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
            (own / NOTICED).write_text(item.nodeid, encoding="utf-8")
            return 1
    return 0


def _end_group(process: int) -> None:
    """End what the tests of a mutant have left running."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def section(outcomes: dict[Mutant, str], everything: int, harmless: int, arguments: argparse.Namespace) -> str:
    """How many mutants were killed, room by room, and every survivor by name."""
    rooms = Counter(_room(mutant) for mutant in outcomes)
    killed = Counter(_room(mutant) for mutant, outcome in outcomes.items() if outcome == KILLED)
    rows = [[room, count, killed[room], f"{killed[room] / count:.1%}"] for room, count in sorted(rooms.items())]
    total = sum(killed.values())
    rows.append(["**all**", len(outcomes), total, f"{total / max(1, len(outcomes)):.1%}"])
    sampled = f" --sample {arguments.sample} --seed {arguments.seed}" if arguments.sample else ""
    sampled += f" --tests {' '.join(arguments.tests)}" if arguments.tests else ""
    survivors = [(mutant, outcome) for mutant, outcome in outcomes.items() if outcome != KILLED]
    names = "\n".join(
        f"- `{mutant.place}`, line {mutant.change.line}: {mutant.change.what} ({o})" for mutant, o in survivors
    )
    return (
        "A mutant is the program with one small change: a comparison turned or moved by one, a number one larger, a "
        "statement removed, a condition of SQL dropped. It is killed if a test of the program fails. Mutants are made "
        f"of verification, requirements and publication: {everything:,}, of which {harmless:,} were not drawn, "
        "or change nothing that anybody could notice (`quality/equivalent.toml` has those, with reasons). "
        f"This was written by `python -m quality mutants{sampled} --write docs/results/quality.md`.\n\n"
        f"{table(['room', 'mutants', 'killed', 'share'], rows)}\n\n"
        + (f"Survivors:\n\n{names}" if survivors else "None survived.")
    )


def _room(mutant: Mutant) -> str:
    return "requirements" if mutant.place.startswith("vocabulary") else mutant.place.partition("/")[0]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality mutants", description="Do the tests notice small changes?")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn at random; all if not given")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument(
        "--only", action="append", help="only mutants of files with this in their path; may be repeated"
    )
    parser.add_argument("--tests", nargs="+", help="only these tests; all that are about these rooms if not given")
    parser.add_argument("--seconds", type=float, default=LONGEST, help="at most for the tests of a mutant")
    parser.add_argument("--verbose", action="store_true", help="tell what became of every mutant")
    parser.add_argument("--write", type=Path, help="the page to write the section into")
    return parser.parse_args(argv)
