"""Recount persons whom recipients can follow: whole histories, and what some known rows of a person tell.

A history is the multiset of a person's released tuples. ``tuples`` has the ``person`` and the number ``t`` of the tuple
of each released row, ``histories`` every different history with its number ``no``, what is known of its persons for
``sure`` beside their rows (a tuple of another table, their number of rows), and how many ``persons`` have it, ``items``
how ``many`` times it has which tuple, and ``history_of`` the history of each person.

Who has which value in which class, for what is required of a column where persons may have several rows.

The queries of :mod:`incrowd.verification.requirements` run on tables that are made here: of each class g and value v
the persons who have it (bearers), or each person once, under the value of its own that has most bearers in the class
(main values; of equal ones the first in order, missing last).

Pseudonyms of persons whom recipients can follow: one for each, and none that tells whose it is.

They are 128 random bits. Nobody can see whether chance made them; what can be seen is that they are no digest of
the key that people commonly use, and that they follow no order: of the keys, of the input or the release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.errors import UndeterminedError
from incrowd.verification.coded import ask
from incrowd.verification.opening import column, text
from incrowd.verification.order import is_ordered
from incrowd.verification.owners import OWNED, Owners
from incrowd.verification.verdict import Check

Counting = Literal["shares", "main", "facts"]
"""Of a requirement on a column: the share of persons who have a value, main values, or facts (a person has a value)."""


def cell_tables(connection: Any, counting: Counting, classes: str, order: Sequence[str] = ()) -> None:
    """The tables ``cells``, ``classes`` and ``whole`` of a requirement, counted by persons.

    ``classes`` is SQL: the different (g, person, v), v being a value that the person has in the class g. ``order`` has
    the values of a column in the order that the user gave them.
    """
    place = f"list_position([{', '.join(map(text, order))}], v)" if order else "v"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE facts AS SELECT g, person, v, count(*) OVER (PARTITION BY g, v) AS b "
        f"FROM ({classes})"
    )
    main = f"QUALIFY row_number() OVER (PARTITION BY g, person ORDER BY b DESC, {place} NULLS LAST) = 1"
    counted = f"(FROM facts {main})" if counting == "main" else "facts"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE cells AS SELECT g, v, CAST(count(*) AS HUGEINT) AS n "
        f"FROM {counted} GROUP BY g, v"
    )
    size = "count(*)" if counting == "facts" else "count(DISTINCT person)"
    values = "count(DISTINCT v) + bool_or(v IS NULL)::INT"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE classes AS SELECT g, CAST({size} AS HUGEINT) AS rows, {values} AS v "
        f"FROM {counted} GROUP BY g"
    )
    everywhere = "(SELECT DISTINCT person, v FROM facts)"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE whole AS SELECT v, CAST(count(*) AS HUGEINT) AS n, "
        f"(SELECT CAST({size} AS HUGEINT) FROM {everywhere}) AS rows FROM {everywhere} GROUP BY v"
    )


def facts_in_classes(connection: Any, positions: Sequence[int]) -> str:
    """SQL: who has which value ``v`` of the table ``valued`` in which class of rows that are equal at positions."""
    number_classes(connection, "valued", positions)
    return f"SELECT DISTINCT g, person, v FROM valued JOIN numbered ON {same(positions)}"


def number_classes(connection: Any, table: str, positions: Sequence[int]) -> None:
    """The table ``numbered``: every class of a table with its number g from 1 on, in the order of its values."""
    listed = ", ".join(map(column, positions))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE numbered AS SELECT {listed}, row_number() OVER (ORDER BY {listed}) AS g "
        f"FROM (SELECT DISTINCT {listed} FROM {table})"
    )


def same(positions: Sequence[int], table: str = "valued") -> str:
    """SQL: whether a row of a table is in a class of ``numbered``."""
    ats = map(column, positions)
    return " AND ".join(f"{table}.{at} IS NOT DISTINCT FROM numbered.{at}" for at in ats)


MOST_COMBINATIONS = 50_000_000
"""Sets of known rows that are counted at most."""
BESIDE = "beside"
"""The table of persons that is released beside these rows, if there is one: the number ``st`` of the tuple of each."""


def has_beside(connection: Any) -> bool:
    """Whether the database has a table of persons, who may have no row here."""
    return bool(ask(connection, f"SELECT 1 FROM duckdb_tables() WHERE table_name = '{BESIDE}'"))


def make_histories(connection: Any, positions: Sequence[int], owners: Owners) -> None:
    """The tables of histories of the rows in ``owned``, whose tuples are the columns at these positions.

    Persons of a table beside it (:data:`BESIDE`) are counted with it, also those without rows here.
    """
    number_classes(connection, OWNED, positions)
    _make(connection, f"tuples AS SELECT person, g AS t FROM {OWNED} JOIN numbered ON {same(positions, OWNED)}")
    sure = "len(h)" if owners.persons.count_known else "0"
    own = "SELECT person, 0 AS st, list_sort(list(t)) AS h FROM tuples GROUP BY person"
    if has_beside(connection):  # whoever is in one of the tables alone has no tuple, or no rows, in the other
        own = (
            "SELECT coalesce(own.person, b.person) AS person, coalesce(b.st, 0) AS st, coalesce(h, []) AS h "
            f"FROM ({own}) AS own FULL JOIN {BESIDE} AS b ON own.person = b.person"
        )
    _make(connection, f"each AS {own}")
    _make(
        connection,
        "histories AS SELECT row_number() OVER () AS no, dense_rank() OVER (ORDER BY st, sure) AS sure, st, h, persons "
        f"FROM (SELECT st, {sure} AS sure, h, count(*) AS persons FROM each GROUP BY st, h)",
    )
    _make(
        connection,
        "history_of AS SELECT person, no FROM each JOIN histories ON each.st = histories.st AND each.h = histories.h",
    )
    _make(
        connection,
        "items AS SELECT no, t, count(*) AS many FROM (SELECT no, unnest(h) AS t FROM histories) GROUP BY ALL",
    )


def facts_in_histories(positions: Sequence[int]) -> Iterator[str]:
    """SQL: who has which value ``v`` of the table ``valued`` in which history; then in which tuple of which history."""
    whose = "valued JOIN history_of USING (person)"
    yield f"SELECT DISTINCT no AS g, person, v FROM {whose}"
    part = "no * (SELECT count(*) + 1 FROM numbered) + g"
    yield f"SELECT DISTINCT {part} AS g, person, v FROM {whose} JOIN numbered ON {same(positions)}"


def supports(connection: Any, m: int, *, beside: bool = False) -> Iterator[tuple[int, int]]:
    """(persons, sets that so many have), of sets of up to m rows that may be known of somebody; refused if too many.

    Sets grow by one row after the other: in a set, rows are in the order of their tuples, so that each is met once. A
    set is known by its number, which it has from the set it grew from and its last tuple. ``beside``: nothing but what
    is known for sure is a set, too.
    """
    refuse_too_many(connection, m)
    _make(connection, "known AS SELECT no, 0::BIGINT AS t, 0::BIGINT AS c, sure AS id FROM histories")
    if beside:
        yield from _tally(connection, "SELECT sum(persons) AS n FROM known JOIN histories USING (no) GROUP BY id")
    for _ in range(m):
        _make(
            connection,
            "grown AS SELECT x.no, i.t, CASE WHEN i.t = x.t THEN x.c + 1 ELSE 1 END AS c, x.id AS before FROM known "
            "AS x JOIN items AS i ON i.no = x.no AND (i.t > x.t OR (i.t = x.t AND i.many > x.c))",
        )
        _make(
            connection,
            "sets AS SELECT before, t, sum(persons) AS n, row_number() OVER () AS id FROM grown JOIN histories "
            "USING (no) GROUP BY before, t",
        )
        yield from _tally(connection, "SELECT n FROM sets")
        _make(connection, "known AS SELECT no, t, c, sets.id AS id FROM grown JOIN sets USING (before, t)")
    for table in ("known", "grown", "sets"):
        connection.execute(f"DROP TABLE {table}")


def _tally(connection: Any, persons: str) -> Iterator[tuple[int, int]]:
    for n, sets in ask(connection, f"SELECT n, count(*) FROM ({persons}) GROUP BY n"):
        yield int(n), int(sets)


def refuse_too_many(connection: Any, m: int) -> None:
    """Raise if numbers of rows alone allow more sets of known rows than are counted."""
    rows = dict(ask(connection, "SELECT len(h), count(*) FROM each GROUP BY ALL"))
    if combinations(rows, m) <= MOST_COMBINATIONS:
        return
    fitting = next((most for most in range(max(rows), 0, -1) if _fits(rows, m, most)), 0)
    raise UndeterminedError(
        f"Up to {m} known rows of persons with up to {max(rows):,} rows are more than {MOST_COMBINATIONS:,} sets: what "
        f"they tell cannot be counted. Nothing was published: keep at most {fitting:,} rows of a person, or let fewer "
        "be known."
    )


def _fits(rows: Mapping[int, int], m: int, most: int) -> bool:
    cut: dict[int, int] = {}
    for number, persons in rows.items():
        cut[min(number, most)] = cut.get(min(number, most), 0) + persons
    return combinations(cut, m) <= MOST_COMBINATIONS


def combinations(rows: Mapping[int, int], m: int) -> int:
    """How many sets of known rows there can be; ``rows`` has numbers of rows, and how many persons have so many.

    For each size min(m, rows) that occurs, every choice of so many rows of each person.

    Examples
    --------
    >>> combinations({1: 2, 2: 1}, 2)  # single rows: 2 + 2; pairs: 1
    5
    """
    sizes = {min(m, number) for number in rows} - {0}
    return sum(comb(number, size) * persons for size in sizes for number, persons in rows.items())


def _make(connection: Any, table: str) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table}")


_FORM = "p[0-9a-f]{32}"
_BY_DATABASE = ("md5", "sha1", "sha256")  # fast enough for everybody
_BY_HASHLIB = ("sha224", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_512", "blake2b", "blake2s")
_SOME = 1000  # persons for whom the others are tried: who uses one, uses it for all
Numbers = npt.NDArray[np.int64]


def person_pseudonym_checks(connection: Any, name: str, place: int, owners: Owners) -> Iterator[Check]:
    """The checks of a released column of pseudonyms, next to the persons of the rows in ``owned``."""
    cell = f"{column(place)}::VARCHAR"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE named AS SELECT {cell} AS pseudonym, person, count(*) AS n FROM {OWNED} "
        "GROUP BY ALL"
    )
    connection.register("spelled", owners.spelled())
    yield _form_check(connection, name)
    yield _one_to_one_check(connection, name)
    yield _digest_check(connection, name)
    yield _order_check(connection, name, owners)


def released_form_check(connection: Any, name: str, place: int) -> Check:
    """For who has the release alone: every cell of a column of ``released`` has the form of a person's pseudonym."""
    cell = f"{column(place)}::VARCHAR"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE named AS SELECT {cell} AS pseudonym, count(*) AS n FROM released GROUP BY ALL"
    )
    return _form_check(connection, name)


