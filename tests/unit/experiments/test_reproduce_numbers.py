"""Differences, marks, judgements and colours, on numbers made by hand."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from experiments.papers import by_case, printed
from experiments.reproduce.document import Document, Grid, Picture, Shown, as_html, as_markdown, escaped
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
from experiments.reproduce.iac import (
    beats_mondrian,
    four_do_better,
    further_helps,
    generalized_stays,
    j48_loses_later,
    stays_close,
)
from experiments.reproduce.iac import (
    falls_with_k as iac_falls_with_k,
)
from experiments.reproduce.iac_figures import (
    Reached,
    Suppressed,
    around_two_are_unique,
    figure_blocks,
    information_differs_less,
    is_faster,
    largest_change,
    largest_divergence,
    sex_changes_little,
    shows_more,
)
from experiments.reproduce.kactus import (
    KACTUS,
    falls_with_k,
    fewer_known_is_better,
    logistic_is_unstable,
    ours_is_better,
    rivals_collapse,
)
from experiments.reproduce.kadet import better_by, bumps, exposes_none, has_root, takes_seconds, worst_confidence
from experiments.reproduce.page import beside_grid, marks_grid
from experiments.reproduce.pictures import Lines, beside_chart
from experiments.reproduce.tdr import better_than, nearer_than_nothing, sets_cost_less, stays_useful
from experiments.reproduce.tdr_scaling import Scaled, scales_by_rows, scales_by_sets, scaling_blocks
from experiments.reproduce.trees import Spans
from experiments.scalability import Timed
from incrowd.comparisons.trial import Result
from incrowd.drawing.markup import DARK, PALETTE, page_style
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
    assert [[shown.words for shown in row] for row in grid.rows] == [
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
    assert [tuple(shown.words for shown in row) for row in grid.rows] == [
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
    timed = {"spans id3": (Spans(10, "x", 9, 0.0, 0.5),), "spans c45": (Spans(10, "x", 9, 0.0, 2.0),)}
    assert takes_seconds(Evidence((), (), timed)).met
    assert "C4.5 at most 2.00 s (printed 10 s, 5 times that)" in takes_seconds(Evidence((), (), timed)).figures
    assert not takes_seconds(Evidence((), (), {**timed, "spans id3": (Spans(10, "x", 9, 0.0, 4.5),)})).met
    nothing = Evidence(())
    assert {judge(nothing) for judge in (exposes_none, has_root, worst_confidence, takes_seconds)} == {None}


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
    own = [*good, ("8", "x", "J48", "IACk", 1, 82.4), ("8", "x", "Logistic", "IACk", 1, 81.0)]
    logistic = ("8", "x", "Logistic", "none", 1, 82.5)
    assert generalized_stays(("J48",), ("Logistic",))(evidence(*own, *plain, logistic)).met
    assert not generalized_stays(("Logistic",), ("J48",))(evidence(*own, *plain, logistic)).met
    assert generalized_stays(("J48",), ("SVM",))(evidence(*own, *plain)) is None
    rising = pair("8", "SVM", 10, 80.0, 81.0) + pair("8", "SVM", 20, 79.0, 81.5)
    assert iac_falls_with_k(evidence(*rising)).figures == "in 1 of 2 lines; not SVM (InfoGain Mondrian) +0.50"
    assert four_do_better(evidence(*pair("8", "SVM", 10, 80.0, 81.0), *pair("4", "SVM", 10, 80.5, 81.0))).met
    assert four_do_better(evidence(*rising)) is None
    further = [("8", "x", "SVM", "IACk, generalized further", k, mean) for k, mean in ((10, 80.5), (20, 78.9))]
    assert further_helps(evidence(*rising, *further)).figures == "against IACk on average: SVM +0.20"
    assert further_helps(evidence(*rising)) is None


def iac_facts(**changed):
    """Facts in which everything that the paper's text says holds."""
    few, many = {"sex": 0.1, "race": 0.5, "native-country": 0.6, "age": 0.2}, {"sex": 0.1, "workclass": 0.11}
    change = {**many, "marital-status": 0.12, "age": 0.1}
    one = Suppressed(5, few, dict.fromkeys(few, 0.1), change, (7, 7), (0.6, 0.8))
    seconds = {"IACk": ((2, 0.1), (5, 0.1)), "InfoGain Mondrian": ((2, 0.3), (5, 0.2))}
    facts = {"sizes": ((1, 20), (980, 1000)), "rows": 1000, "suppressed": (one,), "seconds": seconds}
    return {**facts, "reached": (Reached(0.05, 3, 4, 0.02),), **changed}


