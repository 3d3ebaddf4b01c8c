"""Clusters or splits, and plain values: which trials there are, how the choice follows, what the page says."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.blend.choices import (
    BLEND,
    CLUSTERS,
    COUNTS,
    KEEL,
    KS,
    PAPERS,
    PLAIN,
    choice_trials,
    chosen_plain,
)
from experiments.many_tables.page import Kept
from experiments.many_tables.trials import FILE, Outcome, Trial


def outcomes(accuracy):
    """What every learner gets right, by table, method, k and what is asked."""
    return {
        trial: Outcome({"nb": (accuracy(trial), 0.5, None)}, {}, {"pure": 0.25, "advantage": 0.1})
        for trial in choice_trials()
        if (trial.repetition, trial.fold) == (0, 0)
    }


def test_every_trial_is_named_once_and_the_last_k_comes_last():
    every = list(choice_trials())
    assert len(every) == len(set(every))
    assert {one.table for one in every} == {*PAPERS, *KEEL}
    first = [one.k for one in every[: len(every) // 2]]
    assert set(first[: first.index(KS[-1])]) == {*KS[:-1]}
    assert {one.method for one in every if one.besides} == {BLEND, CLUSTERS}


@pytest.mark.parametrize(("lead", "chosen"), [(0.02, PLAIN[2]), (0.0, PLAIN[0]), (-0.02, PLAIN[0])])
def test_another_default_of_plain_values_must_lead(lead, chosen):
    def accuracy(trial):
        noise = 0.001 * (1 + PAPERS.index(trial.table)) if trial.table in PAPERS else 0
        return 0.7 + (lead + noise * (lead > 0) if trial.method == PLAIN[2] else 0)

    assert chosen_plain(Kept(outcomes(accuracy))) == chosen


def test_a_lead_within_noise_changes_nothing():
    def accuracy(trial):
        far = trial.table in PAPERS[::2]
        return 0.7 + (0.05 if far else -0.045) * (trial.method == PLAIN[1])

    assert chosen_plain(Kept(outcomes(accuracy))) == PLAIN[0]


def test_the_page_is_written_from_what_is_kept(tmp_path):
    def accuracy(trial):
        worth = {BLEND: 0.7, COUNTS: 0.69, CLUSTERS: 0.72, PLAIN[0]: 0.69}
        return worth.get(trial.method, 0.6) + (0.001 * PAPERS.index(trial.table) if trial.table in PAPERS else 0)

    with (tmp_path / FILE).open("w", encoding="utf-8") as file:
        for trial, one in outcomes(accuracy).items():
            known = {"scores": one.scores, "facts": one.facts}
            file.write(json.dumps({"mark": "m", "trial": vars(trial), "outcome": known}) + "\n")
    (tmp_path / "readers.json").write_text(json.dumps([["kactus-plus", "somehow", *["81.0"] * 5]]), encoding="utf-8")
    page = tmp_path / "page.md"
    how = ["choices", "--page", str(page), "--keep", str(tmp_path), "--minutes", "0"]
    done = CliRunner().invoke(app, how)
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "+2.0 ± 0.0" in text  # clusters less splits
    assert "**Met**: the default of plain values (`kactus-plus`)" in text
    assert "Measured: -1.0." in text
    assert Trial("car", BLEND, 10, "", 0, 0) in outcomes(accuracy)
