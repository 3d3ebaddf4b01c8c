"""The house rules that a machine can check: who imports whom, sizes, names, no traces."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "incrowd"

# a room imports from itself and from the rooms named here
FIRST = {"errors", "optional"}
WORDS = FIRST | {"vocabulary"}
TREES = WORDS | {"measures", "trees"}
DECIDING = TREES | {"plan", "models", "adversaries", "algorithms"}
MAKING = DECIDING | {"engines", "reading", "databases", "hierarchies", "verification", "publishing", "report"}
MAKING |= {"recipe", "outcome", "recipients"}
WHOLE = MAKING | {
    "understanding",
    "lab",
    "holdout",
    "risk",
    "attacks",
    "holding",
    "clock",
    "job",
    "clusters",
    "pipeline",
    "recount",
    "certified",
    "new_rows",
    "demo",
}
ROOMS = {
    "errors": set(),
    "optional": {"errors"},
    "vocabulary": FIRST,
    "measures": WORDS,
    "trees": WORDS | {"measures"},
    "plan": TREES,
    "models": TREES,
    "adversaries": TREES,
    "algorithms": TREES | {"plan", "models", "adversaries"},
    "engines": DECIDING,
    "reading": WORDS,
    "hierarchies": WORDS | {"measures", "reading"},
    "databases": WORDS | {"reading"},
    "recipients": WORDS | {"reading", "publishing"},
    "clock": set(),
    "job": MAKING | {"clock"},
    "ledger": MAKING | {"holding", "job"},
    "measured": MAKING | {"attacks", "holding", "holdout", "job", "risk"},
    "issuing": MAKING | {"job", "measured"},
    "clusters": MAKING | {"understanding", "issuing", "job", "pipeline", "verification_request"},
    "holding": MAKING | {"understanding"},
    "verification": WORDS,
    "publishing": WORDS,
    "report": WORDS | {"measures", "plan", "risk", "verification"},
    "risk": WORDS | {"measures", "reading"},
    "attacks": MAKING | {"understanding", "lab", "risk"},
    "demo": WORDS,
    "recipe": WORDS | {"hierarchies"},
    "outcome": WORDS | {"plan", "report", "verification", "recipients"},
    "understanding": WORDS | {"reading", "recipe"},
    "lab": MAKING | {"understanding"},
    "holdout": MAKING | {"lab"},
    "verification_request": MAKING | {"holding", "job"},
    "pipeline": MAKING | {"certified", "ledger", "holding", "issuing", "job", "measured", "verification_request"},
    "recount": WORDS | {"reading", "databases", "holding", "publishing", "verification"},
    "certified": WORDS | {"reading", "databases", "report", "verification"},
    "new_rows": WORDS | {"plan", "engines", "reading"},
    "modelling": MAKING | {"understanding", "clock"},
    "hiding": MAKING | {"clock", "holding"},
    "api": WHOLE,
    "estimators": WHOLE,
    "classifiers": WHOLE | {"modelling", "estimators"},
    "cli": WHOLE | {"modelling", "hiding", "api", "ledger"},
    "__main__": {"cli"},
    "__init__": WHOLE | {"api", "estimators", "hiding", "modelling"},
}
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    assert used - {room} <= ROOMS[room], f"{room} may not import {sorted(used - {room} - ROOMS[room])}"


def test_duckdb_is_the_second_opinion_and_nothing_else():
    users = {room_of(path) for path in FILES if any(name.split(".")[0] == "duckdb" for name in imports_of(path))}
    assert users == {"verification"}


def test_verification_shares_nothing_with_what_it_verifies():
    assert ROOMS["verification"].isdisjoint({"algorithms", "measures", "plan", "trees", "engines"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_readable(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            told = (ast.get_docstring(node, clean=False) or "").count("\n")
            assert node.end_lineno - node.lineno - told <= 70, node.name


def test_public_names():
    import incrowd

    assert len(incrowd.__all__) <= 25
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
    from incrowd.algorithms.catalog import METHODS

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
