"""Recount what is promised to persons who may have several rows: each counts once in a class.

The table ``owned`` has the released rows with the number of the person of each (:mod:`incrowd.verification.owners`). A
class is told by its columns: missing is a value. Where recipients can follow persons, histories are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from incrowd.verification.class_sizes import Promises, keys, sizes_of
from incrowd.verification.coded import ask
from incrowd.verification.histories import has_beside, make_histories, supports
from incrowd.verification.opening import column, guarded
from incrowd.verification.owners import OWNED, Owners
from incrowd.verification.verdict import Check, ClassSizes, PersonCounts

Bars = tuple[tuple[int, int], ...]
NEARLY = 1.05
"""Pairs of a value and a person, to one of either, so that a column tells persons: one exception makes no other."""


def recount_persons(
    connection: Any, names: Sequence[str], promises: Promises, owners: Owners
) -> tuple[ClassSizes, tuple[Check, ...]]:
    """A check for each promise that enough persons look alike; the classes that are nearest to breaking theirs.

    Where recipients can follow persons, they look alike if their histories do, or what is known of these.
    """
    counted = [
        (*_counted(connection, [names.index(one) for one in set_], owners), name, k) for name, set_, k in promises
    ]
    nearest = min(counted, key=lambda one: one[0].smallest / one[4])
    return nearest[1], tuple(persons_check(persons, name, k, what) for persons, _, what, name, k in counted)


def _counted(connection: Any, positions: Sequence[int], owners: Owners) -> tuple[PersonCounts, ClassSizes, str]:
    """The persons that look alike in the columns at positions; the classes with them; and what they are called."""
    sizes, persons = class_persons(connection, positions, owners)
    what = "classes"
    if owners.persons.linked:
        make_histories(connection, positions, owners)
        what, bars = _in_histories(connection, owners)
        persons = replace(persons, smallest=bars[0][0] if bars else 0, histogram=bars)
    return persons, replace(sizes, persons=persons), what


def _in_histories(connection: Any, owners: Owners) -> tuple[str, Bars]:
    """What is counted of histories, and (persons, how many have so many), ascending."""
    rows = owners.persons.known_rows
    if rows is None:
        return "histories", _bars(ask(connection, "SELECT persons, count(*) FROM histories GROUP BY persons"))
    return f"sets of up to {rows} known rows", _bars(supports(connection, rows, beside=has_beside(connection)))


def class_persons(connection: Any, positions: Sequence[int], owners: Owners) -> tuple[ClassSizes, PersonCounts]:
    """Classes of rows of ``owned`` that are equal in the columns at these positions: rows and persons of each."""
    listed = ", ".join(map(column, positions))
    with guarded("The table"):
        bars = ask(
            connection,
            "SELECT persons, n, max(heaviest), count(*) FROM (SELECT count(*) AS persons, sum(n)::BIGINT AS n, "
            f"max(n) AS heaviest FROM (SELECT count(*) AS n, {listed} FROM "
            f"(SELECT {keys(connection, positions, OWNED)}, person FROM {OWNED}) AS t({listed}, person) "
            f"GROUP BY {listed}, person) GROUP BY {listed}) GROUP BY persons, n",
        )
    share = max((heaviest / n for _, n, heaviest, _ in bars), default=0.0)
    of_persons = _bars((persons, classes) for persons, _, _, classes in bars)
    smallest = of_persons[0][0] if of_persons else 0
    there = owners.everybody - owners.lost
    strangers = 0 if owners.strangers is None else int(np.count_nonzero(owners.strangers))
    persons = PersonCounts(there, owners.lost, smallest, of_persons, share, owners.without, strangers)
    return sizes_of(_bars((n, classes) for _, n, _, classes in bars)), persons


def _bars(pairs: Iterable[tuple[int, int]]) -> Bars:
    """(size, number of classes of that size), ascending."""
    bars: dict[int, int] = {}
    for size, classes in pairs:
        bars[int(size)] = bars.get(int(size), 0) + int(classes)
    return tuple(sorted(bars.items()))


def persons_check(counts: PersonCounts, name: str, k: int, what: str = "classes") -> Check:
    """The check that no class has fewer than k persons."""
    persons = "1 person" if counts.smallest == 1 else f"{counts.smallest:,} persons"
    finding = f"smallest of {sum(many for _, many in counts.histogram):,} {what}: {persons}"
    passed = counts.smallest >= k
    return Check(name, passed, finding if passed else f"{finding}; {counts.classes_below(k):,} below {k}")


def telling_columns_check(connection: Any, names: Sequence[str], owners: Owners, beside: str | None = None) -> Check:
    """The check that no released column, but for a pseudonym ``beside``, has one value for each person and no other.

    Where every person has one row, a column of different values tells nothing of rows that belong together.
    """
    persons = owners.everybody - owners.lost
    places = [place for place, name in enumerate(names) if name != beside]
    if len(owners.released) <= persons or not places:
        return Check("no column tells persons", True, "every person has one row")
    about = ", ".join(f"approx_count_distinct({column(place)})" for place in places)
    [roughly] = ask(connection, f"SELECT {about} FROM {OWNED}")
    near = [place for place, values in zip(places, roughly, strict=True) if persons / 2 <= values <= persons * 2]
    telling = [names[place] for place in near if _tells(connection, column(place))]
    finding = f"{', '.join(map(repr, telling))} has a value for each person" if telling else f"{len(places)} columns"
    return Check("no column tells persons", not telling, finding)


def _tells(connection: Any, at: str) -> bool:
    """Whether a column is one to one with persons, or nearly so; missing is a value.

    Nearly every value is of one person, and nearly everybody who has several rows has one value.
    """
    [(pairs, values, of_several, several)] = ask(
        connection,
        "SELECT count(*), count(DISTINCT v) + coalesce(bool_or(v IS NULL), false)::INT, "
        "count(*) FILTER (rows > 1), count(DISTINCT person) FILTER (rows > 1) FROM "
        f"(SELECT v, person, sum(n) OVER (PARTITION BY person) AS rows FROM "
        f"(SELECT {at} AS v, person, count(*) AS n FROM {OWNED} GROUP BY ALL))",
    )
    return bool(pairs <= NEARLY * values and of_several <= NEARLY * several)
