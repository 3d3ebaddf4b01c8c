"""Which state an attribute has: a taxonomy, ranges or hidden values; and what the nodes of a taxonomy show."""

from __future__ import annotations

import numpy as np

from incrowd.algorithms.top_down_refinement.attribute import Attribute, Look
from incrowd.algorithms.top_down_refinement.gains import Counts
from incrowd.algorithms.top_down_refinement.hidden_values import HiddenValues
from incrowd.algorithms.top_down_refinement.ranges import Ranges
from incrowd.algorithms.top_down_refinement.taxonomy import Taxonomy
from incrowd.plan.steps import Part
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy
from incrowd.vocabulary.leaf_interval import parse_day, parse_number
from incrowd.vocabulary.released_value import Category, Shown, Suppressed, Value
from incrowd.vocabulary.schema import ColumnType


def attribute_of(column: EncodedColumn, counts: Counts, hierarchy: Hierarchy | None, one_by_one: bool) -> Attribute:
    """The initial state of an attribute.

    Parameters
    ----------
    column, counts
        Its values, and its rows per code and class.
    hierarchy
        Its hierarchy, if it has one.
    one_by_one
        Whether categories without hierarchy and order are disclosed one by one, or all at once.
    """
    if hierarchy is not None:
        return _with_hierarchy(column, counts, hierarchy)
    if column.type.has_order:
        return Ranges(column, counts)
    return HiddenValues(column, counts) if one_by_one else _all_at_once(column, counts)


def _with_hierarchy(column: EncodedColumn, counts: Counts, hierarchy: Hierarchy) -> Taxonomy:
    leaves = np.append(hierarchy.leaves, len(hierarchy))
    places = hierarchy.encode(column)
    values = [_value_of(hierarchy.labels[leaf], column.type) for leaf in hierarchy.leaves.tolist()]
    for code, place in enumerate(places[:-1].tolist()):
        values[place] = _value_at(column, code)

    def dress(node: int, rows: int, look: Look) -> Part | None:
        interval = hierarchy.interval(node)
        if interval is not None:
            form = look(interval)
            return None if form == Suppressed() else Part(interval, form, rows)
        members = tuple(v for v in (values[place] for place in hierarchy.leaves_below(node)) if v is not None)
        is_leaf = not hierarchy.children(node)
        return Part(members, Shown(members[0]) if is_leaf else Category(hierarchy.labels[node]), rows)

    return Taxonomy(column.name, hierarchy.labels, hierarchy.parents, leaves[places], counts, dress)


def _all_at_once(column: EncodedColumn, counts: Counts) -> Taxonomy:
    """A root right above all values."""
    values = column.dictionary.to_list()

    def dress(node: int, rows: int, look: Look) -> Part | None:  # noqa: ARG001, there are no intervals
        return Part((values[node - 1],), Shown(values[node - 1]), rows)

    parents = [-1] + [0] * len(values)
    return Taxonomy(column.name, [ROOT, *values], parents, np.arange(1, len(values) + 2), counts, dress)


def _value_at(column: EncodedColumn, code: int) -> Value:
    """The value of a code; a date as its day number."""
    value: Value = column.numbers[code].item() if column.type is ColumnType.DATE else column.dictionary[code]
    return value


def _value_of(label: str, column_type: ColumnType) -> Value | None:
    """The value a leaf stands for, in a column of that type; None if no such value can occur."""
    if not column_type.is_numeric:
        return label
    if column_type is ColumnType.DATE:
        return parse_day(label)
    number = parse_number(label)
    if column_type is ColumnType.REAL or number is None:
        return None if number is None else float(number)
    return int(number) if number == int(number) else None
