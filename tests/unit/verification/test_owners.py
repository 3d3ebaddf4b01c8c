"""Whose rows they are, read from the input; days since a person's first row; who is alone, and what is left of k."""

import datetime as dt
import itertools
from collections import Counter

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.tables.reading.persons import normalised
from incrowd.tables.streams.gathering import plain_texts
from incrowd.verification.alone import count_alone
from incrowd.verification.input_table import TABLE, InputTable
from incrowd.verification.open_cells import QuasiIdentifier, histories
from incrowd.verification.opening import connect
from incrowd.verification.owners import Owners, normalised_words, with_days
from incrowd.verification.request import InputFile
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import KnownSet
from support.oracle_persons import Row
from support.oracle_persons import histories as histories_by_hand
from support.owned_tables import owners_of_rows


def read(frame, folder, kind="csv", *, copy=True):
    path = folder / f"input.{kind}"
    frame.write_csv(path, null_value="?") if kind == "csv" else frame.write_parquet(path)
    return InputTable.open(connect(), InputFile(path, kind, missing=("?",)), folder, copy=copy)


def owners(cells, folder, kind="csv", **said):
    return Owners.of(read(pl.DataFrame({"who": cells}), folder, kind), Persons("who", **said))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_person_is_the_exact_text(kind, tmp_path):
    read = owners(["a", "A", " a", "a", "0a"], tmp_path, kind, ids="exact")
    assert read.codes.tolist() == [0, 1, 2, 0, 3]
    assert (read.everybody, read.alike, read.without) == (4, 0, 0)


@pytest.mark.parametrize(
    "cells", [[7, 8, 7], [7.0, 8.5, 7.0], [True, False, True], [dt.date(2024, 1, 1), None, dt.date(2024, 1, 1)]]
)
def test_a_person_may_be_of_any_type(cells, tmp_path):
    codes = owners(cells, tmp_path, "parquet", ids="exact").codes
    assert codes[0] == codes[2] != codes[1]


def test_words_for_missing_are_nobody(tmp_path):
    cells = ["a", None, " ? ", "", "b"]
    assert owners(cells, tmp_path).codes.tolist() == [0, -1, -1, -1, 1]
    assert owners([1.0, float("nan"), None], tmp_path, "parquet").codes.tolist() == [0, -1, -1]
    together = owners(cells, tmp_path, missing="together")
    assert together.codes.tolist() == [0, 2, 2, 2, 1]
    assert (together.everybody, together.without) == (3, 0)


def test_normalised_persons_are_those_of_other_programs(tmp_path):
    cells = ["007a", "7A ", "0", "00", "é", "e\u0301", "ﬁ", "FI", "ß", "SS", "\u00a0x", "X"]
    codes = owners(cells, tmp_path, ids="normalised").codes.tolist()
    assert codes[::2] == codes[1::2] == list(dict.fromkeys(codes))
    assert owners(cells, tmp_path).alike == 6


@pytest.mark.parametrize("other", ["x", "é"])  # the words are plain, or one of them is not
def test_zeros_that_begin_a_number_tell_nobody_apart(other, tmp_path):
    same = ["P00025", "P25", "a007b", "A7b", "00", "0", "x00", "x0", "5-06", "05-6", "10\n01", "10\n1"]
    cells = [*same, "P250", "a70b", "x", "100", "10", other]
    codes = owners(cells, tmp_path, "parquet", ids="normalised").codes.tolist()
    assert codes[:12:2] == codes[1:12:2]
    assert len(set(codes)) == len({*cells[12:]}) + 6
    assert owners(cells, tmp_path, "parquet").alike == 6


@given(
    cells=st.lists(st.text(alphabet="0aA\t b\x1c1", min_size=1, max_size=7).filter(str.strip), min_size=1, max_size=8)
)
def test_normalised_ascii_is_as_python_has_it(cells, tmp_path_factory):
    def plain(word):
        runs = itertools.groupby(word.strip().casefold(), "01".__contains__)
        short = "".join(("".join(run).lstrip("0") or "0") if digits else "".join(run) for digits, run in runs)
        return short.lstrip("0") or short[-1:]

    table = pl.DataFrame({"who": cells})
    read = owners(table["who"], tmp_path_factory.mktemp("owners"), "parquet", ids="normalised")
    assert len(set(read.codes.tolist())) == len({plain(word) for word in cells})


