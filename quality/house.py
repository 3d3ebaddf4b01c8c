"""``python -m quality house [--write PAGE]``: how large the house is, and how far one has to walk through it.

Counts lines, files, modules that one other module alone imports, and names of classes that are used twice; then runs
commands on an invented table and counts the files whose functions are called, and from how many files to how many
others calls go. Start-up is CPU time, as a multiple of importing the libraries that a release needs anyway.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quality.child import SOURCE
from quality.page import table, write_section

PACKAGE = SOURCE / "incrowd"
LIBRARIES = "numpy, polars, duckdb, pyarrow, typer"
ROWS = 1000
REPEATS = 5
KNOWN, CLASS = "age,sex,smoker", ["--target", "readmitted", "-k", "10"]
COLUMNS = [*KNOWN.split(","), "diagnosis_group", "readmitted"]
COMMANDS = {
    "release": ["release", "t.csv", "-q", KNOWN, *CLASS, "--class-sensitive", "no", "--to", "release.csv", "--replace"],
    "hide": ["hide", "t.csv", "--cell", "17:diagnosis_group", "--to", "hidden.csv"],
    "model": [
        "model",
        "t.csv",
        "--public",
        KNOWN,
        "--private",
        "diagnosis_group",
        *CLASS,
        "--fill",
        "value",
        "--to",
        "m.json",
    ],
    "compare": ["compare", "t.csv", "-q", KNOWN, *CLASS, "--learners", "c45"],
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section of the page if asked for."""
    parser = argparse.ArgumentParser(prog="python -m quality house", description="How large is the house?")
    parser.add_argument("--write", type=Path, help="the page to write the section into")
    parser.add_argument("--way", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.way:
        Path("way.json").write_text(json.dumps(walked(arguments.way)), encoding="utf-8")
        return 0
    rows = [*sizes(), *ways()]
    for name, value in rows:
        print(f"{name}: {value}")
    if arguments.write:
        words = "Written by `python -m quality house --write docs/results/quality.md`; calls of the verification are\n"
        words += "not among those on the way, its CPU time is among that of a release."
        write_section(arguments.write, "house", f"{words}\n\n{table(['what', 'measured'], rows)}")
    return 0


def sizes() -> Iterator[tuple[str, str]]:
    """What can be counted without running anything."""
    files = sorted(PACKAGE.rglob("*.py"))
    trees = {_module(file): ast.parse(file.read_text(encoding="utf-8")) for file in files}
    importers: dict[str, set[str]] = {module: set() for module in trees}
    for module, tree in trees.items():
        for used in _imports(tree):
            if used in importers and used != module:
                importers[used].add(module)
    classes = Counter(node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    yield "lines", f"{sum(file.read_text(encoding='utf-8').count(chr(10)) for file in files):,}"
    yield "files", f"{len(files)}"
    yield "modules with one importer", f"{sum(len(who) == 1 for who in importers.values())}"
    repeated = [name for name, times in classes.items() if times > 1]
    public = sum(not name.startswith("_") for name in repeated)
    yield "class names used more than once", f"{len(repeated)}, of them public {public}"


def _module(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def ways() -> Iterator[tuple[str, str]]:
    """What is walked through by commands, and what they cost."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(SOURCE.parent)])}
    with TemporaryDirectory(prefix="incrowd-house-") as folder:
        script = f"make_patients({ROWS}).select({COLUMNS}).write_csv('t.csv')"
        script = f"from incrowd.comparisons.datasets.invented import make_patients; {script}"
        subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, check=True)
        for name, words in COMMANDS.items():
            walk = [sys.executable, "-m", "quality.house", "--way", *words]
            subprocess.run(walk, cwd=folder, env=environment, capture_output=True, check=True)
            last = json.loads(Path(folder, "way.json").read_text(encoding="utf-8"))
            yield f"files on the way of {name}", f"{last['files']}, with {last['changes']} changes of file"
        imports = _seconds(["-c", f"import {LIBRARIES}"], folder, environment)
        yield f"importing {LIBRARIES}", f"{imports:.2f} s of CPU"
        for name, words in {"--help": ["--help"], f"a release of {ROWS:,} rows": COMMANDS["release"]}.items():
            seconds = _seconds(["-m", "incrowd", *words], folder, environment)
            yield name, f"{seconds:.2f} s of CPU, {seconds / imports:.1f} times that"


def _seconds(words: Sequence[str], folder: str, environment: dict[str, str]) -> float:
    """The least CPU time of some runs, with what the processes it starts take."""
    return min(_once([sys.executable, *words], folder, environment) for _ in range(REPEATS))


def _once(command: Sequence[str], folder: str, environment: dict[str, str]) -> float:
    before = os.times()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def walked(words: Sequence[str]) -> dict[str, int]:
    """Run a command here; the files whose functions are called, and pairs of files between which calls go."""
    files: set[str] = set()
    changes: set[tuple[str, str]] = set()
    inside = str(PACKAGE)

    def note(frame: Any, event: str, _argument: Any) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        name, caller = frame.f_code.co_filename, frame.f_back
        if name.startswith(inside):
            files.add(name)
            if caller is not None and caller.f_code.co_filename.startswith(inside):
                changes.add((caller.f_code.co_filename, name))

    from incrowd.cli.main import main as command

    sys.argv = ["incrowd", *words]
    sys.setprofile(note)
    try:
        command()
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"{words[0]} ended with {ended.code}") from None
    finally:
        sys.setprofile(None)
    return {"files": len(files), "changes": sum(one != other for one, other in changes)}


if __name__ == "__main__":
    sys.exit(main())
