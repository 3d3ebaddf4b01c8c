"""Means, intervals, noise, and what is recommended from them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from incrowd.comparisons.recommend import recommend
from incrowd.comparisons.scores import MEASURES
from incrowd.comparisons.summary import Summary, noise, rows_tested
from incrowd.comparisons.trial import Result


def results(method, k, accuracies, learner="c45", folds=2, rows=1000, **more):
    """One result for each accuracy, in folds of repetitions."""
    return [
        Result(method, k, i // folds, i % folds, learner, accuracy=a, train_rows=rows, test_rows=rows, **more)
        for i, a in enumerate(accuracies)
    ]


def summary(**methods):
    found = [*results("unprotected", 1, [0.86, 0.86]), *results("majority", 1, [0.75, 0.75], "majority")]
    for method, accuracies in methods.items():
        found += results(method, 5, accuracies)
    return Summary.of(found)


def test_the_best_is_named_with_what_it_costs_and_who_is_as_good():
    said = recommend(summary(kactus=[0.85, 0.84], tdr=[0.851, 0.849], mondrian=[0.80, 0.79]))
    assert str(said) == (
        "For C4.5 at k=5 use tdr: accuracy 85.0 % ±1.6 (baseline 75.0 %), 1.0 points below the unprotected table; "
        "differences under 2.2 points may be chance: kactus cannot be distinguished from it."
    )


def test_a_difference_too_large_to_ignore_and_too_small_to_be_sure_of_is_said():
    said = str(recommend(summary(kactus=[0.85, 0.85], tdr=[0.84, 0.83])))
    assert said.endswith("1.0 points below the unprotected table; not clearly worse: tdr (83.5 %).")


def test_where_nothing_is_shown_to_beat_the_baseline_nothing_is_recommended():
    said = recommend(summary(kactus=[0.76, 0.75], tdr=[0.70, 0.70]))
    assert str(said) == (
        "For C4.5 at k=5 no release is shown to be better than the baseline, always predicting the most frequent class "
        "(accuracy 75.0 %): the best, kactus, reaches 75.5 % ±1.9. More rows or repetitions may show a difference."
    )
    assert said.overall == ""


def test_a_method_for_everything_is_named():
    found = [*results("unprotected", 1, [0.9, 0.9]), *results("majority", 1, [0.5, 0.5], "majority")]
    for k in (5, 20):
        found += results("kactus", k, [0.8, 0.8]) + results("tdr", k, [0.6, 0.6])
    said = recommend(Summary.of(found))
    assert said.method == "kactus"
    assert said.overall == (
        "If you want one method: kactus is best, or as good as the best, in both cases below; against the unprotected "
        "table it loses 10.0 points on average and 10.0 points at most."
    )
    assert len(said.advice) == 2


def test_a_form_is_also_said_in_the_words_of_a_release():
    found = [*results("unprotected", 1, [0.9, 0.9]), *results("majority", 1, [0.5, 0.5], "majority")]
    for k in (5, 20):
        found += results("mondrian(form='counts')", k, [0.8, 0.8])
    assert recommend(Summary.of(found)).overall.endswith("at most. In a release: method mondrian, form counts.")


def test_one_method_is_named_where_only_one_case_is_clear_and_none_where_no_case_is():
    found = [*results("unprotected", 1, [0.7, 0.7]), *results("majority", 1, [0.5, 0.5], "majority")]
    found += results("kactus", 5, [0.8, 0.8]) + results("kactus", 20, [0.5, 0.5])
    said = recommend(Summary.of(found))
    assert said.overall == (
        "If you want one method: kactus is best, or as good as the best, in the one case below where a release beats "
        "the baseline; it is nowhere below the unprotected table."
    )
    nothing = recommend(Summary.of([*found[:4], *results("kactus", 5, [0.5, 0.5]), *results("kactus", 20, [0.5, 0.5])]))
    assert nothing.method is None
    assert nothing.overall.startswith("No method is recommended: nowhere below is a release shown to be better")
    assert len(nothing.advice) == 2


def test_a_published_tree_stands_beside_the_releases():
    found = [*results("unprotected", 1, [0.9, 0.9], "nb"), *results("majority", 1, [0.5, 0.5], "majority")]
    found += results("kadet", 5, [0.85, 0.85], "kadet") + results("kactus", 5, [0.7, 0.7], "nb")
    made = Summary.of(found)
    (advice,) = recommend(made).advice
    assert str(advice) == (
        "For naive Bayes at k=5 use kactus: accuracy 70.0 % ±2.0 (baseline 50.0 %), 20.0 points below the unprotected "
        "table. A published tree (kadet) reaches 85.0 % ±1.6."
    )
    assert made.find("kadet", 5, "nb").value == 0.85


def test_what_is_much_worse_is_not_mentioned_however_unsure():
    wild = [0.85, 0.60, 0.85, 0.62, 0.84, 0.61]
    said = str(recommend(summary(kactus=[0.85, 0.84, 0.85, 0.84, 0.85, 0.84], tdr=wild)))
    assert "tdr" not in said


def test_better_than_unprotected_is_said():
    assert "0.5 points above the unprotected table" in str(recommend(summary(kactus=[0.865, 0.865])))
    assert "as much as the unprotected table" in str(recommend(summary(kactus=[0.86, 0.86])))


def test_with_few_folds_the_interval_is_that_of_one_test():
    cell = summary(kactus=[0.85, 0.84]).find("kactus", 5, "c45")
    assert cell.value == pytest.approx(0.845)
    assert cell.interval.kind == "Wilson, 2,000 test rows"


def test_with_enough_folds_noise_is_that_of_paired_differences():
    first, second = [0.85, 0.80, 0.84, 0.79, 0.86, 0.81], [0.84, 0.79, 0.83, 0.78, 0.85, 0.82]
    made = summary(kactus=first, tdr=second)
    one, other = made.find("kactus", 5, "c45"), made.find("tdr", 5, "c45")
    differences = [a - b for a, b in zip(first, second, strict=True)]
    mean = sum(differences) / 6
    variance = sum((d - mean) ** 2 for d in differences) / 5
    assert noise(one, other) == pytest.approx(2.5706 * math.sqrt(variance * (1 / 6 + 1)), rel=1e-4)
    assert one.interval.kind.startswith("t interval over 6 folds, corrected")


def test_rows_tested_again_in_another_repetition_are_the_same_rows():
    assert rows_tested(results("kactus", 5, [0.8] * 4, rows=100)) == 200


def test_impossible_trials_leave_no_figures_but_a_reason():
    found = [*results("unprotected", 1, [0.8]), Result("tdr", 5, 0, 0, "c45", status="impossible: too few")]
    made = Summary.of(found)
    cell = made.find("tdr", 5, "c45")
    assert not cell.is_known
    assert cell.status == "impossible: too few"
    assert made.rivals("c45", 5) == ()
    assert recommend(made).advice == ()


def by_log_loss(name, losses):
    return [
        replace(one, log_loss=loss) for one, loss in zip(results(name, 5, [0.8] * len(losses)), losses, strict=True)
    ]


def test_the_measure_says_which_is_best_and_in_what():
    found = [replace(one, k=1, learner="majority") for one in by_log_loss("majority", [0.69, 0.69, 0.69])]
    found += [replace(one, k=1) for one in by_log_loss("unprotected", [0.40, 0.41, 0.40])]
    found += by_log_loss("tdr", [0.50, 0.51, 0.50]) + by_log_loss("kactus", [0.45, 0.46, 0.45])
    made = Summary.of(found, MEASURES["log-loss"])
    assert [cell.method for cell in made.rivals("c45", 5)] == ["kactus", "tdr"]
    (advice,) = recommend(made).advice
    assert str(advice) == (
        "For C4.5 at k=5 use kactus: log loss 0.453 ±0.029 (baseline 0.690), 0.050 above the unprotected table."
    )


def test_one_split_says_nothing_of_the_uncertainty_of_a_log_loss():
    found = [replace(one, k=1, learner="majority") for one in by_log_loss("majority", [0.69])]
    found += [replace(one, k=1) for one in by_log_loss("unprotected", [0.40])] + by_log_loss("tdr", [0.50])
    made = Summary.of(found, MEASURES["log-loss"])
    assert made.find("tdr", 5, "c45").interval is None
    assert str(recommend(made)) == (
        "For C4.5 at k=5 no release is shown to be better than the baseline, predicting the same class shares for "
        "every row (log loss 0.690): the best, tdr, reaches 0.500. More rows or repetitions may show a difference."
    )


def test_a_measure_without_a_value_is_not_known():
    assert not Summary.of(results("tdr", 5, [0.8]), MEASURES["auc"]).find("tdr", 5, "c45").is_known