def _form_check(connection: Any, name: str) -> Check:
    formed = f"coalesce(regexp_full_match(pseudonym, '{_FORM}'), false)"
    [(different, other)] = ask(
        connection, f"SELECT count(DISTINCT pseudonym), coalesce(sum(n) FILTER (NOT {formed}), 0)::BIGINT FROM named"
    )
    finding = f"{different:,} different ones" if not other else f"{other:,} cells have another form"
    return Check(f"{name} pseudonyms", not other, finding)


def _one_to_one_check(connection: Any, name: str) -> Check:
    [(pairs, pseudonyms, persons)] = ask(
        connection, "SELECT count(*), count(DISTINCT pseudonym), count(DISTINCT person) FROM named"
    )
    passed = pairs == pseudonyms == persons
    finding = f"{pseudonyms:,} pseudonyms of {persons:,} persons"
    return Check(f"{name} one to one", passed, finding if passed else f"{finding}, in {pairs:,} pairs")


def _digest_check(connection: Any, name: str) -> Check:
    """No pseudonym holds the key itself, or what a usual function makes of it."""
    digests = [f"{function}(word)" for function in _BY_DATABASE]
    parts = [part for digest in digests for part in (f"left({digest}, 32)", f"right({digest}, 32)")]
    own = ["lower(word)", "replace(lower(word), '-', '')", "lpad(lower(word), 32, '0')", "rpad(lower(word), 32, '0')"]
    [(usual,)] = ask(
        connection,
        "SELECT count(DISTINCT pseudonym) FROM named JOIN spelled USING (person) "
        f"WHERE substr(pseudonym, 2) IN ({', '.join([*parts, *own])})",
    )
    some = ask(connection, f"SELECT pseudonym, word FROM named JOIN spelled USING (person) LIMIT {_SOME}")
    usual += sum(pseudonym is not None and pseudonym[1:] in set(_digests(word)) for pseudonym, word in some)
    finding = "none is a usual digest of its key" if not usual else f"{usual:,} are digests of their keys"
    return Check(f"{name} no digests", not usual, finding)


