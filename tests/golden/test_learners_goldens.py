"""Our learners give Weka's scores on an invented table; the figures were made once with Weka 3.9.7."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Discretization, Examples, predicted
from incrowd.recipients.matrix import Attribute

KNOWN = json.loads((Path(__file__).parent / "learners.json").read_text(encoding="utf-8"))


def attribute(name, categories, values):
    if categories is None:
        return Attribute(name, np.array([np.nan if value is None else value for value in values]))
    return Attribute(name, np.array([-1 if value is None else value for value in values]), tuple(categories))


ROWS = Examples(
    tuple(attribute(**each) for each in KNOWN["attributes"]), np.array(KNOWN["classes"]), tuple(KNOWN["labels"])
)
TRAIN, TEST = ROWS.take(np.arange(100)), ROWS.take(np.arange(100, 150))
TOLERANCE = {"logistic(C=5e7, solver='newton-cholesky', missing='mode')": 1e-3}  # Weka stops its search earlier


@pytest.mark.parametrize("name", KNOWN["scores"])
def test_scores_are_those_of_weka(name):
    scores = find_learner(name).fit(TRAIN, 0).scores(TEST)
    wekas = np.array(KNOWN["scores"][name])
    np.testing.assert_allclose(scores, wekas, atol=TOLERANCE.get(name, 1e-6))
    np.testing.assert_array_equal(predicted(scores), predicted(wekas))


@pytest.mark.parametrize("name", KNOWN["weighted_scores"])
def test_scores_of_weighted_rows_are_those_of_weka(name):
    weighted = replace(TRAIN, weights=0.5 + (np.arange(100) % 4) * 0.5)
    scores = find_learner(name).fit(weighted, 0).scores(TEST)
    np.testing.assert_allclose(scores, KNOWN["weighted_scores"][name], atol=TOLERANCE.get(name, 1e-6))


def test_cuts_are_those_of_weka():
    cuts = {each.name: found for each, found in zip(TRAIN.attributes, Discretization.of(TRAIN).cuts, strict=True)}
    assert {name: found.tolist() for name, found in cuts.items() if found is not None} == KNOWN["cuts"]