@pytest.mark.slow
def test_what_nobody_sees_tells_nobody_apart(tmp_path):
    """Of all characters: those that the reader leaves out of a spelling are those that the verification does."""
    cells = [
        "p1",
        "p\u200b1",
        "\ufeffp1",
        "p1\u200d",
        "p\u00ad1",
        "\u202ap1\u202c",
        "p1\ufe0f",
        "p\x001",
        "p2",
        "p\u200b2",
    ]
    read = owners(cells, tmp_path, "parquet", ids="normalised")
    assert read.codes.tolist() == [0] * 8 + [1] * 2
    assert owners(cells, tmp_path, "parquet").alike == 8
    assert not owners(cells, tmp_path, "parquet").released_as(np.arange(10)).check().passed
    assert owners(cells, tmp_path, "parquet", ids="exact").everybody == 10
    everything = [f"p{chr(point)}1" for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    assert normalised_words(pa.array(everything)).to_pylist() == [normalised(word) for word in everything]
    plain = [f"p{chr(point)}1" for point in range(128)]
    assert normalised_words(pa.array(plain)).to_pylist() == plain_texts(pl.Series(plain)).to_list()
    assert plain_texts(pl.Series(plain)).to_list() == [normalised(word) for word in plain]


def test_lost_persons_and_those_who_lost_a_row(tmp_path):
    read = owners(["a", "b", "a", "c"], tmp_path).released_as(np.array([0, 3]))
    assert (read.lost, read.losers, read.released.tolist()) == (1, 2, [0, 2])
    assert read.check().finding == "2 rows of 2 persons; 1 persons have no row"


# days


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize(("kind", "day"), [("csv", "2024-03-0{}"), ("csv", "0{}.03.2024"), ("parquet", None)])
def test_dates_are_days_since_the_first_row_of_their_person(kind, day, copy, tmp_path):
    numbers = [5, 2, 9, None, 4]
    days = [None if n is None else day.format(n) if day else dt.date(2024, 3, n) for n in numbers]
    table = read(pl.DataFrame({"who": ["a", "b", "a", "a", None], "day": days}), tmp_path, kind, copy=copy)
    dated, whose = with_days(table, Owners.of(table, Persons("who")), "day")
    rows = dated.connection.execute(f"SELECT c1 FROM {TABLE}").fetchall()
    assert [cell for (cell,) in rows] == [0, 0, 4, None, None]
    assert dated.kind("day") == "BIGINT"
    assert [None if np.isnan(day) else day - 19782 for day in whose.dates] == numbers  # since the last of February


def test_what_is_no_date_stays_as_it_is(tmp_path):
    for cells in (["1", "2"], ["2024-01-01", "soon"]):
        table = read(pl.DataFrame({"who": ["a", "a"], "day": cells}), tmp_path)
        owners = Owners.of(table, Persons("who"))
        assert with_days(table, owners, "day") == (table, owners)


# who is alone, and effective k

CODES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12)


@given(rows=CODES)
def test_who_is_alone_is_a_person(rows):
    who, one, other = (np.array(part, np.int64) for part in zip(*rows, strict=True))
    columns = [UnchangedColumn("one", one), UnchangedColumn("other", other)]
    pairs = {}
    for person, *cells in rows:
        pairs.setdefault(tuple(cells), set()).add(person)
    lonely = {person for group in pairs.values() if len(group) == 1 for person in group}
    assert count_alone(columns, len(rows), owners=who).without_class == len(lonely)


