"""kADET: parameters, missing values, thresholds, counts that may be shown, errors."""

import datetime

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, InputError, ParameterError, SchemaError, ValuesError, VerificationError
from incrowd.models.growing import Candidates, Growth, SplitCandidate
from incrowd.models.induction import SpanRequirement
from incrowd.models.kadet import KAdet, publish
from incrowd.models.spans import InductionTable
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.trees.tree import Eq, Gt, In, Le, Missing
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

TYPES = {pl.Int64: ColumnType.INTEGER, pl.Float64: ColumnType.REAL, pl.Date: ColumnType.DATE}


def table_of(frame, target="y", hierarchies=None, orders=None):
    hierarchies, orders = hierarchies or {}, orders or {}
    columns = []
    for name in frame.columns:
        role = Role.TARGET if name == target else Role.QUASI_IDENTIFIER
        kind = ColumnType.ORDERED if name in orders else TYPES.get(frame[name].dtype, ColumnType.CATEGORICAL)
        columns.append(Column(name, role, kind, tuple(orders.get(name, ())), hierarchy=hierarchies.get(name)))
    schema = Schema(tuple(columns))
    return encode(read(frame), schema, frame.columns)[0], schema


def induced(frame, method, **given):
    return method.induce(*table_of(frame, **given))


def ages(values):
    return pl.DataFrame({"age": values, "y": ["old" if age is not None and age > 40 else "young" for age in values]})


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"k": 2, "l": 0.5}, "l must be"),
        ({"k": 2, "l": float("nan")}, "l must be"),
        ({"k": 2, "max_confidence": 0}, "max_confidence must be"),
        ({"k": 2, "max_confidence": 1.5}, "max_confidence must be"),
        ({"k": 2, "score": "gini"}, "score must be"),
        ({"k": 2, "fill": "mean"}, "fill must be"),
        ({"k": 2, "bins": 1}, "bins must be"),
        ({"k": 2, "l": 1.5, "class_private": False}, "public class"),
        ({"k": 2, "max_confidence": 0.8, "class_private": False}, "public class"),
    ],
)
def test_parameters_out_of_range(parameters, word):
    with pytest.raises(ParameterError, match=word):
        KAdet(**parameters)


def test_schema_that_does_not_fit():
    table, schema = table_of(ages([20, 60]))
    with pytest.raises(SchemaError, match="needs a target"):
        KAdet(1).induce(table, Schema((Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER), Column("y"))))
    with pytest.raises(SchemaError, match="attributes to test"):
        KAdet(1).induce(table, Schema((Column("age"), Column("y", Role.TARGET))))
    with pytest.raises(SchemaError, match=r"id3.*'age' are numbers"):
        KAdet(1, score="gain").induce(table, schema)
    with pytest.raises(SchemaError, match="target"):
        KAdet(1, private=("y",)).induce(table, schema)
    with pytest.raises(HeaderError, match="no column 'nobody'"):
        KAdet(1, private=("nobody",)).induce(table, schema)
    with pytest.raises(InputError, match="no rows"):
        KAdet(1).induce(table.take(np.empty(0, np.intp)), schema)


def test_a_private_attribute_need_not_be_a_quasi_identifier():
    table, schema = table_of(ages([20, 30, 50, 60]))
    schema = Schema((Column("age", Role.SENSITIVE, ColumnType.INTEGER), schema["y"]))
    model = KAdet(4, private=("age",)).induce(table, schema).model
    assert model.private == ("age",)
    assert model.spans == 1


def test_missing_values_are_refused_by_column_and_count():
    frame = ages([20, None, 50, None]).with_columns(job=pl.Series(["cook", "cook", None, "nurse"]))
    with pytest.raises(ValuesError, match=r"'age' \(2 rows\), 'job' \(1 rows\).*fill='mode'") as told:
        induced(frame, KAdet(1))
    assert "cook" not in str(told.value)
    with pytest.raises(ValuesError, match=r"missing in 'age' \(2 rows\)\."):
        induced(frame, KAdet(1, fill="value"))


def test_a_missing_class_is_never_made_up():
    frame = pl.DataFrame({"job": ["cook", "cook", "nurse", "nurse"], "y": ["a", "a", None, "b"]})
    for fill in (None, "mode"):
        with pytest.raises(ValuesError, match=r"'y' \(1 rows\).*class of its own"):
            induced(frame, KAdet(1, fill=fill))
    assert None in induced(frame, KAdet(1, fill="value")).model.classes


