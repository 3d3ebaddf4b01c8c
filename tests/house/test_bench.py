"""The benchmarks run, tell what they found, and the page says how it was made."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import polars as pl
import pytest
from bench import growth
from bench.alone import Figures, measure_alone
from bench.census import ATTRIBUTES, K, census, hierarchies, lengthen, widen
from bench.growth import Series, measure_all, power
from bench.page import sections_of
from bench.parts import GROUPS, PARTS, TITLES
from bench.people import TARGET
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.releasing import release_timed
from bench.setting import Setting

from experiments.charts import bar_chart, line_chart
from experiments.pages import Goal, Section, Table
from support.spark_session import QUICK_JAVA

ROOT = Path(__file__).parents[2]
HEADINGS = [f"## {PARTS[name].title}" for name in GROUPS["all"]]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.slow
def test_a_quick_run_goes_through_everything(tmp_path):
    page = tmp_path / "made" / "performance.md"
    command = [sys.executable, "-m", "bench", "all", "--quick", "--write", page]
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": QUICK_JAVA}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("## ")] == HEADINGS
    assert "quick run on a tiny table" in done.stdout
    assert "stand-in" in done.stdout
    assert "python -m bench all --quick --write performance.md" in page.read_text(encoding="utf-8")
    shown = re.findall(r"\(plots/(\w+\.svg)\)", page.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.name for path in (page.parent / "plots").iterdir())
    assert {"kadet_id3.svg", "kadet_c45.svg", "kadet_exposed.svg"} <= set(shown)
    assert "**Met**" in (trees := sections_of(page.read_text(encoding="utf-8"))[PARTS["kadet"].title])
    assert "4 of 4" in trees  # models that were verified


def test_the_published_page_names_the_commands_that_made_it():
    text = (ROOT / "docs" / "results" / "performance.md").read_text(encoding="utf-8")
    sections = sections_of(text)
    assert list(sections) == list(TITLES)
    for section in sections.values():
        made = section.split("\n\n")[1]
        command = r"python -m bench \w+( --up-to \d+)? --write docs/results/performance.md"
        assert re.fullmatch(rf"\*Written by `{command}` on \d+ cores, .+\*", made)
    for picture in re.findall(r"\((plots/\w+\.svg)\)", text):
        ElementTree.parse(ROOT / "docs" / "results" / picture)


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
    (low, high), (between,) = heights(lines)
    assert high < between < low


def heights(chart):
    """How far down the points of each line are."""
    root = ElementTree.fromstring(chart)
    drawn = [path.get("d") for path in root.findall(f"{SVG}path") if path.get("class").startswith("line ")]
    return [[float(point.split()[1]) for point in line.removeprefix("M").split("L")] for line in drawn]


def test_a_chart_with_powers_of_ten_puts_equal_ratios_at_equal_distances():
    chart = line_chart("t", "x", "y", {"s": [(1, 0.05), (10, 0.5), (100, 5.0)]}, str, scale="powers")
    (high,) = heights(chart)
    assert high[0] - high[1] == pytest.approx(high[1] - high[2], abs=0.2)
    assert high[0] > high[1]


def test_a_close_chart_uses_its_height_and_a_long_legend_takes_two_lines():
    series = {f"method number {place}": [(1.0, 80.0 + place / 10), (10.0, 79.0)] for place in range(9)}
    chart = line_chart("t", "k", "%", series, str, scale="close")
    high = [height for line in heights(chart) for height in line]
    assert max(high) - min(high) > 100
    legend = [text for text in ElementTree.fromstring(chart).iter(f"{SVG}text") if text.get("class") == "legend"]
    assert len(legend) == 9
    assert len({text.get("y") for text in legend}) > 1
    assert all(float(text.get("x")) < 720 for text in legend)


def test_more_rows_and_more_columns_are_of_the_same_kind():
    frame, source = census(Setting(quick=True))
    assert (source, frame.columns) == ("stand-in", [*ATTRIBUTES, TARGET])
    longer, wider = lengthen(frame, 3 * frame.height), widen(frame, 19)
    assert (longer.shape, wider.shape) == ((3 * frame.height, 9), (frame.height, 20))
    assert widen(frame, 3).equals(frame.select(*ATTRIBUTES[:3], TARGET))
    assert wider.columns[7:10] == ["native-country", "age 2", "workclass 2"]
    for name, hierarchy in hierarchies(wider.columns[:-1]).items():
        values = set(frame[name.partition(" ")[0]])
        assert set(wider[name]) <= values
        assert all(hierarchy.covers(value) for value in values)
    assert (wider["age"] == wider["age 2"]).mean() == pytest.approx(0.8, abs=0.05)
    assert set(longer["age"]) <= set(frame["age"])
    assert lengthen(frame, 500).equals(lengthen(frame, 500))


@pytest.mark.slow
def test_a_release_is_timed_as_a_whole_and_in_its_deciding(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "people.csv"
    census(Setting(quick=True))[0].write_csv(file)
    for method in ("mondrian", "kactus"):
        spent = release_timed(file, method, K)
        assert 0 < spent.deciding < spent.whole
        assert spent.facts.method == method
        assert spent.facts.smallest_group >= K
        assert [column.name for column in spent.facts.schema.columns if column.hierarchy] == (
            ATTRIBUTES if method == "mondrian" else []
        )


def test_the_power_is_the_slope_of_the_logarithms():
    sizes = (10.0, 70.0, 900.0)
    assert power([(n, 3 * n**1.5) for n in sizes]) == pytest.approx(1.5)
    assert power([(n, 0.2) for n in sizes]) == pytest.approx(0.0)
    assert power([(10.0, 1.0)]) is None


def test_what_takes_too_long_is_left_out_with_its_reason(tmp_path):
    file = tmp_path / "people.csv"
    census(Setting(quick=True))[0].write_csv(file)
    assert measure_alone("mondrian", K, file, file, 0.01) == LeftOut("not done after 0 s")


@pytest.mark.slow
def test_what_fails_is_not_a_measurement(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age,class\n30,a\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"mondrian on people\.csv ended with status 1"):
        measure_alone("mondrian", K, file, file, 60)


def test_a_method_that_was_stopped_is_not_tried_on_more(tmp_path, monkeypatch):
    asked = []

    def measured(method, k, few, file, limit):
        rows = pl.read_csv(file).height
        asked.append((method, rows))
        return LeftOut("slow") if (method, rows) == ("tdr", 20) else Figures(rows / 10, rows / 100, 1)

    monkeypatch.setattr(growth, "measure_alone", measured)
    table = pl.DataFrame({"age": range(40), TARGET: ["a"] * 40})
    found = measure_all(["tdr", "iack"], [10, 20, 40], table.head, tmp_path)
    assert asked == [("tdr", 10), ("iack", 10), ("tdr", 20), ("iack", 20), ("iack", 40)]
    assert [type(each) for each in found[0].figures.values()] == [Figures, LeftOut, LeftOut]
    assert found[1].points(lambda figures: figures.whole) == [(10.0, 1.0), (20.0, 2.0), (40.0, 4.0)]
    assert growth._left_out("rows", found) == [
        "Left out: `tdr` with 20 rows (slow); `tdr` with 40 rows (not tried). A process was given 120 s."
    ]
    text = str(growth._table("s", found, lambda figures: figures.whole))
    assert "left out" in text
    assert "nan" not in text
    assert "None" not in text
    assert text.endswith("|  1.00 |      1.00 |")
    lone = Series("tdr", {10: Figures(1.0, 0.0, 1)})
    assert lone.points(lambda figures: figures.deciding) == [(10.0, 0.001)]
