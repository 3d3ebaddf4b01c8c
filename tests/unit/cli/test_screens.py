"""What commands leave on the screen and on the disk: progress goes, files stay unless they may be replaced."""

from __future__ import annotations

import io

import pytest

from incrowd.cli.shared import FirstRun, progress
from incrowd.comparisons.datasets.invented import make_patients


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_changes_in_place_and_is_gone_in_the_end(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress() as show:
        show("verifying: 2 of 10 rows, 4 s left")
    shown = screen.getvalue()
    assert "verifying: 2 of 10 rows, 4 s left" in shown
    assert shown.endswith("\x1b[1A\x1b[2K")  # up to the line, and the line is erased


@pytest.mark.parametrize("loaded", [True, False])
def test_the_first_run_says_that_it_compiles_once_it_does(monkeypatch, loaded):
    monkeypatch.setattr("incrowd.cli.shared.kernels_are_compiled", lambda: False)
    words = FirstRun()
    monkeypatch.setattr("sys.modules", {"numba": None} if loaded else {})
    assert str(words) == ("first run: compiling, up to half a minute" if loaded else "")


def test_progress_is_silent_where_nobody_looks(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    with progress() as show:
        show("reading")
    assert pipe.getvalue() == ""


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "people.csv", "--recipe", "old"),
        ("hierarchy", "draft", "people.csv", "--column", "age", "--to", "old"),
        ("risk", "people.csv", "-q", "age,sex", "--report", "old"),
        ("attack", "people.csv", "--original", "people.csv", "--report", "old"),
        ("transform", "plan.json", "people.csv", "--to", "old"),
        ("decode", "people.csv", "--to", "old"),
        ("explain", "plan.json", "--svg", "old"),
        ("hide", "people.csv", "--cell", "1:age", "--to", "old.csv", "--report", "old"),
        ("model", "people.csv", "--target", "sex", "--public", "age", "--to", "new.json", "--plot", "old"),
        ("release", "people.csv", "-q", "age", "--to", "new.csv", "--report", "old"),
    ],
    ids=lambda words: words[0],
)
def test_no_command_overwrites_a_file_by_itself(command, tmp_path, words):
    make_patients(50).select("age", "sex").write_csv(tmp_path / "people.csv")
    (tmp_path / "old").write_text("dear to somebody")
    status, _, err = command(*words)
    assert (status, err) == (2, "incrowd: old exists already. Name another file, or use --replace.\n")
    assert (tmp_path / "old").read_text() == "dear to somebody"
