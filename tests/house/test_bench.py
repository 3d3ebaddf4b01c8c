"""The benchmarks run, tell what they found, and the page says how it was made."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from bench.chart import bar_chart, line_chart
from bench.process import Cost, Costs, Workshop
from bench.section import Goal, Section, Table

ROOT = Path(__file__).parents[2]
HEADINGS = ["## Growing the tree", "## The whole command", "## What a release keeps"]


@pytest.mark.slow
def test_a_quick_run_goes_through_everything(tmp_path):
    page = tmp_path / "made" / "performance.md"
    command = [sys.executable, "-m", "bench", "all", "--quick", "--write", page]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("## ")] == HEADINGS
    assert "quick run on a tiny table" in done.stdout
    assert "stand-in" in done.stdout
    assert "python -m bench all --quick --write performance.md" in page.read_text(encoding="utf-8")
    shown = re.findall(r"\(plots/(\w+\.svg)\)", page.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.name for path in (page.parent / "plots").iterdir())


def test_the_published_page_names_the_command_that_made_it():
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert "`python -m bench all --write docs/performance.md`" in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == HEADINGS
    for picture in re.findall(r"\((plots/\w+\.svg)\)", text):
        ElementTree.parse(ROOT / "docs" / picture)


def test_a_process_is_charged_for_what_it_does_and_not_for_its_parent(tmp_path):
    ballast = bytearray(300_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    workshop = Workshop(tmp_path)
    small = workshop.run([sys.executable, "-I", "-S", "-c", "pass"])
    large = workshop.run(
        [sys.executable, "-I", "-S", "-c", "x = b'x' * 200_000_000; print('{\"seconds\": {\"a\": 1}}')"]
    )
    assert small.memory < 100_000_000 < 200_000_000 < large.memory < 280_000_000
    assert (small.stages, large.stages) == ({}, {"a": 1})
    assert 0 < small.cpu < 60
    assert len(ballast) > large.memory


def test_a_command_that_fails_is_not_a_measurement(tmp_path):
    with pytest.raises(RuntimeError, match="status 3"):
        Workshop(tmp_path).run([sys.executable, "-I", "-S", "-c", "raise SystemExit(3)"])


def test_costs_are_medians_and_peaks():
    runs = tuple(Cost(wall, 2 * wall, int(1e9 * wall), {"a": wall}) for wall in (3.0, 1.0, 8.0))
    costs = Costs(runs)
    assert (costs.wall, costs.best, costs.cpu, costs.gigabytes, costs.stages) == (3.0, 1.0, 6.0, 8.0, {"a": 3.0})


def test_a_missed_goal_is_told_with_its_reason():
    missed, met = Goal("fast", "slow", False, "It waits."), Goal("fast", "fast", True, "It waits.")
    section = Section("Speed", ["Words.", missed, met, Table(("", "s"), [("a", "1")])])
    assert [goal.met for goal in section.goals] == [False, True]
    text = section.text(pictures=False)
    assert "**Missed**: fast. Measured: slow. It waits." in text
    assert "**Met**: fast. Measured: fast.\n" in text
    assert "|   | s |\n|---|--:|\n| a | 1 |" in text


def test_charts_are_well_formed_and_escape_their_words():
    lines = line_chart("a < b", "x", "y", {"s & t": [(1, 0.0), (10, 3.0)], "u": [(1, 2.0)]}, str)
    bars = bar_chart("<b>", "s", {"one": {"p": 1.0, "q": 0.0}, "two": {"p": 2.0}}, limit=1.5)
    for chart, lone in ((lines, "a < b"), (bars, "<b>")):
        assert ElementTree.fromstring(chart).get("aria-label") == lone
    points = [circle.get("cy") for circle in ElementTree.fromstring(lines).iter("{http://www.w3.org/2000/svg}circle")]
    assert float(points[1]) < float(points[2]) < float(points[0])