def test_filling_with_the_mode_and_the_median():
    frame = pl.DataFrame(
        {
            "age": [20, 30, 40, 50, 60, None],
            "job": ["cook", "cook", None, "nurse", "nurse", "cook"],
            "y": ["a", "a", "a", "b", "b", "a"],
        }
    )
    table, schema = table_of(frame)
    model = KAdet(1, fill="mode", prune=False).induce(table, schema).model
    assert {attribute.name: attribute.fill for attribute in model.attributes} == {"age": 40, "job": "cook"}
    assert model.tree.attributes == ("age",)
    assert [model.classes[place] for place in model.predict(table)] == frame["y"].to_list()


def test_missing_as_a_category():
    frame = pl.DataFrame({"job": ["cook", "cook", None, None], "y": ["a", "a", "b", "b"]})
    model = induced(frame, KAdet(2, fill="value", prune=False)).model
    assert [branch.predicate for branch in model.tree.nodes[0].branches] == [Eq("job", "cook"), Missing("job")]
    assert model.attributes[0].missing


def test_a_threshold_leaves_k_on_both_sides_and_is_a_round_number():
    values = [21, 23, 27, 38, 47, 52, 53, 58]
    model = induced(ages(values), KAdet(4, prune=False)).model
    assert [branch.predicate for branch in model.tree.nodes[0].branches] == [Le("age", 40), Gt("age", 40)]
    assert model.safe_counts[1:] == ((0, 4), (4, 0))
    assert induced(ages(values), KAdet(5, prune=False)).model.tree.attributes == ()
    frame = ages(values).with_columns(y=pl.Series(["old"] + ["young"] * 7))
    (cut, _) = induced(frame, KAdet(3, prune=False)).model.tree.nodes[0].branches
    assert 27 <= cut.predicate.threshold < 38


def test_dates_and_ordered_categories_are_split_by_thresholds():
    days = [datetime.date(2024, 1, day) for day in (1, 2, 8, 9)]
    frame = pl.DataFrame({"day": days, "y": ["a", "a", "b", "b"]})
    (low, _) = induced(frame, KAdet(2, prune=False)).model.tree.nodes[0].branches
    assert isinstance(low.predicate, Le)
    frame = pl.DataFrame({"size": ["s", "m", "l", "xl"], "y": ["a", "a", "b", "b"]})
    orders = {"size": ["xs", "s", "m", "l", "xl"]}
    model = induced(frame, KAdet(2, prune=False), orders=orders).model
    sets = [branch.predicate for branch in model.tree.nodes[0].branches]
    assert sets == [In("size", frozenset({"xs", "s", "m"})), In("size", frozenset({"l", "xl"}))]
    assert model.attributes[0].domain == ("xs", "s", "m", "l", "xl")


def test_a_breach_is_generalized_along_the_hierarchy():
    jobs = ["cook", "waiter", "nurse", "nurse", "doctor", "baker"]
    ways = {"cook": "service", "waiter": "service", "baker": "service", "nurse": "health", "doctor": "health"}
    hierarchy = Hierarchy.from_paths("job", [[job, ways[job], "*"] for job in [*ways]])
    frame = pl.DataFrame({"job": jobs, "y": ["a", "a", "b", "b", "b", "a"]})
    found = induced(frame, KAdet(3, score="gain"), hierarchies={"job": hierarchy})
    assert [(event.level, event.outcome) for event in found.trace] == [(0, "breach"), (1, "split")]
    model = found.model
    assert model.groups == (None, "service", "health")
    assert model.tree.nodes[0].branches[0].predicate == In("job", frozenset({"cook", "waiter", "baker"}))
    assert induced(frame, KAdet(3, score="gain")).model.tree.attributes == ()
    short = Hierarchy.from_paths("job", [["cook", "*"]])
    with pytest.raises(ValuesError, match="has a gap"):
        induced(frame, KAdet(3), hierarchies={"job": short})


