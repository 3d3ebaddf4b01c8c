"""The tools that check the checks: changes are made where they should be, reach other processes, and are told."""

from __future__ import annotations

import os
import subprocess
import sys
import types

import pytest
from quality import mutants
from quality.child import HOOK, ROOT, SOURCE
from quality.faults import Trial, section
from quality.grafting import CannotGraftError, graft
from quality.operators import mutated, mutations
from quality.page import write_section

PROGRAM = '''
"""A docstring: SELECT a FROM b WHERE c < 1."""
from __future__ import annotations
from dataclasses import dataclass
from functools import cached_property, cache

QUALITY_LIMIT = 3

@dataclass(frozen=True)
class Group:
    rows: int
    least: int = 2

    @property
    def large(self) -> bool:
        return self.rows >= self.least

    @cached_property
    def half(self) -> int:
        return self.rows // 2

    @staticmethod
    def of(rows: int) -> Group:
        if rows > QUALITY_LIMIT and rows != 7:
            raise ValueError(f"{rows + 1} is more than {QUALITY_LIMIT}")
        return Group(rows)

@cache
def query(name: str) -> str:
    """More words: count(*) < 2."""
    return f"SELECT count(*) FROM {name} WHERE a IS DISTINCT FROM b AND c < 2"
'''


def changes():
    return {each.what: each.number for each in reversed(mutations(PROGRAM))}


def loaded(name="quality_example"):
    module = types.ModuleType(name)
    module.__file__ = "example.py"
    sys.modules[name] = module
    exec(compile(PROGRAM, "example.py", "exec"), vars(module))
    return module


def test_changes_are_those_of_the_program_not_of_its_words():
    told = [each.what for each in mutations(PROGRAM)]
    assert {">= becomes >", ">= becomes <", "// becomes *", "and becomes or", "part 2 of and is removed"} <= set(told)
    assert {"3 becomes 4", "2 becomes 1", "raise is removed", "return True", "condition is turned round"} <= set(told)
    assert {"SQL: IS DISTINCT FROM becomes =", "SQL: count(*) becomes count(c0)", "SQL: < becomes <="} <= set(told)
    assert told.count("SQL: < becomes <=") == 1
    assert "+ becomes -" not in told


def test_every_change_changes_the_program():
    import ast

    same = ast.dump(ast.parse(PROGRAM))
    texts = [ast.dump(mutated(PROGRAM, each.number)) for each in mutations(PROGRAM)]
    assert same not in texts
    assert len(set(texts)) == len(texts)
    with pytest.raises(IndexError):
        mutated(PROGRAM, len(texts))


@pytest.mark.parametrize(
    ("what", "look", "value"),
    [
        (">= becomes >", lambda module: module.Group(2).large, False),
        ("2 becomes 1", lambda module: module.Group(1).large, True),
        ("// becomes *", lambda module: module.Group(2).half, 4),
        ("3 becomes 4", lambda module: module.Group.of(4).rows, 4),
        ("raise is removed", lambda module: module.Group.of(5).rows, 5),
        ("SQL: < becomes <=", lambda module: module.query("t")[-6:], "c <= 2"),
    ],
)
def test_a_change_reaches_objects_that_are_known_already(what, look, value):
    module = loaded()
    elsewhere = types.SimpleNamespace(Group=module.Group, query=module.query)
    module.query("t")
    graft(module.__name__, mutated(PROGRAM, changes()[what]))
    assert look(elsewhere) == value
    assert isinstance(module.Group.of(1), elsewhere.Group)


def test_a_constant_changes_for_all_who_imported_it():
    module, other = loaded(), types.ModuleType("quality_other")
    sys.modules[other.__name__] = other
    other.QUALITY_LIMIT = module.QUALITY_LIMIT  # type: ignore[attr-defined]
    graft(module.__name__, mutated(PROGRAM, changes()["3 becomes 2"]))
    assert module.QUALITY_LIMIT == other.QUALITY_LIMIT == 2


def test_what_cannot_be_grafted_is_said():
    module = loaded("quality_closure")
    import ast

    module.made = (lambda x: lambda: x)(1)
    with pytest.raises(CannotGraftError):
        graft(module.__name__, ast.parse("def made(): return 2"))


