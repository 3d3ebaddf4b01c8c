"""What attacks found, as a drawing and on axes."""

from __future__ import annotations

from xml.etree import ElementTree

from incrowd.attacks.attack import Finding
from incrowd.attacks.run import AttackReport
from support.axes import RecordedAxes

SVG = "{http://www.w3.org/2000/svg}"
REPORT = AttackReport(
    (
        Finding("leak", "x", 0.5, 0.1, (0.4, 0.6), 0.2, "share of rows", attack="homogeneity"),
        Finding("no leak found", "x", 0.51, 0.5, None, None, "AUC", attack="model membership"),
        Finding("no leak found", "x", 40.0, 1.0, (30.0, 50.0), 60.0, "lift", attack="beyond"),
        Finding("not run", "No order.", attack="row order"),
    )
)


def test_each_attack_with_figures_has_a_row_and_the_others_are_named():
    drawing = REPORT.plot()
    root = ElementTree.fromstring(drawing.svg)
    labels = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "label"]
    assert labels == ["homogeneity", "model membership"]
    assert "beyond the axis: beyond and row order." in drawing.svg
    assert "homogeneity: leak, 0.5 (0.4 to 0.6) share of rows, control 0.1, goal 0.2" in root.get("aria-label")
    marks = [mark.get("class") for tag in ("circle", "path") for mark in root.iter(f"{SVG}{tag}")]
    assert sum(mark == "point leak" for mark in marks) == sum(mark == "point sound" for mark in marks) == 2


def test_axes_get_what_was_measured_with_its_interval_control_and_goal():
    axes = RecordedAxes()
    assert REPORT.plot(ax=axes) is axes
    assert axes.labels == ["leak", "no leak found", "control", "goal"]
    (values, rows), named = axes.named("errorbar")[0]
    assert (values, rows) == ([0.5], [0])
    assert [round(end[0], 9) for end in named["xerr"]] == [0.1, 0.1]
    assert [values for values, _ in axes.named("plot")] == [([0.1, 0.5], [0, 1]), ([0.2], [0])]
    assert [names for (_, names), _ in axes.named("set_yticks")] == [["homogeneity", "model membership"]]


def test_the_page_has_the_chart_where_something_was_measured():
    assert "<svg" in REPORT._repr_html_()
    assert "<svg" not in AttackReport((REPORT["row order"],))._repr_html_()
