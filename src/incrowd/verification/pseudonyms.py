"""Pseudonyms of persons whom recipients can follow: one for each, and none that tells whose it is.

They are 128 random bits. Nobody can see whether chance made them; what can be seen is that they are no digest of
the key that people commonly use, and that they follow no order: of the keys, of the input or the release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.coded import ask
from incrowd.verification.opening import column
from incrowd.verification.order import is_ordered
from incrowd.verification.owners import OWNED, Owners
from incrowd.verification.verdict import Check

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
    [(made,)] = ask(
        connection,
        "SELECT count(DISTINCT pseudonym) FROM named JOIN spelled USING (person) "
        f"WHERE substr(pseudonym, 2) IN ({', '.join([*parts, *own])})",
    )
    some = ask(connection, f"SELECT pseudonym, word FROM named JOIN spelled USING (person) LIMIT {_SOME}")
    made += sum(pseudonym is not None and pseudonym[1:] in set(_digests(word)) for pseudonym, word in some)
    finding = "none is a usual digest of its key" if not made else f"{made:,} are digests of their keys"
    return Check(f"{name} no digests", not made, finding)


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
