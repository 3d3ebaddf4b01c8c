"""Statistics recomputed from the tables the papers print."""

import polars as pl
import pytest

from experiments.papers import PRINTED, by_case, printed
from experiments.significance import (
    bonferroni_dunn,
    bonferroni_dunn_quantile,
    five_by_two_test,
    friedman_test,
    ranks,
)

RECOMPUTED = [
    # table, methods, cases, mean ranks, Iman-Davenport F, critical difference
    ("kactus_table3", ("TDR", "TDS", "kACTUS"), 72, (2.347, 2.444, 1.208), 63.6, 0.374),
    ("kactus_table3", ("TDR", "TDS", "kACTUS", "kADET"), 18, (2.917, 2.944, 1.278, 2.861), 11.3, 1.030),
    ("kactus_table4", ("TDR", "TDS", "kACTUS"), 72, (2.229, 2.729, 1.042), 214.5, 0.374),
    ("kactus_table4", ("TDR", "TDS", "kACTUS", "kADET"), 18, (2.472, 3.361, 1.056, 3.111), 30.3, 1.030),
    ("kactus_table5", ("Mondrian", "kACTUS"), 72, (1.972, 1.028), 586.3, 0.231),
]


def test_five_by_two_golden() -> None:
    found = five_by_two_test([(0.02, 0.01), (0.03, 0.01), (0.00, 0.02), (0.01, 0.01), (0.02, 0.03)])
    assert found.statistic == pytest.approx(3.4)
    assert not found.is_significant


@pytest.mark.parametrize(("statistic", "is_significant"), [(4.73, False), (4.74, True)])
def test_five_by_two_rejects_above_4_735(statistic: float, is_significant: bool) -> None:
    """One repetition varies by 2d, the others are c: F = (2 c^2 * 4 + 2 (c^2 + d^2)) / (4 d^2)."""
    d = ((10 / (4 * statistic - 2)) ** 0.5) * 0.01
    found = five_by_two_test([(0.01, 0.01)] * 4 + [(0.01 + d, 0.01 - d)])
    assert found.statistic == pytest.approx(statistic)
    assert found.is_significant is is_significant


@pytest.mark.parametrize(("table", "methods", "cases", "ranks", "f_statistic", "difference"), RECOMPUTED)
def test_mean_ranks_and_conclusions_of_the_kactus_paper(table, methods, cases, ranks, f_statistic, difference) -> None:
    found = friedman_test(by_case(table, methods).select(methods).to_numpy())
    assert found.cases == cases
    assert found.mean_ranks == pytest.approx(ranks, abs=0.0005001)
    assert found.f_statistic == pytest.approx(f_statistic, abs=0.05)
    assert found.is_significant
    posthoc = bonferroni_dunn(dict(zip(methods, found.mean_ranks, strict=True)), cases, "kACTUS")
    assert posthoc.difference == pytest.approx(difference, abs=0.0005)
    assert set(posthoc.worse_than("kACTUS")) == set(methods) - {"kACTUS"}
    assert posthoc.better_than("kACTUS") == ()


@pytest.mark.parametrize(
    ("table", "rival", "claim"),
    [
        ("kactus_table3", "TDS", "TDS lower than kACTUS on average (Table 3)"),
        ("kactus_table3", "TDR", "TDR lower than kACTUS on average (Table 3)"),
        ("kactus_table3", "kADET", "kADET lower than kACTUS on average (Table 3)"),
        ("kactus_table4", "TDS", "TDS lower without taxonomies (Table 4)"),
        ("kactus_table4", "TDR", "TDR lower without taxonomies (Table 4)"),
        ("kactus_table4", "kADET", "kADET lower without taxonomies (Table 4)"),
        ("kactus_table5", "Mondrian", "Mondrian lower than kACTUS on average (Table 5)"),
    ],
)
def test_what_the_abstract_claims(table: str, rival: str, claim: str) -> None:
    found = by_case(table, (rival, "kACTUS"))
    lower = (found["kACTUS"] - found[rival]).mean()
    recomputed = printed("kactus_claims").filter(pl.col("claim") == claim)["recomputed"].item()
    assert lower == pytest.approx(recomputed, abs=0.0005001)


@pytest.mark.parametrize(
    ("table", "rival", "higher", "lower"),
    [
        ("kactus_table3", "TDS", 51, 1),
        ("kactus_table3", "TDR", 52, 2),
        ("kactus_table3", "kADET", 13, 0),
        ("kactus_table4", "TDS", 65, 0),
        ("kactus_table4", "TDR", 58, 1),
        ("kactus_table5", "Mondrian", 58, 0),
    ],
)
def test_marks_of_significance_are_all_there(table: str, rival: str, higher: int, lower: int) -> None:
    flags = printed(table).filter(pl.col("algorithm") == rival)["flag"]
    assert ((flags == "+").sum(), (flags == "-").sum()) == (higher, lower)


def test_printed_tables_have_their_rows() -> None:
    rows = {name: printed(name).height for name in PRINTED}
    assert rows == {
        "kactus_table1": 10,
        "kactus_table2": 10 * 4 * 6,
        "kactus_table3": 72 * 3 + 18,
        "kactus_table4": 72 * 3 + 18,
        "kactus_table5": 72 * 2,
        "kactus_table6": 6,
        "kactus_claims": 18,
        "kadet_targets": 20,
        "iac_targets": 28,
        "adult_counts": 6,
    }


def test_kactus_has_the_same_accuracies_in_all_tables() -> None:
    three, four, five = (
        by_case(name, ("kACTUS",)).sort("case", "k") for name in ("kactus_table3", "kactus_table4", "kactus_table5")
    )
    assert three.equals(four)
    assert three.equals(five)


def test_inducers_are_called_alike_in_all_tables() -> None:
    called = {"C4.5", "PART", "Naive Bayes", "Logistic"}
    for name in ("kactus_table2", "kactus_table3", "kactus_table4", "kactus_table5"):
        assert set(printed(name)["inducer"]) == called


def test_quantiles_of_bonferroni_and_dunn() -> None:
    found = [bonferroni_dunn_quantile(methods) for methods in (2, 3, 4, 5)]
    assert found == pytest.approx((1.960, 2.241, 2.394, 2.498), abs=0.0005)


def test_mean_ranks_sum_to_that_of_any_order() -> None:
    values = by_case("kactus_table3", ("TDS", "TDR", "kADET", "kACTUS")).drop("case", "k").to_numpy()
    assert ranks(values).mean(axis=0).sum() == pytest.approx(4 * 5 / 2)
