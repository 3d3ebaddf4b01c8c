"""The promises for persons with several rows once more, by brute force, from their definitions.

Nothing of incrowd is used. A row is a :class:`Row`: whose it is, its quasi-identifiers as a tuple, and perhaps one
value of another column. None is a missing or suppressed cell, and a value like any other.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from support import oracle_requirements as once_more


class Row(NamedTuple):
    """A released row, and whose it is."""

    person: Any
    cells: tuple
    value: Any = None


def in_order(value):
    """Numbers by size, text by code point, missing last."""
    return (value is None, 0 if value is None else value)


def persons(rows):
    return {row.person for row in rows}


def groups(rows, key):
    """Rows by what they have in common."""
    parts = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    return parts


def classes(rows):
    """Rows with equal quasi-identifiers."""
    return groups(rows, lambda row: row.cells)


def class_sizes(rows):
    """Persons of each class."""
    return {cells: len(persons(part)) for cells, part in classes(rows).items()}


def smallest(rows):
    return min(class_sizes(rows).values())


def facts(rows):
    """The different values of each person."""
    return {person: {row.value for row in own} for person, own in groups(rows, lambda row: row.person).items()}


def bearers(rows):
    """How many persons have each value."""
    return Counter(value for own in facts(rows).values() for value in own)


def main_values(rows):
    """Each person once, under the value of its own with the most bearers; of equal ones under the first."""
    have = bearers(rows)
    return Counter(min(own, key=lambda value: (-have[value], in_order(value))) for own in facts(rows).values())


def largest_share(rows):
    """Of the rows of a class, the largest part that one person has."""
    return max(
        Fraction(len(own), len(part))
        for part in classes(rows).values()
        for own in groups(part, lambda row: row.person).values()
    )


def losses(given, released):
    """Rows that were not released, and persons without a released row; both are lists of persons, a row each."""
    return len(given) - len(released), len(set(given) - set(released))


# --- requirements beyond k -------------------------------------------------------------------------------------------


def keeps(part, whole, word, *numbers):
    """Whether a class keeps a requirement; ``whole`` are all released rows.

    Words: alpha, beta, enhanced-beta, delta-disclosure, distinct-l, entropy-l, recursive-l, powers, t-equal, t-ordered.
    """
    values = sorted(facts_of(whole), key=in_order)
    if word in ("distinct-l", "entropy-l", "recursive-l", "powers"):
        return _diverse(_listed(main_values(part), values), word, *numbers)
    own, all_ = _listed(bearers(part), values), _listed(bearers(whole), values)
    if word in ("t-equal", "t-ordered"):
        return distance(part, whole, word[2:]) <= numbers[0]
    n, everybody = len(persons(part)), len(persons(whole))
    shares = [(Fraction(b, n), Fraction(table, everybody)) for b, table in zip(own, all_, strict=True)]
    if word == "alpha":
        return all(h <= numbers[0] for h, _ in shares)
    if word == "delta-disclosure":
        return all(h > 0 and _near(max(h / p, p / h), Fraction(numbers[0])) for h, p in shares)
    growths = [((h - p) / p, p) for h, p in shares if h > p]
    limited = all(growth <= numbers[0] for growth, _ in growths)
    if word == "beta":
        return limited
    assert word == "enhanced-beta", word
    return limited and all(growth <= once_more.natural_log(1 / p)[0] for growth, p in growths)


def holds(rows, word, *numbers, linked=False):
    """Whether every class keeps a requirement; linked, every history and every tuple of it."""
    return all(keeps(part, rows, word, *numbers) for part in (history_parts(rows) if linked else _classes(rows)))


def distance(part, whole, kind):
    """Between the facts of a class and those of the table: ``equal`` or ``ordered``."""
    values = sorted(facts_of(whole), key=in_order)
    measure = {"equal": once_more.equal_distance, "ordered": once_more.ordered_distance}[kind]
    return measure(_listed(bearers(part), values), _listed(bearers(whole), values))


def facts_of(rows):
    return {row.value for row in rows}


def _classes(rows):
    return list(classes(rows).values())


def _listed(counts, values):
    return [counts[value] for value in values]


def _diverse(counts, word, *numbers):
    definitions = {"distinct-l": once_more.distinct, "entropy-l": once_more.entropy, "recursive-l": once_more.recursive}
    if word == "powers":
        return once_more.power_sum(counts, numbers[0]) <= numbers[1]
    return definitions[word](counts, None, *numbers)


def _near(ratio, delta):
    """ratio < 2^delta, both to the power of delta's denominator."""
    return ratio**delta.denominator < Fraction(2) ** delta.numerator


