"""Tests of significance, as the experiments use them."""

import math

import numpy as np
import pytest

from experiments.significance import bonferroni_dunn, five_by_two_test, friedman_test, ranks
from incrowd.errors import ParameterError

RANKED = {"TDR": 2.917, "TDS": 2.944, "kACTUS": 1.278, "kADET": 2.861}


def test_no_difference_at_all_is_no_difference() -> None:
    found = five_by_two_test(np.zeros((5, 2)))
    assert (found.statistic, found.p_value, found.is_significant) == (0, 1, False)
    assert str(found).startswith("the methods do not differ significantly")


def test_the_same_difference_in_every_fold_is_beyond_chance() -> None:
    found = five_by_two_test(np.full((5, 2), 0.1))
    assert (found.statistic, found.p_value, found.is_significant) == (math.inf, 0, True)
    assert "mean difference +0.1, 5x2cv F = inf" in str(found)


@pytest.mark.parametrize("differences", [np.zeros((2, 5)), np.zeros(10), np.zeros((5, 3)), []])
def test_five_by_two_takes_five_by_two(differences: object) -> None:
    with pytest.raises(ParameterError, match="5 repetitions of 2 folds"):
        five_by_two_test(differences)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_five_by_two_refuses_what_is_no_number(bad: float) -> None:
    with pytest.raises(ParameterError, match="missing or infinite"):
        five_by_two_test([(bad, 0)] + [(0, 0)] * 4)


def test_the_level_of_a_test_is_the_users() -> None:
    differences = [(0.02, 0.01), (0.03, 0.01), (0.00, 0.02), (0.01, 0.01), (0.02, 0.03)]
    assert not five_by_two_test(differences).is_significant
    assert five_by_two_test(differences, alpha=0.1).is_significant


def test_perfect_agreement_is_infinite() -> None:
    found = friedman_test([[3, 2, 1]] * 7)
    assert found.mean_ranks == (1, 2, 3)
    assert found.chi_square == 14
    assert (found.f_statistic, found.f_p) == (math.inf, 0)
    assert str(found) == "the 3 methods differ over 7 cases (F(2, 12) = inf, p = 0)"


def test_equal_methods_do_not_differ() -> None:
    found = friedman_test(np.ones((4, 3)))
    assert found.mean_ranks == (2, 2, 2)
    assert (found.chi_square, found.f_statistic, found.f_p) == (0, 0, 1)
    assert not found.is_significant


@pytest.mark.parametrize("values", [[[1, 2]], [[1], [2]]])
def test_friedman_needs_two_cases_and_two_methods(values: list[list[int]]) -> None:
    with pytest.raises(ParameterError, match="2 cases and 2 methods"):
        friedman_test(values)


@pytest.mark.parametrize(("values", "reason"), [([1, 2], "a row for each case"), ([[]], "a row for each case")])
def test_ranks_need_a_table(values: object, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        ranks(values)


def test_ranks_need_every_value() -> None:
    with pytest.raises(ParameterError, match="some are missing"):
        ranks([[1, math.nan]])


def test_bonferroni_dunn_says_who_beats_whom() -> None:
    found = bonferroni_dunn(RANKED, 18, "kACTUS")
    assert [name for name, _ in found.mean_ranks] == ["kACTUS", "kADET", "TDR", "TDS"]
    assert str(found) == (
        "mean ranks over 18 cases: kACTUS 1.278, kADET 2.861, TDR 2.917, TDS 2.944; critical difference 1.030 "
        "(Bonferroni-Dunn); kACTUS is better than kADET, TDR and TDS"
    )
    assert bonferroni_dunn(RANKED, 18, "kADET").finding() == "kADET is worse than kACTUS"
    assert bonferroni_dunn(RANKED, 1, "kADET").finding() == "kADET differs from none"
    with pytest.raises(ParameterError, match=r"compares with 'kACTUS' only"):
        found.differ("TDS", "TDR")


@pytest.mark.parametrize("question", ["differ", "better_than", "worse_than", "rank"])
def test_a_method_that_was_not_compared_is_named(question: str) -> None:
    arguments = ("kACTUS", "no-such") if question == "differ" else ("no-such",)
    with pytest.raises(ParameterError, match=r"'no-such' was not compared\. There are: kACTUS"):
        getattr(bonferroni_dunn(RANKED, 18, "kACTUS"), question)(*arguments)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: bonferroni_dunn(RANKED, 18, "no-such"), "'no-such' was not ranked"),
        (lambda: bonferroni_dunn({"a": 1.0}, 18, "a"), "two methods"),
        (lambda: bonferroni_dunn(RANKED, 0, "TDS"), "one case"),
        (lambda: bonferroni_dunn(RANKED, 18, "TDS", alpha=1.0), "between 0 and 1"),
    ],
)
def test_wrong_questions_are_refused(call, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        call()


def test_printed_deviation_is_that_over_folds_of_random_halves() -> None:
    """The paper prints 75.21 ± 0.19 for the majority class; random halves of 45,222 rows deviate by about 0.20."""
    chance = np.random.default_rng(0)
    is_majority = np.arange(45_222) < 34_014
    shares = []
    for _ in range(200):
        first = is_majority[chance.permutation(45_222)[:22_611]].mean()
        shares.append(100 * first)
    assert np.std(shares, ddof=1) == pytest.approx(0.203, abs=0.03)
