"""Requirements on sizes, on people and several at once: what they hold to, and their data and words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, ParameterError, RequirementError, SchemaError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import (
    KAnonymity,
    KnownSet,
    KnownTogether,
    Together,
    part_from_json,
    requirement_from_json,
    subject_names,
    with_subjects,
)
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.columns import RequirementSubject, check_columns, holds
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
)
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

PARTS = [
    DistinctDiversity(2, "a"),
    EntropyDiversity("1.5", "a"),
    RecursiveDiversity("2.5", 3, "a"),
    TCloseness("0.2", "a", "ordered"),
    TCloseness("0.2"),
    ConfidenceCap("0.5", "a"),
    PowerBound({2: 1, 3: "0.25"}, "0.5", "a"),
    BetaLikeness(2, "a"),
    BetaLikeness(2, "a", True),
    DeltaDisclosure(1, "a"),
    KMap(4),
    DeltaPresence("0.1", "0.9"),
]
SETS = KnownTogether((KnownSet(("a", "b"), 3), KnownSet(("b", "c"), 5)))


@pytest.mark.parametrize(("rows", "kept"), [([4], False), ([5], True), ([3, 2], True), ([2, 2], False), ([6], True)])
def test_groups_of_k_rows_are_large_enough(rows, kept):
    for part in (KAnonymity(5), SETS, Together((SETS, KMap(2))), Together((KMap(2), KAnonymity(5)))):
        assert part.holds(np.array(rows)) == kept
        assert part.smallest_group == 5


@pytest.mark.parametrize("part", [KAnonymity(5), SETS, Together((SETS, KMap(2)))])
def test_a_table_with_fewer_than_k_rows(part):
    part.check_possible(5)
    with pytest.raises(RequirementError) as refused:
        part.check_possible(4)
    assert str(refused.value) == "k=5 is impossible: the table has 4 rows. Choose k of at most 4, or add rows."


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "3", None])
def test_k_is_a_whole_number(k):
    for make in (KAnonymity, KMap, lambda k: KnownSet(("a",), k)):
        with pytest.raises(ParameterError, match="must be a whole number of at least 1"):
            make(k)


def test_the_least_k_is_one():
    assert [KAnonymity(1).k, KMap(1).k, KnownSet(("a",), 1).k] == [1, 1, 1]
    assert type(KAnonymity(np.int64(3)).k) is type(KMap(np.int64(3)).k) is int
    assert Together((KMap(2),)).size == KAnonymity(1)


@pytest.mark.parametrize(
    ("one", "other", "covers"),
    [
        (("ab", 3), ("ab", 3), True),
        (("ab", 3), ("a", 2), True),
        (("ab", 3), ("a", 4), False),
        (("ab", 3), ("abc", 2), False),
        (("ab", 3), ("c", 2), False),
    ],
)
def test_a_set_covers_smaller_ones_with_no_larger_k(one, other, covers):
    assert KnownSet(tuple(one[0]), one[1]).covers(KnownSet(tuple(other[0]), other[1])) == covers


def test_a_set_names_each_column_once():
    for names in ((), ("a", "a"), ("a", "b", "a")):
        with pytest.raises(ParameterError, match="names at least one, and each once"):
            KnownSet(names, 2)


def test_sets_that_others_cover_are_left_out():
    ab, a, b5, bc = (KnownSet(tuple(names), k) for names, k in (("ab", 3), ("a", 3), ("b", 5), ("bc", 5)))
    assert KnownTogether((a, ab)).known == KnownTogether((ab, a)).known == KnownTogether((ab, ab, a)).known == (ab,)
    assert KnownTogether((a, b5, ab)).known == (b5, ab)
    assert KnownTogether((a, b5, ab, bc)).known == (ab, bc)
    assert KnownTogether((ab, bc)).names == ("a", "b", "c")
    assert KnownTogether((ab, bc)).sets(["c", "b", "a"]) == (ab, bc)
    with pytest.raises(ParameterError, match="at least one set"):
        KnownTogether(())
    for names in (["a", "b"], ["a", "b", "c", "d"]):
        with pytest.raises(RequirementError, match="must name every quasi-identifier, and nothing else"):
            KnownTogether((ab, bc)).sets(names)


@pytest.mark.parametrize(
    ("part", "plain", "words", "promises"),
    [
        (KAnonymity(5), {"is": "k-anonymity", "k": 5}, "5-anonymity", ("5-anonymity",)),
        (
            SETS,
            {"is": "k-anonymity of sets", "sets": [[["a", "b"], 3], [["b", "c"], 5]]},
            "3-anonymity of a, b; 5-anonymity of b, c",
            ("3-anonymity of a, b", "5-anonymity of b, c"),
        ),
        (
            Together((KMap(2), SETS)),
            {
                "is": "all of",
                "parts": [
                    {"is": "k-anonymity of sets", "sets": [[["a", "b"], 3], [["b", "c"], 5]]},
                    {"is": "k-map", "k": 2},
                ],
            },
            "3-anonymity of a, b; 5-anonymity of b, c; 2-map",
            ("3-anonymity of a, b", "5-anonymity of b, c", "2-map"),
        ),
    ],
)
def test_data_and_words_of_sizes(part, plain, words, promises):
    assert part.to_json() == plain
    assert requirement_from_json(plain) == part
    assert str(part) == words
    assert part.promises == promises


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_read_back(part):
    assert part_from_json(part.to_json()) == part
    whole = Together((KAnonymity(3), part))
    assert requirement_from_json(whole.to_json()) == whole
    assert whole.promises == ("3-anonymity", str(part))


@pytest.mark.parametrize("data", [{}, {"is": "luck"}, {"is": "k-map"}, {"is": "k-anonymity"}, {"is": "all of"}])
def test_what_is_unknown_is_refused(data):
    for read in (part_from_json, requirement_from_json):
        with pytest.raises(ParameterError, match="unknown to this incrowd"):
            read(data)


def test_parts_are_told_apart():
    whole = Together((*PARTS, KAnonymity(7), *PARTS))
    assert whole.parts == (KAnonymity(7), *PARTS)
    assert whole.size == KAnonymity(7)
    assert whole.on_columns == tuple(PARTS[:-2])
    assert whole.on_population == tuple(PARTS[-2:])
    assert whole.sets(["x", "y"]) == (KnownSet(("x", "y"), 7),)
    assert Together((KAnonymity(7), KAnonymity(7))).parts == (KAnonymity(7),)
    for twice in ((KAnonymity(7), KAnonymity(8)), (KAnonymity(7), SETS)):
        with pytest.raises(ParameterError, match="set twice"):
            Together(twice)
    with pytest.raises(ParameterError, match="own requirements"):
        Together((KMap(2), "k=3"))


@pytest.mark.parametrize(
    ("asked", "target", "names"),
    [
        (KAnonymity(3), "ill", ()),
        (SETS, "ill", ()),
        (Together((KAnonymity(3), KMap(2))), None, ()),
        (Together((TCloseness(1), TCloseness(1, "pay"), EntropyDiversity(2, "pay"))), "ill", ("ill", "pay")),
        (Together((TCloseness(1, "pay"),)), None, ("pay",)),
    ],
)
def test_the_columns_that_are_asked_about(asked, target, names):
    assert subject_names(asked, target) == names


def test_without_a_target_a_column_must_be_named():
    with pytest.raises(SchemaError, match="about the target, and there is none"):
        subject_names(Together((TCloseness(1, "pay"), TCloseness(1))), None)


def test_a_requirement_of_ones_own_is_about_the_target():
    class Own:
        """A requirement that incrowd does not know."""

    assert subject_names(Own(), "ill") == ("ill",)
    assert subject_names(Own(), None) == ()


def schema_of(**roles):
    return Schema(tuple(Column(name, role) for name, role in roles.items()))


def test_columns_that_are_asked_about_become_sensitive():
    asked = Together((TCloseness(1, "pay"), TCloseness(1)))
    found = with_subjects(asked, schema_of(pay=Role.OTHER, ill=Role.TARGET, age=Role.QUASI_IDENTIFIER, note=Role.OTHER))
    assert [column.role for column in found.columns] == [Role.SENSITIVE, Role.TARGET, Role.QUASI_IDENTIFIER, Role.OTHER]


@pytest.mark.parametrize(
    ("role", "why"), [(Role.QUASI_IDENTIFIER, "an attacker knows it"), (Role.IDENTIFIER, "it is not released")]
)
def test_nothing_is_required_of_what_is_known_or_not_released(role, why):
    with pytest.raises(SchemaError, match=why):
        with_subjects(Together((TCloseness(1, "pay"),)), schema_of(pay=role))
    with pytest.raises(HeaderError, match="A requirement names 'pay'"):
        with_subjects(Together((TCloseness(1, "pay"),)), schema_of(wage=Role.OTHER))


def test_all_rows_of_a_column_must_keep_what_is_asked_of_it():
    cells = EncodedColumn("pay", ColumnType.CATEGORICAL, np.array([0, 0, 1], np.int32), pl.Series(["a", "b"]))
    more = EncodedColumn("ill", ColumnType.CATEGORICAL, np.array([0, 1, 2], np.int32), pl.Series(["a", "b"]))
    columns, schema = {"pay": cells, "ill": more}, schema_of(pay=Role.SENSITIVE, ill=Role.TARGET)
    check_columns(Together((DistinctDiversity(2, "pay"), DistinctDiversity(3))), columns, schema)
    for part, name in ((DistinctDiversity(3, "pay"), "pay"), (DistinctDiversity(4), "ill")):
        with pytest.raises(RequirementError, match=f"on {name!r}"):
            check_columns(Together((part,)), columns, schema)


def test_the_subject_of_a_requirement():
    tree = Hierarchy("pay", ("*", "a", "b"), (-1, 0, 0))
    cells = EncodedColumn("pay", ColumnType.ORDERED, np.array([0, 2, 2], np.int32), pl.Series(["b", "a"]))
    table = RequirementSubject.of(cells, np.array([1, 0, 2]), tree)
    assert (table.name, table.rows, table.width, table.values, table.has_order) == ("pay", 3, 3, 2, True)
    assert table.occurring.tolist() == [0, 2]
    assert table.leaves.tolist() == [1, 0, 2]
    assert table.shares.tolist() == [1 / 3, 2 / 3]
    assert RequirementSubject.of(cells, np.array([1, 0, 2]), None).leaves is None
    assert (RequirementSubject("pay", np.array([2])).rows, RequirementSubject("pay", np.array([2])).has_order) == (
        2,
        False,
    )


def test_one_group_is_held_against_the_table():
    assert holds(BetaLikeness(1), [1, 1], [1, 3])
    assert not holds(BetaLikeness("0.9"), [1, 1], [1, 3])
    assert holds(BetaLikeness("0.9"), [1, 1])


@pytest.mark.parametrize(
    ("part", "rows", "people", "kept"),
    [
        (KMap(3), [1, 1, 1, 0], [2, 3, 4, 0], [False, True, True, True]),
        (DeltaPresence("0.1", "0.5"), [1, 1, 5, 51, 0], [11, 10, 10, 100, 0], [False, True, True, False, True]),
        (DeltaPresence(0, 0), [0, 1], [5, 5], [True, False]),
        (DeltaPresence(1, 1), [5, 4, 6], [5, 5, 5], [True, False, False]),
        (DeltaPresence(Fraction(1, 10**18), 1), [2**62], [2**62], [True]),
    ],
)
def test_combinations_and_the_people_that_fit_them(part, rows, people, kept):
    assert part.holds_each(np.array(rows), np.array(people)).tolist() == kept


def test_a_population_that_is_too_small():
    KMap(4).check_possible(3, 4)
    with pytest.raises(RequirementError) as refused:
        KMap(5).check_possible(3, 4)
    assert str(refused.value) == (
        "k-map=5 is impossible: the population table has 4 rows, the release 3. Choose at most 4, or a larger "
        "population."
    )


@pytest.mark.parametrize(
    ("low", "high", "rows", "people", "share"),
    [
        ("0", "0.5", 3, 4, "0.75"),
        ("0.4", "0.5", 1, 3, "0.3334"),
        ("0.1", "0.5", 1, 0, "1"),
        ("0.5", "0.6", 2, 3, "0.6667"),
    ],
)
def test_a_share_of_the_population_outside_the_bounds(low, high, rows, people, share):
    with pytest.raises(RequirementError) as refused:
        DeltaPresence(low, high).check_possible(rows, people)
    assert str(refused.value) == (
        f"delta-presence={low}..{high} is impossible: the table has {rows} of the {people} rows of the population, "
        f"a share of about {share}. The bounds must enclose it."
    )
    DeltaPresence("0.25", "0.75").check_possible(1, 2)


@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.5), (0.5, 0.4), (0.5, 1.1), ("x", 1), (0, "x")])
def test_bounds_of_presence_lie_between_none_and_all(low, high):
    with pytest.raises(ParameterError, match="delta-presence"):
        DeltaPresence(low, high)


def test_words_about_people():
    assert (str(KMap(4)), str(DeltaPresence(0, 1))) == ("4-map", "(0, 1)-presence")
    assert DeltaPresence("0.5", "0.5").to_json() == {"is": "delta-presence", "low": "0.5", "high": "0.5"}
    assert KMap(4).to_json() == {"is": "k-map", "k": 4}