def test_a_change_reaches_other_processes():
    path = SOURCE / "incrowd/verification/verdict.py"
    number = next(m.number for m in mutations(path.read_text()) if m.what == "all becomes any")
    ask = (
        "from incrowd.verification.verdict import Verdict, Check, ClassSizes as S;"
        "print(Verdict(S(1, 1, 1, ()), (Check('a', True, ''), Check('b', False, ''))).passed)"
    )
    given = os.environ | {"PYTHONPATH": os.pathsep.join([str(HOOK), str(SOURCE)])}
    for mutant, passed in ((f"{path.relative_to(ROOT)}:{number}", "True"), ("src/incrowd/errors.py:0", "False")):
        asked = given | {"INCROWD_MUTANT": mutant}
        told = subprocess.run([sys.executable, "-c", ask], env=asked, capture_output=True, text=True, check=True)
        assert told.stdout.strip() == passed


def test_mutants_that_change_nothing_are_those_that_exist():
    known = {mutants._key(mutant) for mutant in mutants.all_mutants()}
    assert mutants.equivalents() <= known


def test_a_section_is_replaced_and_the_others_stay(tmp_path):
    page = tmp_path / "quality.md"
    write_section(page, "faults", "first words")
    write_section(page, "fuzz", "and these")
    write_section(page, "faults", "other words")
    text = page.read_text()
    assert "first words" not in text
    assert text.count("other words") == text.count("<!-- /faults -->") == 1
    assert "and these" in text
    with pytest.raises(ValueError, match="no section"):
        write_section(page, "unknown", "")


def test_the_page_counts_and_names_what_was_published():
    trials = [
        Trial("a row is lost", "reading", "A row is lost.", "memory", "", "published"),
        Trial("a row is lost", "reading", "A row is lost.", "blocks", "", "by its verdict"),
        Trial("a byte is lost", "writing", "A byte is lost.", "memory", "", "by an error"),
    ]
    text = section(trials)
    assert "| reading | 1 | 0 / 1 | 1 / 1 |  | 1 |" in text
    assert "| **all** | 2 | 1 / 2 | 1 / 1 |  | 1 |" in text
    assert "*a row is lost* (published). A row is lost." in text
    assert "a byte is lost" not in text


def test_the_page_in_the_documentation_has_all_sections():
    text = (ROOT / "docs/results/quality.md").read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in text and f"<!-- /{name} -->" in text for name in ("faults", "mutants", "fuzz"))


@pytest.mark.slow
def test_a_mutant_is_killed_or_survives_by_its_tests(tmp_path):
    """A test that looks, and one that does not: run by the very runner, on the program itself."""
    (tmp_path / "test_it.py").write_text(
        "from incrowd.verification.verdict import ClassSizes as S\n"
        "def test_looks(): assert S(3, 2, 1, ((1, 1), (2, 1))).rows_below(2) == 1\n"
        "def test_does_not(): S(3, 2, 1, ((1, 1), (2, 1))).rows_below(2)\n"
    )
    script = (
        "import sys; from pathlib import Path; from quality import mutants, tracing\n"
        "mutants.TESTS = (sys.argv[1],)\n"
        "seconds = {f'{Path(sys.argv[1]).name}::{n}': 0.1 for n in ('test_looks', 'test_does_not')}\n"
        "all_of_it = [m for m in mutants.all_mutants() if 'verdict.py' in str(m) and 'size < k' in m.text"
        " and m.change.what == '< becomes <=']\n"
        "for tests in (seconds, ['test_it.py::test_does_not']):\n"
        "    lines = {t: {(str(m.path), m.change.line) for m in all_of_it} for t in tests}\n"
        "    print(*mutants.run(all_of_it[:1], tracing.Traced(seconds, lines)).values())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(SOURCE)])}
    words = [sys.executable, "-c", script, str(tmp_path / "test_it.py")]
    told = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert told.stdout.split() == ["killed", "survived"]


def test_the_catalogue_is_as_large_as_promised():
    from faults.catalogue import FAULTS

    assert len(FAULTS) >= 90
