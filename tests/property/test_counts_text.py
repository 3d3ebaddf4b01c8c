"""Counts as text: what is written is read back, and any reader that splits at bars and colons reads the same."""

from __future__ import annotations

from urllib.parse import unquote

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.tables.publishing.serialise import spreadsheet_safe
from incrowd.verification.opening import connect
from incrowd.verification.shown import CountsComparison
from incrowd.vocabulary.counts_text import HIDDEN, encode_value, read_counts, read_members, write_counts

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    ":|%\\?*=+-@\t\r\n'\"2537CFAD", max_size=6
)
QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
MEMBERS = st.lists(
    st.tuples(st.none() | TEXT, st.integers(1, 10**12)), min_size=1, max_size=6, unique_by=lambda member: member[0]
)


def in_five_lines(text):
    """The reader of the documentation."""
    members = [part.split(":") for part in text.split("|")] if text != "*" else []
    return [(None if value == "?" else unquote(value), int(rows)) for value, rows in members]


@QUIET
@given(MEMBERS)
def test_what_is_written_is_read_back(members):
    text = write_counts(members)
    assert read_counts(text) == tuple(members)
    assert in_five_lines(text) == members
    assert text != HIDDEN
    assert spreadsheet_safe(pl.DataFrame({"a": [text]}))["a"].to_list() == [text]


@QUIET
@given(TEXT)
def test_other_texts_are_no_counts_or_are_written_the_same(text):
    read = read_counts(text)
    if read:
        assert read_counts(write_counts(read)) == read


def test_a_hidden_cell_is_no_value_of_that_name():
    assert read_counts("*") == ()
    assert read_counts("*:3") == (("*", 3),)
    assert [read_counts(text) for text in ("", "a", "a:0", "a:01", "a:1|", "a:-1", "a:1:1", "%ff:1")] == [None] * 8
    assert read_counts("a:1|b:5|a:2") == (("a", 3), ("b", 5)), "a value that stands there twice has all of these rows"
    assert read_members("a:1|b:5|a:2") == (("a", 1), ("b", 5), ("a", 2))


@QUIET
@given(st.lists(st.none() | TEXT.filter(lambda text: "\0" not in text), min_size=1, max_size=20))
def test_the_second_opinion_writes_values_alike(values):
    with connect() as connection:
        CountsComparison(connection, [], [], escaped=False)
        listed = connection.execute("SELECT list_transform(?::VARCHAR[], lambda t: member_of(t))", [values]).fetchall()
    assert listed[0][0] == [encode_value(value) for value in values]
