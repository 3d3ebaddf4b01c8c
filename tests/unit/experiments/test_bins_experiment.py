"""Fine bins against those where the class changes: the protocol's trials, intervals, and the page made of them."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from experiments import bins
from experiments.many_tables.trials import Outcome


def outcome_of(trial):
    """Naive Bayes loses two points by fine bins, the others gain one; tables differ a little."""
    fine = trial.method == bins.FINE
    shift = fine * (bins.REPORTED + bins.LARGE).index(trial.table) / 1000
    scores = dict.fromkeys(bins.LEARNERS, (0.71 + 0.01 * fine + shift, 0.7, None))
    if fine:
        scores["nb"] = (0.69 - shift, 0.7, None)
    return Outcome(scores, {}, {"pure": 0.25, "members": 0.8, "strangers": 0.7, "advantage": 1 / 3})


def test_an_interval_is_student_s():
    mean, low, high = bins.interval([1.0, 2.0, 3.0])
    assert (mean, round(low, 2), round(high, 2)) == (2.0, -0.48, 4.48)  # 4.30 * 1 / sqrt(3)
    assert bins.interval([1.0])[1:] == (-float("inf"), float("inf"))


def test_the_page_says_who_is_worse(tmp_path):
    lines = [{"trial": asdict(one), "outcome": asdict(outcome_of(one))} for one in bins.trials()]
    (tmp_path / bins.FILE).write_text("\n".join(map(json.dumps, lines)))
    kept = bins.read_outcomes(tmp_path)
    assert bins.apart(kept, "vowel", "c45", bins.KS) == pytest.approx(1.0)
    assert bins.apart(kept, "vowel", "nb", (10,)) == pytest.approx(-2.0)
    bins.write(tmp_path / "page.md", tmp_path)
    text = (tmp_path / "page.md").read_text()
    assert "worse are: naive Bayes on small tables, naive Bayes on larger tables." in text
    assert f"{len(lines)} of {len(lines)} trials have run." in text
    assert "no learner is clearly worse by groups fine, shown by class. Measured: worse are: none." in text


def test_two_trials_of_a_method_differ_in_their_bins_alone():
    every = list(bins.trials())
    assert len(set(every)) == len(every)
    assert {one.method for one in every} == {"unprotected", *bins.METHODS}