def _digests(word: str) -> Iterator[str]:
    for function in _BY_HASHLIB:
        digest = hashlib.new(function, word.encode()).hexdigest()
        yield from (digest[:32], digest[-32:])
    yield hashlib.blake2b(word.encode(), digest_size=16).hexdigest()
    yield hashlib.blake2s(word.encode(), digest_size=16).hexdigest()


def _order_check(connection: Any, name: str, owners: Owners) -> Check:
    """Sorted by their pseudonyms, persons are in no order of their keys, of the input or of the release."""
    sorted_ = connection.sql("SELECT person FROM named WHERE person >= 0 ORDER BY pseudonym").fetchnumpy()["person"]
    persons = np.asarray(sorted_, np.int64)
    orders = {"keys": _by_key, "lengths and keys": _by_length, "the input": _by_input, "the release": _by_release}
    followed = [what for what, places in orders.items() if is_ordered(places(owners)[persons].astype(np.float64))]
    finding = f"they follow the order of {', '.join(followed)}" if followed else "they follow no order"
    return Check(f"{name} order", not followed, finding)


def _by_key(owners: Owners) -> Numbers:
    """The place of each person in the order of keys; who has none comes last."""
    import pyarrow.compute as pc

    return _places(owners, pc.sort_indices(owners.words).to_numpy())


def _by_length(owners: Owners) -> Numbers:
    """The same with shorter keys first: numbers as texts are in the order of their size."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sized = pa.table({"length": pc.utf8_length(owners.words), "word": owners.words})
    return _places(owners, pc.sort_indices(sized, [("length", "ascending"), ("word", "ascending")]).to_numpy())


def _places(owners: Owners, order: Any) -> Numbers:
    places = np.full(int(owners.codes.max(initial=-1)) + 1, len(order), np.int64)
    np.minimum.at(places, owners.of_words[order], np.arange(len(order)))
    return _ranked(places)


def _by_input(owners: Owners) -> Numbers:
    return _first_rows(owners.codes, owners)


def _by_release(owners: Owners) -> Numbers:
    return _first_rows(owners.released, owners)


def _first_rows(codes: Numbers, owners: Owners) -> Numbers:
    places = np.full(int(owners.codes.max(initial=-1)) + 1, len(codes), np.int64)
    there = codes >= 0
    np.minimum.at(places, codes[there], np.flatnonzero(there))
    return _ranked(places)


def _ranked(places: Numbers) -> Numbers:
    ranks = np.empty(len(places), np.int64)
    ranks[np.argsort(places, kind="stable")] = np.arange(len(places))
    return ranks
