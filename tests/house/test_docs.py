"""The documentation is run: every Python block, every ``incrowd`` command, every link to a file."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
import sklearn.ensemble  # noqa: F401, only threads of loaded libraries can be limited
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

from incrowd.cli.main import app
from incrowd.comparisons import choices, run
from incrowd.comparisons.datasets.invented import make_patients

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUN = [page for page in PAGES if page.name == "README.md" or page.parent.name in ("docs", "results")]
FENCE = re.compile(r"^```(\w*|\{[\w-]+\})(?: python)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ("", "python", "sh", "text", "yaml", "json", "{code-cell}", "{glossary}", "{toctree}")
FILE = re.compile(r"# ([\w-]+\.yaml)\n")
"""How a block begins that stands for a file of this name."""
ROWS = {"comparing.md": 400, "ledger.md": 3000}
"""Of the table of patients, where 1,000 are too many for every method and learner, or too few."""
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
SECTION = re.compile(r"\[[^\]]*\]\(([^)#\s]*)#([^)\s]*)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def slug(heading: str) -> str:
    """The name of a heading in links: small letters, hyphens for spaces, nothing else."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    """Language, content and first line of each fenced block."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield match[1], match[2], text[: match.start()].count("\n") + 2


def run_python(source: str, line: int, page: Path, namespace: dict[str, object]) -> None:
    """Run a block; a traceback names the page and the line in it."""
    exec(compile("\n" * (line - 1) + source, str(page), "exec", dont_inherit=True), namespace)


def run_commands(source: str) -> None:
    """Run the ``incrowd`` lines of a shell block in this process."""
    for command in source.replace("\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        if words[:1] == ["incrowd"]:
            outcome = CliRunner().invoke(app, words[1:])
            assert outcome.exit_code == 0, f"{command}\n{outcome.output}\n{outcome.exception!r}"


@pytest.fixture
def with_patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with a table in it; no trace in the home, no crowd of threads, no time to fill, one k."""
    make_patients(1000).write_csv(tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(run, "BUDGET", 0.0)
    monkeypatch.setattr(choices, "KS", (20,))
    with threadpool_limits(1):
        yield tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_every_example_runs(page: Path, with_patients: Path) -> None:
    if page.name in ROWS:
        make_patients(ROWS[page.name]).write_csv("patients.csv")
    namespace: dict[str, object] = {"__name__": page.stem}
    for language, source, line in blocks(page):
        if language == "python":
            run_python(source, line, page, namespace)
        elif language == "sh":
            run_commands(source)
        elif language == "yaml" and (name := FILE.match(source)):
            Path(name[1]).write_text(source, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_fence_is_closed_and_of_a_known_language(page: Path) -> None:
    fences = re.findall(r"^```.*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(list(blocks(page)))
    assert all(language in LANGUAGES for language, _, _ in blocks(page))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    broken = [link for link in links if not (page.parent / link).exists()]
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_section_leads_to_a_heading(page: Path) -> None:
    for target, section in SECTION.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            headings = HEADING.findall(((page.parent / target) if target else page).read_text(encoding="utf-8"))
            assert section in [slug(heading) for heading in headings], f"{target}#{section}"


def test_every_page_has_one_place_in_the_contents_of_the_site() -> None:
    places = [
        (page.parent / f"{line.rpartition('<')[2].rstrip('>')}.md").resolve()
        for page in PAGES
        for language, source, _ in blocks(page)
        if language == "{toctree}"
        for line in source.splitlines()
        if line and not line.startswith(":")
    ]
    assert sorted(places) == [page for page in PAGES if name_of(page) != "docs/index.md"]


def test_the_documentation_knows_every_method() -> None:
    from incrowd.methods.catalog import METHODS

    for page in (ROOT / "README.md", ROOT / "docs" / "choosing_a_method.md"):
        text = page.read_text(encoding="utf-8")
        assert [name for name in METHODS if f"`{name}`" not in text] == []
    for entry in METHODS.values():
        assert f"`{entry.name}`" in (ROOT / "docs" / entry.page).read_text(encoding="utf-8")
        assert entry.factory in (ROOT / "docs" / "scikit_learn.md").read_text(encoding="utf-8")


def test_attacks_in_plain_words_know_every_attack() -> None:
    from incrowd.attacks.catalog import ATTACKS

    text = (ROOT / "docs" / "attacks_in_words.md").read_text(encoding="utf-8")
    assert [name for name in ATTACKS if f"*{name}*" not in text] == []


def test_the_recipe_page_knows_every_setting() -> None:
    from incrowd.tables.options import recipe_keys
    from incrowd.tables.recipe import _COLUMN_KEYS
    from incrowd.tables.recipe_checks import READING_KEYS
    from incrowd.vocabulary.schema import ColumnType, Role

    text = (ROOT / "docs" / "recipe.md").read_text(encoding="utf-8")
    words = [*recipe_keys(), *_COLUMN_KEYS, *READING_KEYS, *map(str, Role), *map(str, ColumnType)]
    assert [word for word in words if f"`{word}`" not in text] == []


def test_the_certificate_page_knows_every_field(with_patients: Path) -> None:
    import incrowd

    made = incrowd.release(
        "patients.csv",
        quasi_identifiers=["age", "sex"],
        target="readmitted",
        k=10,
        to="out.csv",
        measuring=incrowd.Measuring(accuracy=True),
    )
    text = (ROOT / "docs" / "certificate.md").read_text(encoding="utf-8")
    assert [name for name in made.certificate if f"`{name}`" not in text] == []


@pytest.mark.slow
def test_the_quick_start_runs(with_patients: Path) -> None:
    script = ROOT / "examples" / "quickstart.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "smallest group" in done.stdout.lower()


def test_the_example_recipe_names_every_column_of_the_demo_table(with_patients: Path) -> None:
    import incrowd

    recipe = incrowd.read_recipe(ROOT / "examples" / "recipe.yaml")
    assert list(recipe.columns) == make_patients(10).columns
    made = incrowd.release("patients.csv", recipe=recipe)
    assert made.verdict.passed
    assert not [notice for notice in made.report.notices if notice.code in ("unnamed", "dropped")]


@pytest.mark.parametrize("experiment", ["kactus", "kadet", "tdr", "iac", "inference"])
def test_a_page_of_a_reproduction_was_written_by_its_command(experiment: str) -> None:
    """Of all parts, k and rows; the first splits of a protocol are told as such, above the figures."""
    text = (RESULTS / f"reproduction_{experiment}.md").read_text(encoding="utf-8")
    written = re.search(rf"ritten by `python -m experiments reproduce {experiment}(?: --splits (\d+))?`", text)
    assert written is not None
    assert written[1] is None or f"the first {written[1]} splits of it" in text
    for picture in re.findall(r"\((plots/[^)]+\.svg)\)", text):
        ElementTree.parse(RESULTS / picture)
