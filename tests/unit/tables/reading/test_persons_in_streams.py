"""Persons told frame by frame: the same persons, refusals and notices as in a table that is read whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import SchemaError
from incrowd.tables.reading.persons import normalised, owners_of
from incrowd.tables.reading.read import read
from incrowd.tables.streams.encode import encode_stream
from incrowd.tables.streams.gathering import PersonNumbers, plain_texts
from incrowd.tables.streams.stream import open_stream
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import Column, Role, Schema

LETTERS = " \t\x1c\x1f\n0aA1\u00a0ßİﬁé\u2003\x85ǅ\u200b\u200d\ufeff\x07"
SPELLINGS = st.lists(st.one_of(st.none(), st.text(LETTERS, max_size=4)), min_size=1, max_size=40)
WISHES = st.tuples(st.sampled_from([None, "exact", "normalised"]), st.sampled_from(["refuse", "drop", "together"]))


def told(work):
    """What work gives, or the words of its refusal."""
    try:
        return work()
    except SchemaError as refusal:
        return str(refusal)


def in_frames(cells, persons, rows):
    numbers = PersonNumbers(persons)
    codes = np.concatenate([numbers.add(cells[start : start + rows]) for start in range(0, len(cells), rows)])
    return codes, numbers.finish()


@given(SPELLINGS, WISHES, st.integers(1, 9))
def test_frames_tell_the_persons_of_the_whole(cells, wishes, rows):
    persons = Persons("who", *wishes)
    source = read(pl.DataFrame([pl.Series("who", cells, pl.String)]))
    whole = told(lambda: owners_of(source, persons))
    frames = told(lambda: in_frames(source.frame["who"], persons, rows))
    if isinstance(whole, str):
        assert frames == whole
        return
    codes, notices = frames
    kept = codes[codes > 0] if persons.missing == "drop" else codes
    first = {}
    assert [first.setdefault(code, place) for place, code in enumerate(kept.tolist())] == [
        {code: list(whole.codes).index(code) for code in set(whole.codes.tolist())}[code] for code in whole.codes
    ]
    assert notices == whole.notices


def test_zeros_that_begin_a_number_tell_nobody_apart():
    cells = ["P00025", "P25", "a007b", "00", "x0", "x00", "5-06", "100", "10\n01"]
    plain = ["p25", "p25", "a7b", "0", "x0", "x0", "5-6", "100", "10\n1"]
    assert plain_texts(pl.Series(cells)).to_list() == [normalised(text) for text in cells] == plain
    with pytest.raises(SchemaError, match=r"2 persons of 'who' differ .* zeros that begin a number"):
        owners_of(read(pl.DataFrame({"who": cells})), Persons("who"))
    assert owners_of(read(pl.DataFrame({"who": cells})), Persons("who", ids="normalised")).persons == 7


@given(st.lists(st.text(LETTERS, max_size=6)))
def test_plain_spellings_are_those_of_small_tables(texts):
    assert plain_texts(pl.Series(texts, dtype=pl.String)).to_list() == [normalised(text) for text in texts]


@pytest.mark.parametrize(
    "cells",
    [pl.Series([7, 8, 7, None]), pl.Series([7.0, 8.5, 7.0, float("nan")]), pl.Series([True, False, True, None])],
)
def test_numbers_and_truths_are_persons_too(cells):
    codes, _ = in_frames(pl.Series(cells), Persons("who", missing="together"), 2)
    assert codes.tolist() == [1, 2, 1, 0]


def test_a_secret_is_new_each_time():
    words = [PersonNumbers(Persons("who")) for _ in range(2)]
    for one in words:
        one.add(pl.Series(["a"]))
    assert words[0]._known.words[0] != words[1]._known.words[0]


def blocks_of(tmp_path, who, missing, rows=3):
    path = tmp_path / "t.csv"
    lines = [f"{person},{age}" for age, person in enumerate(who)]
    path.write_text("who,age\n" + "\n".join(lines) + "\n")
    schema = Schema((Column("who", Role.PERSON), Column("age", Role.QUASI_IDENTIFIER)))
    folder = tmp_path / "codes"
    folder.mkdir()
    persons = PersonNumbers(Persons("who", missing=missing))
    return encode_stream(open_stream(path), schema, ["age"], folder, threads=1, rows=rows, persons=persons)


def test_blocks_know_whose_rows_they_have(tmp_path):
    blocks = blocks_of(tmp_path, ["b", "a", "", "b", "c", "?", "a"], "together")
    assert blocks.owned
    assert np.concatenate([blocks.owners(place) for place in range(3)]).tolist() == [1, 2, 0, 1, 3, 0, 2]
    assert [blocks.kept(place) for place in range(3)] == [None] * 3
    assert blocks.block(1).owners.tolist() == [1, 3, 0]
    assert "2 rows without a person count as rows of one more person, as you state." in [
        notice.message for notice in blocks.notices
    ]


def test_rows_without_a_person_are_left_out_of_blocks(tmp_path):
    blocks = blocks_of(tmp_path, ["b", "a", "", "", "", "", "a", "a"], "drop")
    assert blocks.rows == (2, 0, 2)
    assert blocks.height == 4
    assert blocks.kept(0).tolist() == [0, 1]
    assert blocks.kept(1).tolist() == []
    assert blocks.kept(2) is None
    assert blocks.columns["age"].dictionary.gather(blocks.block(2)["age"].codes).to_list() == ["6", "7"]
    assert "4 rows without a person left out." in [notice.message for notice in blocks.notices]


def test_rows_without_a_person_are_refused(tmp_path):
    with pytest.raises(SchemaError, match="no person in 'who'"):
        blocks_of(tmp_path, ["b", "a", ""], "refuse")
