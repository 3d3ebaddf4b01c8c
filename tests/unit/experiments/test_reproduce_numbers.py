"""Differences, marks, judgements and colours, on numbers made by hand."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from experiments.papers import by_case, printed
from experiments.reproduce.document import Document, Grid, Shown, as_html, as_markdown, escaped
from experiments.reproduce.evidence import (
    Cell,
    Evidence,
    Printed,
    Value,
    distance,
    distances,
    distinct,
    flag,
    flagged,
    furthest,
    is_large,
    ranked,
    shade,
)
from experiments.reproduce.experiment import ERROR, Part
from experiments.reproduce.iac import beats_mondrian, is_faster, j48_loses_later, stays_close
from experiments.reproduce.kactus import (
    KACTUS,
    falls_with_k,
    fewer_known_is_better,
    logistic_is_unstable,
    ours_is_better,
    rivals_collapse,
)
from experiments.reproduce.kadet import better_by, bumps, exposes_none, has_root, worst_confidence
from experiments.reproduce.page import beside_grid, marks_grid
from experiments.reproduce.pictures import Lines, beside_chart
from experiments.reproduce.trees import Spans
from incrowd.comparisons.trial import Result
from incrowd.drawing.palette import DARK, PALETTE, page_style
from incrowd.drawing.svg import standalone
from incrowd.errors import ParameterError

SAME_K = Part("3", "Table 3", control="kACTUS")
FROM_ONE = Part("2", "Table 2", control="none", at_same_k=False)


def cell(percents, printed=None, algorithm="kACTUS", k=5, **said):
    """A cell with one result for each per cent: five repetitions of two folds, if there are ten."""
    results = tuple(
        Result("m", k, place // 2, place % 2, "c45", accuracy=percent / 100) for place, percent in enumerate(percents)
    )
    told = {"part": "3", "label": "8/14", "inducer": "C4.5", **said}
    return Cell(algorithm=algorithm, k=k, results=results, printed=printed, **told)


def ten(mean, gaps):
    return [mean + gap for gap in gaps]


WIGGLE = [0.2, -0.1, 0.1, 0.0, -0.2, 0.1, 0.0, 0.1, -0.1, -0.1]


def test_a_cell_has_mean_spread_and_difference():
    found = cell([80.0, 82.0], Printed(80.5, 0.3, "+"))
    assert found.mean == pytest.approx(81.0)
    assert found.sd == pytest.approx(2**0.5)
    assert found.difference == pytest.approx(0.5)
    assert cell([80.0]).sd is None
    wrong = cell([80.0, 82.0], Printed(18.0), measure=ERROR)
    assert (wrong.mean, wrong.difference) == (pytest.approx(19.0), pytest.approx(1.0))
    assert cell([], Printed(80.0)).difference is None


def test_differences_are_counted_by_size():
    cells = [cell([80.0 + gap], Printed(80.0), k=k) for k, gap in enumerate((0.0, 1.0, -1.5, 2.0, -5.0, 6.0), 1)]
    found = distance("all", cells)
    assert (found.cells, found.within) == (6, (2, 4, 5))
    assert found.mean == pytest.approx(2.5 / 6)
    assert found.absolute == pytest.approx(15.5 / 6)
    assert [one.k for one in furthest(cells, 2)] == [6, 5]
    assert [(one.name, one.cells) for one in distances(cells, lambda c: "odd" if c.k % 2 else "even")] == [
        ("odd", 3),
        ("even", 3),
    ]


def test_doubtful_unknown_and_repeated_cells_do_not_count():
    cells = [cell([80.0], Printed(90.0), doubt="misprint"), cell([], Printed(80.0)), cell([70.0])]
    assert distance("all", cells) is None
    assert furthest(cells, 3) == []
    printed_twice = [cell([81.0], Printed(80.0), part=part) for part in ("3", "5")]
    other = cell([81.0], Printed(80.0), inducer="PART")
    assert distinct([*printed_twice, other]) == [printed_twice[0], other]
    assert len(distinct([cell([], part="3"), cell([], part="5")])) == 2


@pytest.mark.parametrize(
    ("difference", "kind", "large"),
    [
        (0.0, "same", False),
        (1.0, "same", False),
        (-1.01, "below-1", False),
        (2.0, "above-1", False),
        (2.01, "above-2", True),
        (-5.0, "below-2", True),
        (-5.01, "below-3", True),
        (None, "", False),
    ],
)
def test_colours_tell_side_and_size(difference, kind, large):
    assert (shade(difference), is_large(difference)) == (kind, large)
    if kind and kind != "same":
        assert re.search(rf"\.incrowd \.{kind} {{[^}}]*background: color-mix\(", page_style())


def test_marks_are_those_of_the_paper():
    own = cell(ten(85, WIGGLE))
    low, high = cell(ten(80, WIGGLE[::-1])), cell(ten(90, WIGGLE[::-1]))
    assert (flag(low, own, True), flag(high, own, True), flag(low, own, False)) == ("+", "-", "*")
    assert flag(own, own, True) == ""
    golden = [0.02, 0.01, 0.03, 0.01, 0.00, 0.02, 0.01, 0.01, 0.02, 0.03]
    assert flag(cell([50 - 100 * gap for gap in golden]), cell([50.0] * 10), True) == "", "F = 3.4 is below 4.735"
    assert flag(cell(ten(80, WIGGLE)[:8]), own, True) == "", "not five repetitions"


def test_marks_compare_at_the_same_k_or_with_one():
    control = [cell(ten(85, WIGGLE), k=k) for k in (5, 20)]
    rivals = [cell(ten(mean, WIGGLE[::-1]), algorithm="TDS", k=k) for mean, k in ((80, 5), (90, 20), (80, 50))]
    assert [one.flag for one in flagged([*control, *rivals], SAME_K)] == ["", "", "+", "-", ""]
    plain = cell(ten(85, WIGGLE), algorithm="none", k=1)
    later = [cell(ten(mean, WIGGLE[::-1]), k=k) for mean, k in ((85, 5), (80, 10))]
    assert [one.flag for one in flagged([plain, *later], FROM_ONE)] == ["", "", "*"]
    other = cell(ten(80, WIGGLE[::-1]), label="11/14")
    assert [one.flag for one in flagged([plain, other], FROM_ONE)] == ["", ""]
    assert flagged(control, Part("x", "X")) == control


def test_marks_are_counted_for_ours_and_the_paper():
    cells = [
        cell(ten(85, WIGGLE)),
        cell(ten(80, WIGGLE[::-1]), Printed(80.0, 0.1, "+"), algorithm="TDS"),
        cell(ten(90, WIGGLE[::-1]), Printed(80.0, 0.1, "+"), algorithm="TDR"),
    ]
    grid = marks_grid(SAME_K, flagged(cells, SAME_K))
    assert [[shown.said for shown in row] for row in grid.rows] == [
        ["TDS", "1", "1", "1", "0", "0"],
        ["TDR", "1", "0", "1", "1", "0"],
    ]
    assert marks_grid(SAME_K, [cell([80.0, 81.0])]) is None


def test_a_table_shows_ours_theirs_and_the_difference():
    cells = [
        cell([86.0], Printed(85.0, 0.1), algorithm="none", k=1),
        cell([82.0], Printed(85.5, 0.1, "*")),
        cell([82.0], Printed(95.5, 0.1), k=10, doubt="misprint"),
        cell([], Printed(70.0, 0.1), k=20),
        cell([70.0, 72.0], k=30),
    ]
    grid = beside_grid(cells, KACTUS)
    assert grid.header == ("", "learner", "k=1", "k=5", "k=10", "k=20", "k=30")
    assert grid.rows == (
        (
            Shown("8/14"),
            Shown("C4.5"),
            Shown("86.00 / 85.00 / +1.00", "same"),
            Shown("82.00 / 85.50* / -3.50", "below-2", strong=True),
            Shown("82.00 / (95.50)", "doubt"),
            Shown("– / 70.00"),
            Shown("71.00 ± 1.41"),
        ),
    )
    assert "**82.00 / 85.50\\* / -3.50**" in as_markdown(Document("t", (grid,)))
    drawn = '<td class="number"><span class="below-2">82.00 / 85.50* / -3.50</span></td>'
    assert drawn in as_html(Document("t", (grid,)))


def test_several_algorithms_have_rows_of_their_own():
    grid = beside_grid([cell([80.0]), cell([81.0], algorithm="TDS"), cell([82.0], algorithm="none", k=1)], KACTUS)
    assert [tuple(shown.said for shown in row) for row in grid.rows] == [
        ("8/14", "C4.5", "kACTUS", "", "80.00"),
        ("8/14", "C4.5", "TDS", "", "81.00"),
        ("8/14", "C4.5", "unprotected", "82.00", ""),
    ]


def test_nothing_in_a_table_becomes_markup():
    grid = Grid("a|b", ("x", "y"), ((Shown("*a*"), Shown("<b>|", strong=True)),))
    assert "| \\*a\\* | **\\<b\\>\\|** |" in as_markdown(Document("t", (grid,)))
    assert "&lt;b&gt;|" in as_html(Document("t", (grid,)))
    assert escaped("`a*b` and *c*") == "`a*b` and \\*c\\*"
    assert escaped("one ` alone *") == "one ' alone \\*"


def evidence(*values):
    return Evidence(tuple(Value(*value) for value in values))


def test_kactus_is_compared_with_each_rival_in_the_cells_both_have():
    found = ours_is_better(
        evidence(
            ("3", "8/14", "C4.5", "kACTUS", 5, 86.0),
            ("3", "8/14", "C4.5", "TDS", 5, 84.0),
            ("3", "8/14", "C4.5", "TDR", 5, 86.5),
            ("3", "8/14", "C4.5", "TDR", 20, 10.0),
        )
    )
    assert (found.met, found.figures) == (False, "kACTUS minus TDS (Table 3) +2.00, TDR (Table 3) -0.50")
    assert ours_is_better(evidence(("2", "Glass", "C4.5", "kACTUS", 5, 60.0))) is None


def test_accuracy_falls_where_means_of_whole_series_fall():
    falling = [("2", "a", "C4.5", "kACTUS", k, mean) for k, mean in ((5, 80.0), (10, 79.0), (30, 79.05))]
    assert falls_with_k(evidence(*falling)).met
    rising = [("2", "b", "C4.5", "kACTUS", k, mean) for k, mean in ((5, 80.0), (10, 79.0), (30, 85.0))]
    assert not falls_with_k(evidence(*falling, *rising)).met
    torn = [("2", "b", "C4.5", "kACTUS", 30, 99.0)]
    assert falls_with_k(evidence(*falling, *torn)).met
    assert falls_with_k(evidence(*torn)) is None


def test_fewer_known_attributes_may_be_worse_by_half_a_point():
    def three(*means):
        labels = ("8/14", "11/14", "14/14")
        return [("3", label, "C4.5", "kACTUS", 5, mean) for label, mean in zip(labels, means, strict=True)]

    assert fewer_known_is_better(evidence(*three(84.0, 84.4, 83.0))).met
    assert not fewer_known_is_better(evidence(*three(84.0, 84.6, 83.0))).met
    assert fewer_known_is_better(evidence(*three(84.0, 84.4, 83.0)[:2])) is None


def test_rivals_collapse_if_three_quarters_are_near_guessing():
    means = (75.2, 76.6, 74.0, 90.0)
    values = [("3", "14/14", "C4.5", "TDS", 500 + place, mean) for place, mean in enumerate(means)]
    found = rivals_collapse(evidence(*values, ("3", "14/14", "C4.5", "TDS", 5, 75.2)))
    assert (found.met, found.figures) == (True, "within 1.5 points: TDS 3 of 4, mean 78.95")
    assert not rivals_collapse(evidence(*values[1:])).met
    assert rivals_collapse(evidence(("3", "8/14", "C4.5", "TDS", 500, 75.2))) is None


def test_instability_is_the_largest_deviation_at_small_k():
    values = [
        ("2", "a", "Logistic", "kACTUS", 5, 50.0, 9.0),
        ("2", "a", "C4.5", "kACTUS", 5, 50.0, 3.0),
        ("2", "a", "C4.5", "kACTUS", 30, 50.0, 20.0),
    ]
    assert logistic_is_unstable(evidence(*values)).met
    assert logistic_is_unstable(evidence(*values[:1])) is None


def test_kadet_is_judged_by_errors_and_trees():
    values = [("id3", "8", "tree", name, k, mean) for name, k, mean in (("kADET", 750, 18.7), ("TDS", 750, 19.0))]
    values.append(("id3", "8", "tree", "kADET", 1000, 17.9))
    assert better_by("id3")(evidence(*values)).figures == "0.30 points lower, over 1 k"
    assert bumps(evidence(*values)).met
    assert better_by("c45")(evidence(*values)) is None
    assert bumps(evidence(*values[:2])) is None
    trees = (Spans(10, "x", 9, 0.02), Spans(75, "x", 9, 0.0), Spans(100, "x", 9, 0.0))
    assert exposes_none(Evidence((), (), {"spans c45": trees})).met
    late = (*trees, Spans(200, "x", 9, 0.01))
    assert not exposes_none(Evidence((), (), {"spans c45": late})).met
    roots = (Spans(750, "relationship", 9, 0.0), Spans(1000, "marital-status (groups)", 9, 0.0))
    assert has_root(Evidence((), (), {"spans id3": roots})).met
    assert not has_root(Evidence((), (), {"spans id3": (roots[0], Spans(1000, "sex", 2, 0.0))})).met
    assert worst_confidence(Evidence((), (), {"majority": 22654 / 30162})).met
    nothing = Evidence(())
    assert {judge(nothing) for judge in (exposes_none, has_root, worst_confidence)} == {None}


def test_iac_is_judged_cell_by_cell():
    def pair(part, inducer, k, own, other):
        return [(part, "x", inducer, "IACk", k, own), (part, "x", inducer, "InfoGain Mondrian", k, other)]

    good = [*pair("8", "J48", 100, 82.0, 81.0), *pair("8", "J48", 147, 80.0, 81.0), *pair("4", "J48", 147, 80.0, 81.0)]
    assert beats_mondrian("8")(evidence(*good)).met
    assert not beats_mondrian("4")(evidence(*good)).met
    assert j48_loses_later(evidence(*good)).met
    assert j48_loses_later(evidence(*good[:2])) is None
    plain = [("8", "x", "J48", "none", 1, 82.5), ("4", "x", "Naive Bayes", "none", 1, 82.5)]
    excused = pair("4", "Naive Bayes", 200, 70.0, 81.0)
    assert not stays_close(evidence(*good, *plain, *excused)).met
    assert stays_close(evidence(*good[:2], *plain, *excused)).met
    slow, quick = (
        Cell("8", "x", "J48", name, 5, (Result("m", 5, 0, 0, "c45", accuracy=0.8, release_seconds=seconds),))
        for name, seconds in (("InfoGain Mondrian", 2.0), ("IACk", 1.0))
    )
    assert is_faster(Evidence.ours([slow, quick], {})).met
    assert is_faster(Evidence.ours([slow], {})) is None


def test_ranks_take_the_cases_that_have_all():
    values = [
        Value("5", "x", "C4.5", name, k, mean)
        for k, means in ((5, (80, 81)), (20, (79, 82)), (50, (70, 71)))
        for name, mean in zip(("Mondrian", "kACTUS"), means, strict=True)
    ]
    found = ranked([*values, Value("5", "x", "C4.5", "kACTUS", 100, 99.0)], ["Mondrian", "kACTUS"], "kACTUS")
    assert (found.friedman.cases, found.friedman.mean_ranks) == (3, (2.0, 1.0))
    assert ranked(values[:2], ["Mondrian", "kACTUS"], "kACTUS") is None


def test_a_drawing_has_solid_lines_for_ours_and_broken_ones_for_the_paper():
    series = {"a < b": Lines([(5, 80.0), (20, 79.0)], [(5, 81.0), (20, 78.0)]), "c": Lines([(5, 80.0)])}
    svg = beside_chart("Accuracy", "% right", series, "the paper", 85.0)
    drawn = ElementTree.fromstring(svg)
    kinds = [path.get("class") for path in drawn.iter("path")]
    assert kinds.count("line printed series-0") == 1
    assert "line unprotected" in kinds
    assert "a < b, the paper k=5: 81.0 %, k=20: 78.0 %" in drawn.get("aria-label")
    alone = ElementTree.fromstring(beside_chart("Error", "%", {"c": Lines([(5, 80.0)])}, "the paper"))
    assert "the paper" not in [text.text for text in alone.iter("text")]


def test_a_drawing_as_a_file_has_every_colour_it_uses_on_light_and_dark():
    text = standalone(beside_chart("Accuracy", "%", {"c": Lines([(5, 80.0)])}, "the paper"))
    light, _, dark = text.partition(DARK)
    assert "var(" not in text
    for kind, name in ((".series-0 { color", "series-0"), (".ground { fill", "paper"), (".note { fill", "soft")):
        assert f".incrowd {kind}: {PALETTE[name][0]}; }}" in light
        assert f".incrowd {kind}: {PALETTE[name][1]}; }}" in dark


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: printed("kactus_table9"), "There are: kactus_table1"),
        (lambda: by_case("kactus_table5", ("TDS",)), "no algorithm 'TDS'. It has: "),
    ],
)
def test_what_was_not_printed_is_refused(call, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        call()