def test_candidates_below_the_average_gain_have_their_turn_after_the_others():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 200)
    rare = np.where(
        np.arange(200) < 40, np.arange(200), 100 + labels
    )  # tells the class apart, but 40 values are unique
    weak = np.where(rng.random(200) < 0.3, 1 - labels, labels)
    frame = pl.DataFrame({"rare": rare, "weak": weak, "y": labels}).cast(pl.String)
    found = induced(frame, KAdet(20, prune=False))
    told = [(event.attribute, event.outcome) for event in found.trace[:2]]
    assert told == [("rare", "breach"), ("weak", "split")]


def test_requirements_on_the_classes_of_a_span():
    frame = pl.DataFrame({"job": ["cook"] * 10 + ["nurse"] * 10, "y": ["a"] * 9 + ["b"] * 7 + ["a"] * 4})
    assert induced(frame, KAdet(2, prune=False)).model.spans == 2
    assert induced(frame, KAdet(2, max_confidence=0.9, prune=False)).model.spans == 2
    assert induced(frame, KAdet(2, max_confidence=0.85, prune=False)).model.spans == 1
    assert induced(frame, KAdet(2, l=1.526, prune=False)).model.spans == 1
    refused = induced(frame, KAdet(2, max_confidence=0.6))
    assert refused.model is None
    assert "65.0%" in refused.reason


def test_requirement_in_words_and_as_data():
    need = SpanRequirement(5, 1.5, 0.85)
    assert "entropy of at least log2 1.5" in str(need)
    assert need.to_json() == {"is": "k-anonymity of spans", "k": 5, "l": 1.5, "max_confidence": 0.85}


def test_a_single_hidden_leaf_hides_another_one():
    frame = pl.DataFrame(
        {
            "car": ["yes"] * 5 + ["no"] * 4 + ["both"] * 2,
            "y": ["a"] * 5 + ["b"] * 4 + ["a"] * 2,
            "sex": ["f", "m"] * 5 + ["f"],
        }
    )
    method = KAdet(4, private=("car",), score="gain")
    model = induced(frame, method).model
    assert sorted(len(model.tree.path_to(leaf)) for leaf in model.tree.leaves) == [1, 1, 1]
    shown = [counts for counts in model.safe_counts if counts is not None]
    assert shown == [(5, 0)]


def test_nothing_is_published_that_breaks_the_requirement():
    table, schema = table_of(ages([20, 30, 50, 60]))
    method = KAdet(2)
    attributes = [method._attribute(0, table["age"], schema)]
    training = InductionTable.of(attributes, [True], table["y"], True)
    growth = Growth(training, SpanRequirement(2), True).run()
    split = np.array([node.division is not None for node in growth.nodes])
    with pytest.raises(VerificationError, match="2 of 2 spans"):
        publish(growth, split, SpanRequirement(3), table, {})


def test_pruning_by_default_with_gain_ratio_only():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 4, 60), "b": rng.integers(0, 4, 60), "y": rng.integers(0, 2, 60)})
    frame = frame.cast(pl.String)
    sizes = {
        (score, prune): len(induced(frame, KAdet(2, score=score, prune=prune)).model.tree.nodes)
        for score in ("gain", "gain_ratio")
        for prune in (None, True, False)
    }
    assert sizes["gain", None] == sizes["gain", False] > sizes["gain", True]
    assert sizes["gain_ratio", None] == sizes["gain_ratio", True] < sizes["gain_ratio", False]


def test_equal_scores_leave_the_queue_as_they_came():
    queue = Candidates()
    for node, score in enumerate([0.5, 0.7, 0.5 + 1e-15, 0.7]):
        queue.push(SplitCandidate(node, 0, 0, score, score))
    assert [queue.pop().node for _ in range(4)] == [1, 3, 0, 2]
    assert queue.pop() is None


def test_the_same_table_gives_the_same_tree_and_is_left_alone():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"a": rng.integers(0, 9, 80), "b": rng.integers(0, 3, 80), "y": rng.integers(0, 2, 80)})
    frame = frame.with_columns(pl.col("b", "y").cast(pl.String))
    table, schema = table_of(frame)
    before = {name: table[name].codes.copy() for name in frame.columns}
    first, second = (KAdet(3, private=("b",)).induce(table, schema).model for _ in range(2))
    assert first == second
    assert all((table[name].codes == codes).all() for name, codes in before.items())
