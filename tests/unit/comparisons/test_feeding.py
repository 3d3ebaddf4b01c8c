"""What learners are told of cells that are no plain values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons.feeding import (
    MISSING_CLASS,
    NOTHING,
    Feeding,
    Parts,
    ReleasedCells,
    feed_release,
    feed_unprotected,
    parse_feeding,
)
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.releasing import release_rows
from incrowd.comparisons.subject import understand_table
from incrowd.errors import ParameterError
from incrowd.vocabulary.released_value import Shown, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import ColumnType

ROWS = 120
LAB = Feeding(sets="auto")


def people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(20, 80, ROWS)
    job = rng.choice(["cook", "judge", "nurse", "smith", "tailor"], ROWS)
    ill = np.where((age > 50) ^ (job == "cook") ^ (rng.random(ROWS) < 0.1), "yes", "no")
    return pl.DataFrame({"age": age, "job": [None if i % 17 == 0 else j for i, j in enumerate(job)], "ill": ill})


def fed(method, feeding, k=5, parameters=None, seed=1):
    subject = understand_table(people(), target="ill", quasi_identifiers=["age", "job"])
    split = FixedSplit().splits(subject.classes.codes.astype(np.int64), 1)[0]
    parts = subject.parts(split)
    trained, tested = subject.frame[split.train], subject.frame[split.test]
    made = release_rows(parts.train, trained, subject.schema, method, parameters or {}, KAnonymity(k), 1)
    return made, *feed_release(parts, made.plan, made.draft, tested, feeding, seed), tested


def attribute(examples, name):
    return next(one for one in examples.attributes if one.name == name)


def words(examples, name):
    found = attribute(examples, name)
    return [None if code < 0 else found.categories[code] for code in found.values.tolist()]


def test_unprotected_rows_are_fed_as_they_are():
    subject = understand_table(people(), target="ill", quasi_identifiers=["age", "job"])
    parts = Parts(subject.table.take(np.arange(100)), subject.table.take(np.arange(100, ROWS)), "ill")
    train, test = feed_unprotected(parts)
    assert attribute(train, "age").values.tolist() == people()["age"][:100].to_list()
    assert words(test, "job") == people()["job"][100:].to_list()
    assert [train.labels[code] for code in train.classes] == people()["ill"][:100].to_list()
    assert attribute(train, "job").categories == attribute(test, "job").categories


def test_public_bins_are_categories_on_both_sides():
    _, train, test, frame = fed("kactus", LAB)
    labels = set(words(train, "age")) - {None}
    assert labels
    assert all(label.startswith("(") for label in labels)
    for label, age in zip(words(test, "age"), frame["age"], strict=True):
        low, high = label[1:-1].split(", ")
        assert float(low) < age <= float(high)


def test_a_cell_that_shows_nothing_is_missing_or_a_category():
    _, train, test, _ = fed("kactus", LAB)
    hidden = [word is None for word in words(train, "job")]
    assert any(hidden)
    _, told, asked, _ = fed("kactus", Feeding(sets="auto", hidden="category"))
    assert [word == NOTHING for word in words(told, "job")] == hidden
    assert [word == NOTHING for word in words(asked, "job")] == [word is None for word in words(test, "job")]
    _, numbers, _, _ = fed("kactus", Feeding(sets="auto", bins="middle", hidden="category"))
    assert attribute(numbers, "age").is_numeric


def test_public_bins_may_be_middles_and_test_rows_keep_their_numbers():
    _, train, test, frame = fed("kactus", Feeding(sets="auto", bins="middle"))
    assert attribute(train, "age").is_numeric
    assert attribute(test, "age").values.tolist() == frame["age"].to_list()


def test_intervals_are_middles_on_both_sides_or_categories():
    made, train, test, _ = fed("mondrian", LAB)
    texts = made.draft.frame["age"].to_list()
    assert any(text and text.endswith("]") and "inf" not in text for text in texts)
    for text, number in zip(texts, attribute(train, "age").values, strict=True):
        low, high = text[1:-1].split(", ")
        assert float(low) < number <= float(high)
        if "inf" not in text:
            assert number == (float(low) + float(high)) / 2
    known = attribute(test, "age").values[~attribute(test, "age").is_missing]
    assert len(known)
    assert set(known) <= {*attribute(train, "age").values}
    _, train, test, _ = fed("mondrian", Feeding(sets="auto", intervals="category"))
    assert words(train, "age") == texts
    assert set(words(test, "age")) <= {*texts, None}


def test_two_columns_of_bounds_are_one_number():
    _, plain, _, _ = fed("mondrian", LAB)
    _, bounds, test, _ = fed("mondrian", LAB, parameters={"numeric": "bounds"})
    assert sorted(attribute(bounds, "age").values) == sorted(attribute(plain, "age").values)
    assert not np.isnan(attribute(test, "age").values).all()


@pytest.mark.parametrize("numeric", ["mean", "midpoint"])
def test_means_and_midpoints_are_numbers(numeric):
    made, train, test, _ = fed("mondrian", LAB, parameters={"numeric": numeric})
    assert attribute(train, "age").values.tolist() == made.draft.frame["age"].to_list()
    assert attribute(test, "age").is_numeric


def test_sets_are_missing_or_categories_or_one_of_their_values():
    made, missing, _, _ = fed("mondrian", Feeding(sets="missing"))
    texts = made.draft.frame["job"].to_list()
    sets = [text is not None and "|" in text for text in texts]
    assert any(sets)
    assert [word is None for word in words(missing, "job")] == [
        text is None or is_set for text, is_set in zip(texts, sets, strict=True)
    ]
    _, category, _, _ = fed("mondrian", Feeding(sets="category"))
    assert words(category, "job") == texts
    _, drawn, test, frame = fed("mondrian", Feeding(sets="draw"))
    for text, word in zip(texts, words(drawn, "job"), strict=True):
        assert word is None if text is None else word in text.split("|")
    assert all(word in (own, None) for word, own in zip(words(test, "job"), frame["job"], strict=True))
    _, again, _, _ = fed("mondrian", Feeding(sets="draw"))
    _, other, _, _ = fed("mondrian", Feeding(sets="draw"), seed=2)
    assert words(again, "job") == words(drawn, "job") != words(other, "job")


def test_auto_takes_sets_as_categories_only_where_test_rows_are_seen_in_the_same_words():
    for method, other in (("mondrian", "category"), ("kactus-plus", "missing")):
        _, auto, test, _ = fed(method, LAB)
        _, named, named_test, _ = fed(method, Feeding(sets=other))
        assert words(auto, "job") == words(named, "job")
        assert words(test, "job") == words(named_test, "job")


def test_draws_spread_over_all_members():
    forms = {"a|b|c": ValueSet(("a", "b", "c")), "a": Shown("a")}
    cells = ReleasedCells("x", ColumnType.CATEGORICAL, forms, True, "draw", False, None)
    frame = pl.DataFrame({"x": ["a|b|c"] * 3000 + ["a", None]})
    drawn = cells.taken(frame, np.random.default_rng(1)).to_list()
    assert drawn[3000:] == ["a", None]
    for member in "abc":
        assert 880 < drawn[:3000].count(member) < 1120  # five standard deviations


def test_a_drawn_bin_is_its_middle_where_bins_are_numbers():
    forms = {"(1, 3]|(3, inf)": ValueSet(("(1, 3]", "(3, inf)"))}
    cells = ReleasedCells("x", ColumnType.INTEGER, forms, False, "draw", False, None)
    drawn = cells.taken(pl.DataFrame({"x": ["(1, 3]|(3, inf)"] * 50}), np.random.default_rng(1))
    assert set(drawn.tolist()) == {2.0, float(np.nextafter(3.0, 4.0))}


def test_classes_follow_their_rows():
    made, train, test, frame = fed("infogain-mondrian", LAB)
    assert [train.labels[code] for code in train.classes] == made.draft.frame["ill"].to_list()
    assert [test.labels[code] for code in test.classes] == frame["ill"].to_list()


def test_a_missing_class_is_a_class():
    frame = people().with_columns(pl.when(pl.col("age") < 30).then(None).otherwise("ill").alias("ill"))
    subject = understand_table(frame, target="ill", quasi_identifiers=["age", "job"])
    parts = Parts(subject.table.take(np.arange(60)), subject.table.take(np.arange(60, ROWS)), "ill")
    train, _ = feed_unprotected(parts)
    assert train.labels == ("no", "yes", MISSING_CLASS)


@pytest.mark.parametrize("text", ["sets", "sets=words", "cells=missing", "bins=draw"])
def test_unknown_feedings_are_refused(text):
    with pytest.raises(ParameterError, match="Feeding"):
        parse_feeding(text)


def test_a_feeding_is_said_in_words():
    assert parse_feeding("") == Feeding()
    said = parse_feeding("sets=draw, bins=middle")
    assert str(said) == "sets: draw, intervals: middle, bins: middle, hidden: missing"
