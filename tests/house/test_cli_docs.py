"""The generated pages are those that the code would write now."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("docs.build")


@pytest.fixture
def elsewhere(build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with no pages yet, and generators that answer at once."""
    folder = tmp_path / "docs"
    folder.mkdir()
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "DOCS", folder)
    monkeypatch.setattr(build, "GENERATED", {"cli.md": lambda: "# Commands\n", "api.md": lambda: "# Names\n"})
    return folder


@pytest.mark.parametrize("name", ["cli.md", "api.md"])
def test_a_generated_page_is_up_to_date(name: str, build: ModuleType) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == build.GENERATED[name](), "run: make docs"


def test_the_help_does_not_depend_on_the_terminal(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    [plain] = build.help_of(["verify"])
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert build.help_of(["verify"]) == [plain]
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 100


def test_every_command_and_every_option_is_on_the_page(build: ModuleType) -> None:
    from typer.main import get_command

    from incrowd.cli.main import COMMANDS, app

    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    known: dict[tuple[str, ...], Any] = {}
    for name in COMMANDS:
        command = get_command(app).get_command(None, name)  # type: ignore[attr-defined]
        known[(name,)] = command
        known |= {(name, inner): found for inner, found in getattr(command, "commands", {}).items()}
    assert build.commands() == list(known)
    assert ("hierarchy", "draft") in known
    for words, command in known.items():
        section = page.split(f"## incrowd {' '.join(words)}\n")[1].split("\n## ")[0]
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
        assert [option for option in options if option not in section] == []


def test_every_public_name_has_a_section() -> None:
    import incrowd

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    headings = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert sorted(headings) == sorted(incrowd.__all__)


def test_pages_are_written_and_then_found_up_to_date(build: ModuleType, elsewhere: Path) -> None:
    assert build.main(["--check"]) == 1
    assert build.main([]) == 0
    assert (elsewhere / "cli.md").read_text(encoding="utf-8") == "# Commands\n"
    assert build.main(["--check"]) == 0


def test_a_stale_page_and_a_broken_link_are_named(
    build: ModuleType, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build.main([])
    (elsewhere / "api.md").write_text("[gone](nowhere.md)\n", encoding="utf-8")
    assert build.main(["--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "docs/api.md is out of date: run make docs",
        "broken link in docs/api.md: nowhere.md",
    ]


def test_an_unknown_argument_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "docs.build", "--chek"], cwd=ROOT, env=os.environ, capture_output=True, check=False
    )
    assert done.returncode == 2


def test_docstrings_become_markdown(build: ModuleType) -> None:
    names = importlib.import_module("docs.public_names")

    def area(width: float, *, height: float = 1.0) -> float:
        """The area, see :func:`incrowd.api.release`.

        ::

            +--+
            +--+

        Parameters
        ----------
        width, height
            In ``metres``,
            both.

        Examples
        --------
        >>> area(2)
        2.0
        """
        return width * height

    assert names.describe("area", area) == (
        "## area\n\n```text\narea(width: float, *, height: float = 1.0) -> float\n```\n\n"
        "The area, see `release`.\n\n```text\n+--+\n+--+\n```\n\n"
        "**Parameters**\n\n- `width, height`: In `metres`, both.\n\n"
        "**Examples**\n\n```text\n>>> area(2)\n2.0\n```\n"
    )
