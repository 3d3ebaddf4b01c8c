"""A released cell, read back from its text, can be just those values that its form speaks of."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.methods.release_forms import true_of
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_cell import CellReader
from incrowd.vocabulary.released_value import (
    Category,
    Interval,
    Mean,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
    day_number,
    render,
)
from incrowd.vocabulary.schema import Column, ColumnType, Role

TEXTS = ["a", "a|b", "b", "100 %", "%7C", "(1, 2]", "[1, 2]", "+", "|", "-inf", "Ä"]
NUMBERS = [-40, -7, 0, 3, 4, 20, 21, 1000, 10**15]
REALS = [-1e-9, 0.0, 0.1, 0.5, 2.0, 1e16, 1.5e300]
DAYS = [-400, -1, 0, 30, 31, 20_000]
TREE = Hierarchy.from_paths("x", [[text, "odd" if i % 2 else "even", "all of them"] for i, text in enumerate(TEXTS)])
AGES = Hierarchy("x", ("*", "low", "(-inf, 3]", "(3, 20]", "(20, inf)"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)


def column(kind: ColumnType, values: list) -> EncodedColumn:
    shown = (
        [datetime.date(1970, 1, 1) + datetime.timedelta(day) for day in values] if kind is ColumnType.DATE else values
    )
    return EncodedColumn("x", kind, np.arange(len(values) + 1, dtype=np.int32), pl.Series("x", shown))


@st.composite
def numbers(draw):
    """A numeric column and a form of it that says which values it can be."""
    kind, known = draw(
        st.sampled_from([(ColumnType.INTEGER, NUMBERS), (ColumnType.REAL, REALS), (ColumnType.DATE, DAYS)])
    )
    values = sorted(draw(st.lists(st.sampled_from(known), min_size=1, unique=True)))
    low, high = sorted(draw(st.lists(st.sampled_from(known), min_size=2, max_size=2, unique=True)))
    forms = [Shown(values[0]), Interval(low, high), Interval(None, high), Interval(low, None), Range(low, high)]
    forms += [Range(low, low), Suppressed(), ShownMissing()]
    if kind is not ColumnType.DATE:
        forms.append(ValueSet(tuple(values[:3])))
    if kind is ColumnType.INTEGER:
        forms.append(Category("low"))
    return column(kind, values), draw(st.sampled_from(forms)), AGES if kind is ColumnType.INTEGER else None


@st.composite
def texts(draw):
    """A column of words and a form of it."""
    values = sorted(draw(st.lists(st.sampled_from(TEXTS), min_size=1, unique=True)))
    some = tuple(draw(st.lists(st.sampled_from(values), min_size=2, unique=True))) if len(values) > 1 else ()
    forms = [Shown(values[-1]), Category("odd"), Suppressed(), *([ValueSet(some)] if some else [])]
    return column(ColumnType.CATEGORICAL, values), draw(st.sampled_from(forms)), TREE


def loops(form, own, hierarchy) -> list:
    """Which codes a form can be, by plain comparisons."""
    values = own.dictionary.to_list()
    values = [day_number(value) if isinstance(value, datetime.date) else value for value in values]
    match form:
        case Shown(value):
            return [one == value for one in values] + [False]
        case ValueSet(members):
            return [one in members for one in values] + [False]
        case Interval(low, high):
            return [(low is None or low < one) and (high is None or one <= high) for one in values] + [False]
        case Range(low, high):
            return [low <= one <= high for one in values] + [False]
        case Category("odd"):
            return [TEXTS.index(one) % 2 == 1 for one in values] + [False]
        case Category("low"):
            return [one <= 20 for one in values] + [False]
    return [True] * (len(values) + 1)


@given(st.one_of(numbers(), texts()))
@example((column(ColumnType.CATEGORICAL, ["a", "a|b", "b"]), ValueSet(("a", "a|b")), TREE))
def test_what_is_rendered_is_read_back(given):
    own, form, hierarchy = given
    written = render(form, own.type)
    reader = CellReader(Column("x", Role.QUASI_IDENTIFIER, own.type, hierarchy=hierarchy), own)
    cell = reader.read(None if written is None else str(written))
    expected = loops(form, own, hierarchy)
    if written == "a|b" and "a|b" in own.dictionary:
        expected = [one in ("a", "b", "a|b") for one in own.dictionary] + [False]
        assert cell.covers.tolist() == expected  # the value, or the set: nobody can tell
        return
    assert cell.understood
    assert not cell.averaged
    assert cell.covers.tolist() == expected
    if not isinstance(form, ShownMissing):
        assert true_of(form, own, hierarchy).tolist() == expected


@pytest.mark.parametrize("form", [Shown("a|b"), ValueSet(("a", "b"))])
def test_a_value_that_reads_like_a_set_may_be_either(form):
    own = column(ColumnType.CATEGORICAL, TEXTS)
    assert CellReader(Column("x"), own).read(render(form, own.type)).covers.tolist()[:4] == [True, True, True, False]


@given(st.floats(0.5, 900).filter(lambda mean: mean not in NUMBERS))
def test_a_mean_is_read_as_one(mean):
    own = column(ColumnType.INTEGER, NUMBERS)
    cell = CellReader(Column("x", type=ColumnType.INTEGER), own).read(str(render(Mean(mean), own.type)))
    assert cell.averaged
    assert cell.covers.all()


@pytest.mark.parametrize("text", ["(3, 2]", "c|d", "old", ""])
def test_what_was_never_rendered_is_not_understood(text):
    own = column(ColumnType.CATEGORICAL, TEXTS)
    assert not CellReader(Column("x"), own).read(text).understood