@given(rows=CODES)
def test_classes_of_persons_who_can_be_followed_are_histories(rows):
    who, cells = (np.array(part, np.int64) for part in list(zip(*rows, strict=True))[:2])
    own = histories_by_hand([Row(int(person), (int(cell),)) for person, cell in zip(who, cells, strict=True)])
    pairs = set(zip(histories(cells, who).tolist(), (own[int(person)] for person in who), strict=True))
    assert len(pairs) == len({number for number, _ in pairs}) == len({history for _, history in pairs})


@pytest.mark.parametrize(("linked", "left"), [(False, 2), (True, 1)])
def test_effective_k_counts_persons(linked, left):
    who = np.array([0, 0, 1, 2, 2, 2])
    shown = QuasiIdentifier("ward", np.array([0, 1, 0, 0, 1, 1]), np.array([0, 1, 0, 0, 1, 1]), [[0], [1]], 2)
    counts = count_unchanged([shown], [], [KnownSet(("ward",), 2)], owners=who, linked=linked)
    assert (counts.effective_k, counts.rows) == (left, 6)
    assert counts.people_below_k == (0 if not linked else 3)


@pytest.mark.parametrize("linked", [False, True])
def test_rows_of_one_person_are_no_evidence_about_others(linked):
    """Nine in ten devices are of one person: what all its rows have in common, others do not tell."""
    persons = np.arange(400)
    who = np.repeat(persons, 6)
    device = np.where(persons < 40, persons // 2, persons)[who]
    year = QuasiIdentifier("year", (persons * 7 % 40)[who], np.zeros(len(who), np.int64), [None])
    asked = [year], [UnchangedColumn("device", device)], [KnownSet(("year",), 5)]
    assert count_unchanged(*asked).given_back > 2000  # if each row was a person
    counts = count_unchanged(*asked, owners=who, linked=linked)
    assert (counts.given_back, counts.by, counts.effective_k) == (0, (), 400)


@given(
    values=st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=6),
    people=st.integers(20, 90),
    times=st.lists(st.integers(1, 4), min_size=5, max_size=5),
)
def test_more_rows_of_the_same_person_change_nothing(values, people, times):
    cells = np.array([values[place % len(values)] for place in range(people)], np.int64)
    who = np.repeat(np.arange(people), [times[person % 5] for person in range(people)])

    def counted(rows, **owners):
        first, second, one, other = cells[rows].T
        quasi = [QuasiIdentifier("first", first, np.zeros(len(rows), np.int64), [None])]
        quasi.append(QuasiIdentifier("second", second, second, [[0], [1], [2]]))
        columns = [UnchangedColumn("one", one), UnchangedColumn("other", other)]
        return count_unchanged(quasi, columns, [KnownSet(("first", "second"), 3)], **owners)

    once, often = counted(np.arange(people)), counted(who, owners=who)
    assert (once.sets, once.people_below_k, once.advice) == (often.sets, often.people_below_k, often.advice)
    assert once.not_counted == often.not_counted
    assert {(one.columns, one.quasi_identifier) for one in once.by} == {
        (one.columns, one.quasi_identifier) for one in often.by
    }


def test_persons_of_tables_are_numbered_as_the_oracle_has_them():
    rows = [Row("q", ("x",)), Row("p", ("x",)), Row("q", ("y",))]
    assert owners_of_rows(rows).keys == ["p", "q"]


@given(rows=CODES)
def test_who_can_be_followed_is_alone_by_all_rows(rows):
    who, one, other = (np.array(part, np.int64) for part in zip(*rows, strict=True))
    own = {}
    for person, *cells in rows:
        own.setdefault(person, []).append(tuple(cells))
    several = len({cells for mine in own.values() for cells in mine}) > 1
    multisets = Counter(tuple(sorted(mine)) for mine in own.values())
    lonely = sum(people == 1 for people in multisets.values()) if several else int(len(own) == 1)
    columns = [UnchangedColumn("one", one), UnchangedColumn("other", other)]
    counts = count_alone(columns, len(rows), owners=who, linked=True)
    assert counts.without_class == lonely
    assert counts.best[-1].people == lonely
