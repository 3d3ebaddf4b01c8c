"""Charts of a comparison."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from incrowd.comparisons.charts import (
    ParetoPoint,
    comparison_drawing,
    frontier,
    measure_by_k,
    pareto,
    releases_of,
)
from incrowd.comparisons.summary import Summary
from incrowd.comparisons.trial import Result
from incrowd.drawing.svg import ChartBox, text_width
from incrowd.errors import ParameterError
from support.axes import RecordedAxes

METHODS = [f"method-{number}" for number in range(6)]
KS = (5, 10, 20, 50, 100, 110, 1000)


def summary(methods=METHODS, ks=KS, risk=1.0):
    found = [Result("unprotected", 1, 0, 0, "nb", accuracy=0.86, train_rows=500, test_rows=500)]
    found.append(Result("majority", 1, 0, 0, "majority", accuracy=0.6, train_rows=500, test_rows=500))
    for place, method in enumerate(methods):
        for k in ks:
            accuracy = 0.85 - place * 0.003 - k / 10000
            figures = {"train_rows": 500, "test_rows": 500, "average_risk": risk / (k + place)}
            found.append(Result(method, k, 0, 0, "nb", accuracy=accuracy, **figures))
    return Summary.of(found)


def parsed(svg):
    return ElementTree.fromstring(svg)


def texts(svg, kind):
    return [(t.text, float(t.get("x")), float(t.get("y"))) for t in parsed(svg).iter("text") if t.get("class") == kind]


def boxes(svg):
    """The room that every text takes."""
    found = []
    for text in parsed(svg).iter("text"):
        wide = text_width(text.text) - 1
        x, y = float(text.get("x")), float(text.get("y"))
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.get("text-anchor", "start")]
        found.append((text.text, ChartBox(left, y - 10, left + wide, y + 2)))
    return found


@pytest.mark.parametrize("chart", [measure_by_k, pareto])
@pytest.mark.parametrize(
    "methods", [METHODS[:1], METHODS, [f"kactus(numeric='mean', reading='{i}')" for i in range(9)]]
)
@pytest.mark.parametrize("ks", [(5,), KS])
def test_no_two_labels_touch_and_all_are_inside(chart, methods, ks):
    svg = chart(summary(methods, ks), "nb")
    width, height = float(parsed(svg).get("width")), float(parsed(svg).get("height"))
    found = boxes(svg)
    for place, (said, box) in enumerate(found):
        assert box.left >= -1, said
        assert box.right <= width + 1, said
        assert box.bottom <= height, said
        for other, beside in found[place + 1 :]:
            assert not box.touches(beside), (said, other)


def test_the_accuracy_chart_tells_everything_in_words():
    svg = measure_by_k(summary(METHODS[:2], (5, 20)), "nb")
    said = parsed(svg).get("aria-label")
    assert said.startswith(
        "Accuracy of nb by k. unprotected 86.0 %; baseline: most frequent class 60.0 %; method-0 k=5"
    )
    assert [label for label, _, _ in texts(svg, "legend")] == [
        "unprotected",
        "baseline: most frequent class",
        "method-0",
        "method-1",
    ]


def test_higher_accuracy_is_higher_on_the_chart():
    svg = measure_by_k(summary(METHODS[:1], (5, 1000)), "nb")
    line = next(p for p in parsed(svg).iter("path") if p.get("class") == "line series-0" and p.get("d").count("L") == 1)
    line = [p for p in parsed(svg).iter("path") if p.get("class") == "line series-0"][-1]
    (_, first), (_, last) = (map(float, pair.split()) for pair in re.findall(r"[\d.]+ [\d.]+", line.get("d")))
    assert first < last


def test_nothing_is_coloured_but_by_the_style_sheet():
    for svg in (measure_by_k(summary(), "nb"), pareto(summary(), "nb")):
        assert not re.search(r'(fill|stroke|style)="', svg)


def test_the_frontier_is_what_no_other_release_beats():
    found = [
        ParetoPoint("a", 5, 0.2, 0.9),
        ParetoPoint("b", 5, 0.1, 0.9),
        ParetoPoint("c", 5, 0.05, 0.7),
        ParetoPoint("d", 5, 0.3, 0.95),
    ]
    assert [one.method for one in frontier(found)] == ["c", "b", "d"]
    twins = [ParetoPoint("a", 5, 0.1, 0.9), ParetoPoint("b", 5, 0.1, 0.9)]
    assert frontier(twins) == twins


def test_releases_without_a_measured_risk_are_not_drawn():
    assert pareto(summary(risk=0.0), "nb") is None
    assert len(releases_of(summary(METHODS[:2], (5, 20)), "nb")) == 4


def test_axes_get_each_method_with_its_interval_beside_the_table_and_the_baseline():
    axes, made = RecordedAxes(), summary(METHODS[:2], (5, 20))
    drawing = comparison_drawing(made, None, "k")
    drawing.on(axes)
    assert axes.labels == ["method-0", "method-1", "unprotected", "baseline: most frequent class"]
    (ks, values), named = axes.named("errorbar")[0]
    assert ks == [5, 20]
    cells = [made.find("method-0", k, "nb") for k in ks]
    assert values == pytest.approx([100 * cell.value for cell in cells])
    low, high = named["yerr"]
    assert low == pytest.approx([100 * (cell.value - cell.interval.low) for cell in cells])
    assert high == pytest.approx([100 * (cell.interval.high - cell.value) for cell in cells])
    assert [values for values, _ in axes.named("axhline")] == [(86.0,), (60.0,)]
    assert [ticks for (ticks, _), _ in axes.named("set_xticks")] == [[5, 20]]
    assert drawing.picture == measure_by_k(made, "nb")


def test_axes_get_a_point_for_each_release():
    axes, made = RecordedAxes(), summary(METHODS[:2], (5, 20))
    comparison_drawing(made, "nb", "risk").on(axes)
    releases = releases_of(made, "nb")
    drawn = [point for (xs, ys), _ in axes.named("plot") for point in zip(xs, ys, strict=True)]
    assert sorted(drawn) == sorted((one.risk, 100 * one.value) for one in releases)
    assert [words for (words, _), _ in axes.named("annotate")] == [f"k={one.k}" for one in releases]
    (line, _) = axes.named("step")[0]
    assert line[0] == [one.risk for one in frontier(releases)]


def test_a_learner_is_drawn_by_any_name_that_comparisons_take():
    made = summary(METHODS[:2], (5, 20))
    assert comparison_drawing(made, "naive-bayes", "k").picture == measure_by_k(made, "nb")


@pytest.mark.parametrize(
    ("made", "learner", "against", "words"),
    [
        (summary(), "c45", "k", "'c45' was not compared. Learners: nb"),
        (summary(), None, "time", "against must be one of k, risk, purity, inference"),
        (summary(), None, "inference", "No inference was measured"),
        (summary(risk=0.0), None, "risk", "No risk was measured"),
        (Summary.of([]), None, "k", "nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_is_said(made, learner, against, words):
    with pytest.raises(ParameterError, match=words):
        comparison_drawing(made, learner, against)


@pytest.mark.parametrize("against", ["purity", "inference"])
def test_what_is_reached_stands_against_what_is_told_of_the_class(against):
    figures = {"train_rows": 500, "test_rows": 500}
    told = [(0.6, -0.01), (0.9, 0.2)]
    found = [
        Result("blend", k, 0, 0, "nb", accuracy=0.7 + 0.1 * place, purity=purity, class_advantage=advantage, **figures)
        for place, (k, (purity, advantage)) in enumerate(zip((100, 10), told, strict=True))
    ]
    made, axes = Summary.of([*found, Result("unprotected", 1, 0, 0, "nb", accuracy=0.86, **figures)]), RecordedAxes()
    releases = releases_of(made, "nb", against)
    place = ("purity", "inference").index(against)
    assert {one.k: one.risk for one in releases} == {100: told[0][place], 10: told[1][place]}
    assert [one.k for one in frontier(releases)] == [100, 10]
    assert "k=10" in {words for words, _ in boxes(pareto(made, "nb", against))}
    comparison_drawing(made, "nb", against).on(axes)
    assert not axes.named("set_xscale")
