"""Groups that releases about the same people make together: small tables, counted by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from incrowd.verification.joint import Figures, Joint, Then, classes_of_rows, has_same_groups, recount_together
from incrowd.verification.request import Original
from incrowd.vocabulary.forms import FileForm

ALL = "abcdef"
HERE, THERE, WHOLE = [1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2], [1] * 6


def marks(people):
    return pa.table({"high": pa.array(map(ord, people), pa.uint64()), "low": pa.array([7] * len(people), pa.uint64())})


def then(classes, now=ALL, people=ALL, **asked):
    """An earlier release of people, each called by a letter."""
    table = marks(people).append_column("class", pa.array(classes, pa.int32()))
    return Then(marks(now), lambda: table, **asked)


def counted(now, *earlier, k, **asked):
    found = recount_together(pa.array(now, pa.int32()), earlier, k, **asked)
    return found.below, found.smallest, found.closer


def same(now, earlier):
    return has_same_groups(pa.array(now, pa.int32()), earlier)


def test_the_same_groups_again_tell_nothing_new():
    found = recount_together(pa.array(HERE, pa.int32()), [then(HERE)], 3)
    assert found == Joint(3, 6, 6, Figures(0, 0, 0), Figures(3, None, None), 0)
    assert same(HERE, then(HERE))


def test_groups_with_other_numbers_are_the_same_groups():
    assert same(HERE, then([2, 2, 2, 1, 1, 1]))
    assert same(HERE, then([2, 2, 2, 1, 1, 1], people="fedcba"))
    assert not same(HERE, then(THERE))
    assert not same(HERE, then(WHOLE))
    assert not same(WHOLE, then(HERE))


def test_other_people_do_not_have_the_same_groups():
    # who is left out of one release and unknown to the other makes them releases of other people
    assert not same([1, 1], then([5, 5, -1], now="ab", people="abc"))
    assert not same([1, 1, -1], then([5, 5], now="abc", people="ab"))
    assert not same([1, -1], then([5, 6], now="ab", people="ab"))
    assert not same([1, 2], then([5, -1], now="ab", people="ab"))
    assert not same(HERE, then(HERE, people="abcdeg"))
    assert not same([1, 1, 1], then([1, 1, 1, 1], now="abc", people="abcd"))


def test_other_groups_cross():
    # {a, b}, {c}, {d, e, f}: all were in a class of two or four before, and a, b still have each other
    assert counted(HERE, then(THERE), k=3) == (Figures(1, 0, 0), Figures(1, None, None), 4)
    assert counted(HERE, then(THERE), then(HERE), k=3) == (Figures(1, 0, 0), Figures(1, None, None), 1)


def test_coarser_groups_tell_nothing_new_and_finer_ones_do():
    assert counted(WHOLE, then(HERE), k=6) == (Figures(0, 0, 0), Figures(3, None, None), 0)
    assert counted(HERE, then(WHOLE), k=3) == (Figures(0, 0, 0), Figures(3, None, None), 6)
    assert counted(HERE, then(WHOLE), k=4)[0].shared == 6


def test_who_joins_is_among_those_who_join_and_who_leaves_among_those_who_leave():
    found = counted([1, 1, 1, 1], then([1, 1, 1, 2], now="abcx", people="abde"), k=2)
    # c and x are new, two of four; of the class a, b, d only d left; nobody of the class of e is there
    assert found == (Figures(0, 0, 1), Figures(2, 2, 1), 2)


def test_who_joins_a_class_had_all_of_it_before():
    # d and e are two of five
    found = counted([1] * 5, then([1, 1, 1], now="abcde", people="abc"), k=3)
    assert found == (Figures(0, 2, 0), Figures(3, 2, None), 0)


def test_who_is_left_out_is_not_there():
    assert same([1, 1, -1], then([1, 1, -1], now="abc", people="abc"))
    assert not same([1, 1, 1], then([1, 1, -1], now="abc", people="abc"))
    assert not same([1, 1, -1], then([1, 1, 1], now="abc", people="abc"))
    new = counted([1, 1, 1], then([1, 1, -1], now="abc", people="abc"), k=2)
    assert new == (Figures(0, 1, 0), Figures(2, 1, None), 0)
    gone = counted([1, 1, -1], then([1, 1, 1], now="abc", people="abc"), k=2)
    assert gone == (Figures(0, 0, 1), Figures(2, None, 1), 2)


def test_people_who_left_are_known_in_all_releases_with_the_same_link():
    # b and c left; b was with a in both, c in the first only: linked, each is alone
    earlier = [
        then([1, 1, 1], now="a", people="abc", link="id"),
        then([1, 1], now="a", people="ab", link="id"),
    ]
    assert counted([1], *earlier, k=2)[1].left == 1
    apart = [
        then([1, 1, 1], now="a", people="abc", link="id"),
        then([1, 1, 1], now="a", people="abc", link="rows"),
    ]
    assert counted([1], *apart, k=2)[1].left == 2
    # b and c are two of three in the first, and all of their class in the second
    both = [
        then([1, 1, 1], now="a", people="abc", link="id"),
        then([1, 1], now="a", people="bc", link="id"),
    ]
    assert counted([1], *both, k=3) == (Figures(1, 0, 0), Figures(1, None, 2), 1)


def test_equal_marks_are_paired_in_the_order_of_classes():
    repeated = then([2, 1], now="aaa", people="aa", unique=False)
    found = recount_together(pa.array([1, 2, 3], pa.int32()), [repeated], 2)
    assert (found.shared, found.smallest) == (2, Figures(1, 1, None))
    assert same([5, 9], then([2, 1], now="aa", people="aa", unique=False))


def test_a_column_that_one_release_shows_as_it_is_is_known():
    town = {"town": pa.array(["a", "a", "b", "b", None, None])}
    assert counted(HERE, then(HERE), k=2, bare=town)[0] == Figures(2, 0, 0)
    shown_before = then(HERE, complete=True, bare=("town",))
    assert counted(HERE, shown_before, k=2, bare=town)[0] == Figures(0, 0, 0)
    not_all = then(HERE, bare=("town",))
    assert counted(HERE, not_all, k=2, bare=town)[0] == Figures(2, 0, 0)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_classes_are_read_from_the_written_file(tmp_path, form):
    path = tmp_path / f"release.{form}"
    frame = pl.DataFrame({"age": ["x", None, "x", None], "other": ["1", "2", "3", "4"]})
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    original = Original(pa.table({}), np.array([4, 0, 2, 1]), 5)
    found = classes_of_rows(path, FileForm.of(path), ["age"], original).to_pylist()
    assert found[3] == -1
    assert found[4] == found[2]
    assert found[0] == found[1] != found[2]


def by_definition(now, earlier, k):
    """Everything that is counted, person by person; each release is a class by person, with its link."""
    here = {one: number for one, number in now.items() if number != -1}
    shown = [({one: number for one, number in then.items() if number != -1}, link) for then, link in earlier]
    below, smallest, closer = dict.fromkeys(("shared", "new", "left"), 0), {}, 0
    for person in here:
        alike = [other for other in here if key(other, here, shown) == key(person, here, shown)]
        before = [size(person, then) for then, _ in shown if person in then]
        who, least = ("shared", min(before)) if before else ("new", size(person, here))
        below[who] += len(alike) < min(k, least)
        smallest[who] = min(len(alike), smallest.get(who, len(alike)))
        closer += who == "shared" and len(alike) < least
    for link in {link for _, link in shown}:
        linked = [then for then, other in shown if other == link]
        for person in {one for then in linked for one in then} - set(here):
            mine = [then.get(person) for then in linked]
            beside = {one for then in linked for one in then if person in then and then[one] == then[person]}
            if beside & set(here):
                alike = {one for then in linked for one in then if one not in here}
                after = sum([then.get(one) for then in linked] == mine for one in alike)
                below["left"] += after < min(k, *(size(person, then) for then in linked if person in then), 99)
                smallest["left"] = min(after, smallest.get("left", after))
    met = sum(any(one in then for then, _ in earlier) for one in now)
    figures = Figures(**smallest)
    return Joint(k, len(now), met, Figures(**below), figures, closer)


def key(person, here, shown):
    return [here[person], *(then.get(person) for then, _ in shown)]


def size(person, then):
    return list(then.values()).count(then[person])


@pytest.mark.parametrize("seed", range(12))
def test_several_releases_are_counted_as_by_definition(seed):
    rng = np.random.default_rng(seed)

    def drawn():
        people = rng.permutation(list("abcdefghijkl"))[: int(rng.integers(7, 12))].tolist()
        return dict(zip(people, rng.choice([-1, 1, 2, 3], len(people), p=[0.2, 0.4, 0.2, 0.2]).tolist(), strict=True))

    now, k = drawn(), int(rng.integers(1, 5))
    earlier = [(drawn(), str(rng.choice(["id", "rows"]))) for _ in range(int(rng.integers(1, 4)))]
    beside = [then(list(one.values()), now=list(now), people=list(one), link=link) for one, link in earlier]
    found = recount_together(pa.array(list(now.values()), pa.int32()), beside, k)
    assert found == by_definition(now, earlier, k)


@pytest.mark.parametrize(
    ("now", "classes", "expected"),
    [([1, 2], [6, 5], True), ([1, 1], [5, 6], False), ([1, -1], [-1, 5], True), ([-1, 1], [5, -1], True)],
)
def test_of_equal_marks_those_left_out_come_last(now, classes, expected):
    assert same(now, then(classes, now="aa", people="aa", unique=False)) == expected


def test_the_size_before_knows_the_columns_that_the_earlier_release_showed():
    # classes of three before, in which a town is shown: two of one, one of the other
    town = {"town": pa.array(["a", "a", "b", "a", "b", "b"])}
    complete = {"complete": True, "bare": ("town",)}
    assert counted(HERE, then(HERE, **complete), k=3, bare=town) == (Figures(0, 0, 0), Figures(1, None, None), 0)
    # now every person is alone, but c and d were before
    alone = list(range(6))
    assert counted(alone, then(HERE, **complete), k=3, bare=town) == (Figures(4, 0, 0), Figures(1, None, None), 4)
    other = then(HERE, complete=True, bare=("street",))
    assert counted(HERE, other, k=3, bare=town) == (Figures(6, 0, 0), Figures(1, None, None), 6)
    # of one class and four of a town, now two and two
    pairs, most = [1, 1, 2, 2, 3, 3], {"town": pa.array(["a", "a", "a", "a", "b", "b"])}
    assert counted(pairs, then(WHOLE, **complete), k=3, bare=most) == (Figures(4, 0, 0), Figures(2, None, None), 4)
    # who is left out now was among them before, with the town or without
    for shows in (complete, {"complete": True, "bare": ("street",)}):
        found = counted([1] * 5 + [-1], then(WHOLE, **shows), k=6, bare={"town": pa.array(["a"] * 6)})
        assert found == (Figures(5, 0, 1), Figures(5, None, 1), 5)
    # who was left out before is new, whatever the town
    left = then([1, 1, -1, 2, 2, -1], **complete)
    assert counted(HERE, left, k=3, bare=town) == (Figures(0, 2, 0), Figures(1, 1, None), 0)
    # in another release c and f were among six, and are two by their town
    assert counted(WHOLE, left, then(WHOLE), k=3, bare=town) == (Figures(2, 0, 0), Figures(1, None, None), 2)


def test_classes_are_those_of_the_columns_together(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("a,b,c\n1,x,p\n1,y,q\n1,x,r\n2,x,s\n")
    original = Original(pa.table({}), np.array([0, 1, 2, 4]), 6)
    found = classes_of_rows(path, FileForm(), ["b", "a"], original)
    assert found.type == pa.int32()
    assert found.to_pylist() == [1, 3, 1, -1, 2, -1]
