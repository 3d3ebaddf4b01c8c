"""``python -m experiments reproduce inference``: the experiments on hiding cells, from made tables."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.pages import Goal, Picture, Section, Table
from incrowd.errors import ParameterError

FOUND = Section(
    "Hiding single cells",
    [
        "Words.",
        Table(("", "ms"), [("decp", "1")]),
        Picture("made", "A line", "<svg></svg>"),
        Goal("fast", "slow", False),
    ],
)


@pytest.fixture
def asked(monkeypatch):
    """What the experiment was asked for."""
    seen = []

    def run(quick, folder, tell):
        seen.append((quick, folder))
        tell("working")
        return FOUND

    monkeypatch.setattr("experiments.reproduce.command.run_inference", run)
    return seen


def test_the_page_is_written_with_its_pictures_and_told(asked, tmp_path):
    page, folder = tmp_path / "docs" / "page.md", tmp_path / "out"
    words = ["reproduce", "inference", "--quick", "--to", str(folder), "--page", str(page), "--data", "here"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert [(quick, str(data)) for quick, data in asked] == [(True, "here")]
    assert "**Missed**: fast. Measured: slow." in done.stdout
    for path in (page, folder / "README.md"):
        text = path.read_text(encoding="utf-8")
        assert "`python -m experiments reproduce inference --quick`" in text
        assert "quick run" in text
        assert (path.parent / "plots" / "made.svg").read_text(encoding="utf-8") == "<svg></svg>"


def test_sets_are_a_page_of_their_own(asked, tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.reproduce.command.run_sets", lambda *_: FOUND)
    done = CliRunner().invoke(app, ["reproduce", "inference", "--parts", "sets", "--to", str(tmp_path)])
    assert (done.exit_code, asked) == (0, [])
    assert "`python -m experiments reproduce inference --parts sets`" in (tmp_path / "README.md").read_text("utf-8")


@pytest.mark.parametrize("option", [("--weka",), ("--parts", "2"), ("--dry-run",), ("--seed", "3")])
def test_options_of_the_other_experiments_are_refused(asked, option):
    done = CliRunner().invoke(app, ["reproduce", "inference", *option])
    assert isinstance(done.exception, ParameterError)
    assert option[0] in str(done.exception)
    assert asked == []