# --- populations -----------------------------------------------------------------------------------------------------


def population_counts(rows, people):
    """(persons of a class, persons of the population who fit it) of each class, sorted.

    Cells of ``rows`` are sets of values that are true of the row; ``people`` are rows of single values.
    """

    def fits(cells, values):
        return all(value in cell for cell, value in zip(cells, values, strict=True))

    return sorted(
        (len(persons(part)), len({one.person for one in people if fits(cells, one.cells)}))
        for cells, part in classes(rows).items()
    )


# --- linked ----------------------------------------------------------------------------------------------------------


def histories(rows, everybody=()):
    """The multiset of the tuples of each person, as a sorted tuple; ``everybody`` may have no row."""
    own = {person: [] for person in everybody}
    for row in rows:
        own.setdefault(row.person, []).append(row.cells)
    return {person: tuple(sorted(cells, key=_cells_in_order)) for person, cells in own.items()}


def linked_k(rows):
    """Persons of the rarest history."""
    return min(Counter(histories(rows).values()).values())


def history_parts(rows):
    """The rows of all persons with one history; then of these the rows with one tuple."""
    own = histories(rows)
    parts = list(groups(rows, lambda row: own[row.person]).values())
    return parts + list(groups(rows, lambda row: (own[row.person], row.cells)).values())


def known_parts(history, m, least=1):
    """Every different sub-multiset of a history with ``least`` to m rows, as sorted tuples."""
    ordered = tuple(sorted(history, key=_cells_in_order))
    sizes = range(least, min(m, len(ordered)) + 1)
    return {chosen for size in sizes for chosen in combinations(ordered, size)}


def contains(history, part):
    return not Counter(part) - Counter(history)


def known_rows_k(rows, m, *, count_known=False):
    """Fewest histories that contain what may be known: up to m rows of a person, and perhaps how many it has."""
    return _least_support([(len(h) if count_known else None, h) for h in histories(rows).values()], m, least=1)


def work(numbers_of_rows, m):
    """How many sub-multisets are counted: C(rows, size) of every history, for each size min(m, rows) that occurs."""
    sizes = {min(m, rows) for rows in numbers_of_rows}
    return sum(comb(rows, size) for size in sizes for rows in numbers_of_rows)


def _least_support(known, m, least):
    """``known`` has of each person what is known for sure, and its history."""
    return min(
        sum(sure == other and contains(whole, part) for other, whole in known)
        for sure, history in known
        for part in known_parts(history, m, least)
    )


def _cells_in_order(cells):
    return tuple(in_order(cell) for cell in cells)


# --- two tables and a key --------------------------------------------------------------------------------------------


def joint_linked_k(static, events):
    """Persons of the rarest (static tuple, multiset of events); ``static`` has one row for each person."""
    sure = {row.person: row.cells for row in static}
    own = histories(events, sure)
    return min(Counter((sure[person], own[person]) for person in sure).values())


def joint_known_rows_k(static, events, m, *, count_known=False):
    """The same for who knows the static tuple and up to m events, none among them."""
    sure = {row.person: row.cells for row in static}
    own = histories(events, sure)
    known = [((sure[one], len(own[one]) if count_known else None), own[one]) for one in sure]
    return _least_support(known, m, least=0)


def joint_holds(static, events, word, *numbers, of_persons):
    """Whether a requirement is kept by all with one joint history: on values of ``static``, or on those of events.

    Events must also keep it tuple by tuple. Who has no events has none of their values.
    """
    sure = {row.person: row.cells for row in static}
    own = histories(events, sure)

    def joint(row):
        return sure[row.person], own[row.person]

    if of_persons:
        return all(keeps(part, static, word, *numbers) for part in groups(static, joint).values())
    parts = [*groups(events, joint).values(), *groups(events, lambda row: (joint(row), row.cells)).values()]
    return all(keeps(part, events, word, *numbers) for part in parts)


def unknown_keys(static, events):
    return persons(events) - persons(static)
