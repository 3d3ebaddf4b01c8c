"""``incrowd lab reproduce inference``: the experiments on hiding cells, from made tables."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from incrowd.cli.main import app
from incrowd.errors import ParameterError
from incrowd.lab.section import Goal, Picture, Section, Table

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

    monkeypatch.setattr("incrowd.lab.inference.experiment.run_inference", run)
    return seen


def test_the_page_is_written_with_its_pictures_and_told(asked, tmp_path):
    page, folder = tmp_path / "docs" / "page.md", tmp_path / "out"
    words = ["lab", "reproduce", "inference", "--quick", "--to", str(folder), "--page", str(page), "--data", "here"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert [(quick, str(data)) for quick, data in asked] == [(True, "here")]
    assert "**Missed**: fast. Measured: slow." in done.stdout
    for path in (page, folder / "README.md"):
        text = path.read_text(encoding="utf-8")
        assert "`incrowd lab reproduce inference --quick`" in text
        assert "quick run" in text
        assert (path.parent / "plots" / "made.svg").read_text(encoding="utf-8") == "<svg></svg>"


@pytest.mark.parametrize("option", [("--weka",), ("--parts", "2"), ("--dry-run",), ("--seed", "3")])
def test_options_of_the_other_experiments_are_refused(asked, option):
    done = CliRunner().invoke(app, ["lab", "reproduce", "inference", *option])
    assert isinstance(done.exception, ParameterError)
    assert option[0] in str(done.exception)
    assert asked == []
