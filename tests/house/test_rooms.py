"""The house rules that a machine can check: who imports whom, sizes, names, no traces."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "incrowd"

# a room imports from itself and from the rooms above it
ROOMS = (
    "errors",
    "optional",
    "drawing",
    "vocabulary",
    "measures",
    "trees",
    "plan",
    "tables",
    "verification",
    "methods",
    "rows",
    "recipients",
    "risk",
    "report",
    "models",
    "hiding",
    "comparisons",
    "attacks",
    "releases",
    "api",
    "testing",
    "estimators",
    "cli",
    "desk",
    "__init__",
    "__main__",
)
NARROW = {"verification": {"errors", "vocabulary"}, "recipients": {"errors", "vocabulary"}}
"""Rooms that need less than all that is above them."""
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            pytest.fail(f"{path.name}: relative import")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_above_it(path):
    room = room_of(path)
    used = {name.split(".")[1] for name in imports_of(path) if name.startswith("incrowd.")}
    above = NARROW.get(room, set(ROOMS[: ROOMS.index(room)]))
    assert used - {room} <= above, f"{room} may not import {sorted(used - {room} - above)}"


def test_the_package_knows_nothing_of_what_stands_beside_it():
    beside = {"bench", "docs", "experiments", "quality", "tests"}
    assert not [path for path in FILES if beside & {name.split(".")[0] for name in imports_of(path)}]


def test_every_room_says_what_it_is():
    rooms = [SOURCE / room / "__init__.py" for room in ROOMS if (SOURCE / room).is_dir()]
    assert {path.parent.name for path in rooms} == {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert all(ast.get_docstring(tree_of(path)) for path in rooms)


def test_duckdb_is_the_second_opinion_and_else_reads_its_own_files_only():
    users = [path for path in FILES if any(name.split(".")[0] == "duckdb" for name in imports_of(path))]
    assert {room_of(path) for path in users if path != SOURCE / "tables/databases/reading.py"} == {"verification"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_readable(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 450  # rarely over 400
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef):
            told = (ast.get_docstring(node, clean=False) or "").count("\n")
            assert node.end_lineno - node.lineno - told <= 70, node.name


def test_public_names():
    import incrowd

    assert len(incrowd.__all__) <= 30
    assert sorted(incrowd.__all__, key=_isort) == incrowd.__all__
    for name in incrowd.__all__:
        assert getattr(incrowd, name).__doc__


def _isort(name):
    """Constants, classes, functions, each by letter: the order the linter keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_importing_incrowd_is_cheap():
    heavy = "('numba', 'numpy', 'polars', 'sklearn', 'duckdb', 'pandas', 'pyarrow')"
    code = f"import sys, incrowd, incrowd.cli.main; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_method_of_the_catalog_loads():
    from incrowd.methods.catalog import METHODS

    for entry in METHODS.values():
        assert entry.load()().name == entry.name


def test_no_trace_of_a_machine():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    needles = [
        "/".join(["", "home", ""]),
        "/".join(["", "work", ""]),
        "/".join(["", "root", ""]),
        "index" + "-url",
    ]
    for name in listed:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ".json"} and path.exists():
            text = path.read_text(encoding="utf-8")
            assert not [needle for needle in needles if needle in text], name
