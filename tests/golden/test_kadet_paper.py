"""The worked examples of the kADET paper, and the figures of its experiments that can be checked."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from incrowd.measures.information import entropy
from incrowd.models.kadet import KAdet
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.columns import holds
from incrowd.vocabulary.requirements.diversity import EntropyDiversity
from incrowd.vocabulary.schema import Column, Role, Schema
from support.oracle_gain import information_gain

GOLDEN = json.loads(Path(__file__).with_name("kadet.json").read_text())
MORTGAGE, ZERO, ADULT = GOLDEN["mortgage"], GOLDEN["zero_case"], GOLDEN["adult_train"]
PEOPLE = [row[0] for row in MORTGAGE["rows"]]


def induced(columns, rows, names, target, hierarchies=None, **parameters):
    frame = pl.DataFrame(rows, schema=columns, orient="row").cast(pl.String)
    roles = dict.fromkeys(names, Role.QUASI_IDENTIFIER) | {target: Role.TARGET}
    hierarchies = hierarchies or {}
    schema = Schema(tuple(Column(n, roles.get(n, Role.OTHER), hierarchy=hierarchies.get(n)) for n in columns))
    table, _ = encode(read(frame), schema, [*names, target])
    return KAdet(score="gain", **parameters).induce(table, schema)


def mortgage(k, **parameters):
    names = ["marital", "sports_car"]
    return induced(
        MORTGAGE["columns"], MORTGAGE["rows"], names, "loan_risk", k=k, private=("sports_car",), **parameters
    )


def trace(found):
    return [[event.path, event.attribute, event.outcome] for event in found.trace]


def members(found):
    return sorted(sorted(PEOPLE[row] for row in span.rows) for span in found.spans)


def leaf_sizes(found, rows):
    leaf = dict.fromkeys(found.model.tree.leaves, 0)
    for path in rows:
        leaf[path] += 1
    return sorted(leaf.values())


def test_mortgage_with_k_3():
    found = mortgage(3)
    assert trace(found) == MORTGAGE["k3_trace"]
    assert members(found) == MORTGAGE["k3_span_members"]
    assert [round(event.score, 4) for event in found.trace] == [
        MORTGAGE["root_gain"]["sports_car"],
        MORTGAGE["gain_marital_given_sports_car_yes"],
    ]
    model = found.model
    assert (model.spans, model.smallest_span) == (2, 3)
    assert all(len(span.leaves) * len(model.classes) == 4 for span in found.spans)
    classes = {path: model.classes[model.labels[path]] for path in model.tree.leaves}
    assert sorted(classes.values()) == ["bad", "bad", "good"]


def test_mortgage_leaves_of_one_and_two_people_are_legitimate_but_show_no_counts():
    frame = pl.DataFrame(MORTGAGE["rows"], schema=MORTGAGE["columns"], orient="row")
    schema = Schema(tuple(Column(name) for name in MORTGAGE["columns"]))
    table, _ = encode(read(frame), schema, MORTGAGE["columns"])
    model = mortgage(3).model
    assert leaf_sizes(mortgage(3), model.leaf_of(table).tolist()) == MORTGAGE["k3_leaf_sizes"]
    assert [counts for counts in model.safe_counts if counts] == [(3, 0)]


def test_mortgage_gain_of_marital_at_the_root():
    branches = [[2, 1], [2, 1]]
    assert round(information_gain(branches), 4) == MORTGAGE["root_gain"]["marital"]


def test_mortgage_with_k_4_stays_at_one_split():
    found = mortgage(4)
    assert trace(found) == MORTGAGE["k4_trace"]
    assert members(found) == [sorted(PEOPLE)]
    assert found.model.tree.attributes == ("sports_car",)


def test_mortgage_with_k_7_has_no_tree():
    found = mortgage(7)
    assert found.model is None
    assert found.reason == "The table has 6 rows, fewer than k=7."


def test_mortgage_with_a_public_class():
    assert mortgage(2, class_private=False).model.spans == 2
    assert "A class of 'loan_risk' has 2 rows" in mortgage(3, class_private=False).reason


def test_a_value_that_a_span_does_not_have_is_no_breach():
    names = ["pub", "priv"]
    found = induced(ZERO["columns"], ZERO["rows"], names, "y", k=ZERO["k"], private=("priv",))
    splits = [event.attribute for event in found.trace if event.outcome == "split"]
    assert len(splits) == ZERO["splits_zero_allowed"]
    assert sorted(splits) == ["priv", "pub", "pub"]
    assert found.model.smallest_span >= ZERO["k"]


def test_the_l_that_caps_the_confidence():
    said = GOLDEN["l_diversity"]
    bits = entropy([said["confidence"], 1 - said["confidence"]])  # Friedman, Schuster, Wolff 2006, section 4.2
    diversity = EntropyDiversity(Fraction(int(2**bits * 10**12), 10**12))
    assert round(float(diversity.l), 3) == said["l_printed"]
    assert round(diversity.bits, 2) == said["entropy_bits_printed"]
    for histogram in ([17, 3], [85, 15], [86, 14], [9, 1], [1, 1]):
        counts = np.array(histogram)
        assert holds(diversity, counts) == holds(ConfidenceCap(said["confidence"]), counts)


def test_the_lowest_confidence_there_can_be():
    counts = np.sum(ADULT["root_parts"]["sex"]["2"], axis=0)
    assert counts.sum() == ADULT["n"]
    assert round(100 * counts.max() / counts.sum(), 1) == ADULT["root_confidence_percent_printed"]
    found = adult(100, max_confidence=0.75)
    assert found.model is None
    assert "75.1%" in found.reason
    assert adult(100, max_confidence=0.752).model is not None


def adult(k, **parameters):
    """The two attributes of the story in section 4.1, every row as often as in the training file."""
    rows = [row[:3] for row in ADULT["relationship_marital_class"] for _ in range(row[3])]
    paths = ADULT["paths"]
    names = ["relationship", "marital-status"]
    hierarchies = {name: Hierarchy.from_paths(name, paths[name]) for name in names}
    return induced([*names, "class"], rows, names, "class", hierarchies, k=k, **parameters)


def gain(name, level):
    return information_gain(ADULT["root_parts"][name][level])


@pytest.mark.parametrize(("name", "level", "expected"), ADULT["root_candidates"])
def test_adult_candidates_at_the_root(name, level, expected):
    assert round(gain(name, level), 4) == expected["gain"]
    assert min(map(sum, ADULT["root_parts"][name][level])) == expected["min_leaf"]


def test_adult_relationship_splits_the_root_up_to_k_750():
    first = adult(750).trace[0]
    assert (first.path, first.attribute, first.level, first.outcome) == ("root", "relationship", 0, "split")
    assert first.score == pytest.approx(gain("relationship", "3"))


def test_adult_generalized_marital_status_replaces_it_at_k_1000():
    found = adult(1000)
    told = [(event.attribute, event.level, event.outcome) for event in found.trace[:3]]
    assert told == [("relationship", 0, "breach"), ("marital-status", 0, "breach"), ("marital-status", 1, "split")]
    scores = [gain("relationship", "3"), gain("marital-status", "4"), gain("marital-status", "3")]
    assert [event.score for event in found.trace[:3]] == pytest.approx(scores)
    root = found.model.tree.nodes[0]
    assert "Partner-present" in [found.model.groups[branch.child] for branch in root.branches]


def test_adult_root_splits_with_nobody_guessed_above_85_percent():
    cap = ConfidenceCap(0.85)
    kept = [
        [name, level]
        for name, levels in ADULT["root_parts"].items()
        for level, parts in levels.items()
        if len(parts) > 1 and all(holds(cap, part) for part in parts)
    ]
    assert kept == ADULT["root_splits_not_above_85"]