def test_figures_of_iac_are_judged_on_all_rows():
    judges = (around_two_are_unique, largest_divergence, largest_change, sex_changes_little, is_faster, shows_more)
    good = Evidence((), (), iac_facts())
    assert all(judge(good).met for judge in (*judges, information_differs_less))
    assert {judge(Evidence(())) for judge in (*judges, information_differs_less)} == {None}
    bad = {"sex": 0.9, "race": 0.1, "native-country": 0.1, "age": math.inf}
    worse = Suppressed(5, bad, bad, bad, (7, 7), (0.6, 0.5))
    slower = {"IACk": ((2, 0.4),), "InfoGain Mondrian": ((2, 0.3),)}
    wrong = Evidence((), (), iac_facts(sizes=((1, 30), (970, 1000)), suppressed=(worse,), seconds=slower))
    assert not any(judge(wrong).met for judge in judges)
    blocks = list(figure_blocks(iac_facts(suppressed=(worse,))))
    assert sum(isinstance(block, Picture) for block in blocks) == 4
    cells = [cell.words for block in blocks if isinstance(block, Grid) for row in block.rows for cell in row]
    assert {"infinite", "2.00", "60.0", "50.0"} <= set(cells)
    assert not list(figure_blocks({}))


def test_tdr_is_judged_table_by_table():
    def cells(part, own, plain, removed, other):
        place = (part, "top 5", "C4.5")
        named = {
            ("none", 1): plain,
            ("attributes removed", 1): removed,
            ("TDR", 5): own,
            ("TDR by gain alone", 5): other,
        }
        return [(*place, name, k, mean) for (name, k), mean in named.items()]

    good = evidence(*cells("adult", 83.0, 84.0, 80.0, 82.0), *cells("german-credit", 70.0, 71.0, 68.0, 69.5))
    gain = better_than("TDR by gain alone")
    assert stays_useful(good).figures == "against the table itself: Adult -1.00, German credit -1.00"
    assert stays_useful(good).met
    assert nearer_than_nothing(good).met
    assert gain(good).met
    bad = evidence(*cells("adult", 80.0, 84.0, 79.0, 82.0))
    assert not any(judge(bad).met for judge in (stays_useful, nearer_than_nothing, gain))
    assert {judge(evidence()) for judge in (stays_useful, nearer_than_nothing, gain, sets_cost_less)} == {None}
    sets = [
        ("sets", "x", "C4.5", name, 5, mean) for name, mean in (("TDR, their union", 80.0), ("TDR, three sets", 81.0))
    ]
    assert sets_cost_less(evidence(*sets)).figures == "+1.00 points on average, better or equal in 1 of 1 cells"
    took = [Timed(rows, seconds, 9.0, 0.1, 1.0, 150) for rows, seconds in ((1000, 1.0), (10_000, 5.0))]
    facts = {"by rows": tuple(Scaled(1, one) for one in took), "by sets": (Scaled(1, took[0]), Scaled(3, took[1]))}
    assert scales_by_rows(Evidence((), (), facts)).met
    assert not scales_by_sets(Evidence((), (), facts)).met
    assert scales_by_sets(Evidence((), (), {})) is scales_by_rows(Evidence((), (), {})) is None
    assert any(isinstance(block, Picture) for block in scaling_blocks(facts))


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
