"""Known rows: what is cut first, what is refined, and that nothing more could have been."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.histories.known_rows import KnownRows, kept_lengths
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from support.linked_tables import release_linked
from support.oracle_persons import Row, histories, known_rows_k, losses

CHANCE = SeededRandomness(5)
TABLES = st.lists(
    st.tuples(
        st.sampled_from("pqrstu"),
        st.sampled_from(["A", "B", None]),
        st.sampled_from([1, 5, 30, None]),
        st.sampled_from("xy"),
    ),
    min_size=4,
    max_size=16,
)


@given(TABLES, st.integers(2, 3), st.integers(1, 3), st.booleans(), st.booleans())
def test_k_persons_have_any_few_rows(rows, k, known, count, with_class):
    if len({row[0] for row in rows}) < k or len({row[3] for row in rows}) < 2:
        return
    value = 3 if with_class else None
    released, draft, plan = release_linked(
        rows, KnownRows(known, count), k, names=("person", "home", "day", "s"), value=value
    )
    assert known_rows_k(released, known, count_known=count) >= k
    lost, persons = losses([row[0] for row in rows], [row.person for row in released])
    assert (lost, persons) == (plan.rows_dropped, 0)
    assert len(draft.frame) == plan.rows_released


def test_every_value_shows_the_same_in_all_rows():
    rows = [(f"p{i}", "xxy"[i % 3], "ab"[i % 2]) for i in range(30)] + [("p0", "y", "b"), ("p1", "x", "a")]
    released, draft, plan = release_linked(rows, KnownRows(2), 3, names=("person", "q", "s"), value=2)
    shown = {}
    for row, origin in zip(released, draft.origin.tolist(), strict=True):
        assert shown.setdefault(rows[origin][1], row.cells) == row.cells
    assert len(set(shown.values())) == 2  # and they are told apart
    assert plan.recode is not None


def test_nothing_more_could_be_refined():
    """Whatever is still hidden would, if it was disclosed, leave some known rows to fewer than k persons."""
    rows = [("p", "x"), ("q", "x"), ("r", "x"), ("p", "y"), ("q", "y"), ("t", "z"), ("t", "z")]
    released, draft, _ = release_linked(rows, KnownRows(2), 2, names=("person", "q"))
    hidden = {rows[origin][1] for row, origin in zip(released, draft.origin.tolist(), strict=True) if not row.cells[0]}
    for value in hidden:
        finer = [
            Row(row.person, (value,) if rows[origin][1] == value else row.cells)
            for row, origin in zip(released, draft.origin.tolist(), strict=True)
        ]
        assert known_rows_k(finer, 2) < 2 or len(hidden) == 1


def test_who_has_more_rows_than_others_keeps_fewer():
    assert kept_lengths(np.array([5, 2, 2]), 2, 3, count=False, randomness=CHANCE).tolist() == [2, 2, 2]
    assert kept_lengths(np.array([5, 2, 2]), 2, 2, count=False, randomness=CHANCE).tolist() == [5, 2, 2]
    assert kept_lengths(np.array([5, 1, 1]), 2, 2, count=False, randomness=CHANCE).tolist() == [1, 1, 1]
    assert sorted(kept_lengths(np.array([5, 2, 2, 1, 1]), 2, 1, count=True, randomness=CHANCE).tolist()) == [
        1,
        1,
        2,
        2,
        2,
    ]


def test_known_numbers_of_rows_are_shared_by_k_persons():
    rows = [(f"p{i}", "x") for i in range(12) for _ in range(1 + i % 5)]
    released, *_ = release_linked(rows, KnownRows(1, count=True), 3, names=("person", "q"))
    numbers = [len(history) for history in histories(released).values()]
    assert min(numbers.count(one) for one in numbers) >= 3


def test_hierarchies_are_refined_from_the_top():
    tree = Hierarchy.from_paths(
        "organ", [("lung", "chest", "*"), ("heart", "chest", "*"), ("eye", "head", "*"), ("ear", "head", "*")]
    )
    rows = [(f"p{i}", ["lung", "heart", "eye", "ear"][i % 4], "ab"[i % 4 > 1]) for i in range(8)]
    released, *_ = release_linked(
        rows, KnownRows(1), 3, names=("person", "organ", "s"), value=2, hierarchies={"organ": tree}
    )
    assert {row.cells[0] for row in released} == {"chest", "head"}


def test_more_than_can_be_counted_is_refused_with_what_would_fit():
    rows = [(person, str(number)) for person in "pqr" for number in range(700)]
    with pytest.raises(RequirementError, match=r"Somebody has 700 rows.*Keep at most \d+ rows of each person"):
        release_linked(rows, KnownRows(4), 2, names=("person", "q"))


def test_beyond_k_is_refused():
    requirement = Together((KAnonymity(2), DistinctDiversity(2, on="s")))
    rows = [("p", "x", "a"), ("q", "x", "b")]
    with pytest.raises(RequirementError, match="nothing beyond it yet"):
        release_linked(rows, KnownRows(1), requirement, names=("person", "q", "s"), value=2)


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "2"])
def test_rows_are_a_whole_number(rows):
    with pytest.raises(ParameterError, match="whole number"):
        KnownRows(rows)
