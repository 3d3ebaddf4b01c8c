"""Draw the counts of a release once more: the program that drew them is not asked.

The rule, as docs/release_forms.md states it. The rows of a class stand in the order of their values: bins ascending,
texts by their bytes, missing last. A class of n rows takes n draws of each attribute, each from its n rows and r more
that have any value, as often as 64ths of the rows that show the attribute have it, rounded up. The words of a class are
SHAKE-256 of an HMAC-SHA-256, under the key, of what exact counts would have shown; row by row, they serve its
attributes in turn. Attributes that are counted together take the words of the first of them: each is a row whose
combination of values may be named, or any such combination.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import VerificationError
from incrowd.verification.column_rules import Hmac
from incrowd.verification.request import Drawn
from incrowd.vocabulary.counts_text import HIDDEN

Codes = npt.NDArray[np.int64]
_ROWS_AT_ONCE = 1 << 18  # so that the words of rows with some hundred attributes fit into memory


def redraw(
    connection: Any,
    drawn: Drawn,
    own: Mapping[Columns, Any],
    columns: Sequence[str],
    joint: Mapping[Columns, Any],
) -> dict[Columns, Any]:
    """What each class must show: for each column, or columns counted together, ``look``, ``member`` and ``n``.

    The connection has the table ``looks_of_all``: each look, its rows, and the cell of each of the ``columns``. ``own``
    has, for each, how many rows (``n``) of a look have which ``member``; the ``name`` that seeds know it by, and its
    ``place`` in the order of draws. ``joint`` has the names that combinations may have.
    """
    looks = _looks(connection, own, columns, joint)
    attributes = [_Attribute.of(connection, number) for number in range(len(own))]
    first = [list(columns).index(ats[0]) for ats in own]
    parts: list[list[Codes]] = [[] for _ in attributes]
    secret, sizes = _secret(drawn), looks["rows"].to_numpy()
    for chunk in _chunks(sizes):
        messages = looks["message"].slice(chunk.start, len(chunk)).to_pylist()
        words = _words(secret, messages, sizes[chunk], len(columns))
        here = np.repeat(np.asarray(chunk), sizes[chunk])
        for part, one, column in zip(parts, attributes, first, strict=True):
            part.append(one.draw(here, words[:, column], sizes, drawn.rows))
    return {
        ats: one.counts(looks["look"], np.repeat(np.arange(len(sizes)), sizes), np.concatenate([*part, _NONE]))
        for ats, one, part in zip(own, attributes, parts, strict=True)
    }


Columns = tuple[str, ...]
_NONE = np.empty(0, np.int64)
_HIDDEN, _UNNAMED = -1, -2


def _secret(drawn: Drawn) -> Hmac:
    """The key, read here."""
    try:
        return Hmac(bytes.fromhex(drawn.key.read_text(encoding="ascii").strip()))
    except (OSError, ValueError):
        raise VerificationError("The key of the drawn counts cannot be read. Nothing was published.") from None


def _looks(connection: Any, own: Mapping[Columns, Any], columns: Sequence[str], joint: Mapping[Columns, Any]) -> Any:
    """The looks in one order, with their rows, and what exact counts would show: the message that seeds them."""
    joins, texts = [], dict[str, str]()
    for number, (ats, members) in enumerate(own.items()):
        if members["name"].null_count:
            raise VerificationError("A number lies in none of the bins that were announced. Nothing was published.")
        connection.register("own", members)
        connection.register("named", joint.get(ats, members))
        nothing = "|".join(HIDDEN for _ in ats)
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE had_{number} AS SELECT look, name, member, place, unnamed, sum(n)::BIGINT "
            f"AS n FROM (SELECT look, n, k.name IS NULL AS unnamed, CASE WHEN unnamed THEN '{nothing}' "
            "ELSE own.name END AS name, CASE WHEN NOT unnamed THEN member END AS member, "
            "CASE WHEN NOT unnamed THEN place END AS place "
            "FROM own JOIN looks_of_all USING (look) LEFT JOIN (SELECT DISTINCT name FROM named) AS k "
            f"ON k.name = own.name WHERE {ats[0]} IS DISTINCT FROM '{HIDDEN}') GROUP BY ALL"
        )
        exact = ", ".join(
            f"string_agg(string_split(name, '|')[{nth}] || ':' || n, '|' ORDER BY unnamed, place) AS t_{at}"
            for nth, at in enumerate(ats, 1)
        )
        joins.append(f"LEFT JOIN (SELECT look, {exact} FROM had_{number} GROUP BY look) USING (look)")
        texts |= {at: f"coalesce(t_{at}, '{HIDDEN}')" for at in ats}
    message = " || ".join(f"strlen({texts[at]}) || ':' || {texts[at]}" for at in columns)
    return connection.sql(
        f"SELECT look, rows, {message} AS message FROM looks_of_all {' '.join(joins)} ORDER BY look"
    ).to_arrow_table()


def _chunks(sizes: Codes) -> Iterator[range]:
    """Looks of about so many rows together."""
    start = rows = 0
    for number, size in enumerate(sizes.tolist(), 1):
        rows += size
        if rows >= _ROWS_AT_ONCE or number == len(sizes):
            yield range(start, number)
            start, rows = number, 0


def _words(secret: Hmac, messages: Sequence[str], sizes: Codes, attributes: int) -> npt.NDArray[np.uint64]:
    """A line of words for each row of the classes."""
    streams = (
        hashlib.shake_256(secret.digest(message.encode())).digest(8 * attributes * size)
        for message, size in zip(messages, sizes.tolist(), strict=True)
    )
    return np.frombuffer(b"".join(streams), ">u8").astype(np.uint64).reshape(-1, attributes)


@dataclass(frozen=True, eq=False)
class _Attribute:
    """The values of one attribute, or of some that are counted together, as rows have them.

    ``values`` has the value of each row, those of a look together and in order, those that hide it too, what may not be
    named last; ``shares`` each value as often as 64ths of the rows that show it have it, rounded up.
    """

    members: Sequence[str]
    values: Codes
    shares: Codes

    @classmethod
    def of(cls, connection: Any, number: int) -> _Attribute:
        known = connection.sql(
            f"SELECT name, member FROM (SELECT DISTINCT name, member, place FROM had_{number} WHERE NOT unnamed) "
            "ORDER BY place"
        ).fetchall()
        codes = {name: code for code, (name, _) in enumerate(known)}
        rows = connection.sql(
            f"SELECT name, unnamed, coalesce(n, l.rows) AS n FROM looks_of_all AS l LEFT JOIN had_{number} USING "
            "(look) ORDER BY look, unnamed, place"
        ).to_arrow_table()
        places = np.array([_HIDDEN if name is None else codes.get(name, _UNNAMED) for name in rows["name"].to_pylist()])
        values = np.repeat(places.astype(np.int64), rows["n"].to_numpy())
        named = values[values >= 0]
        sixty_fourths = (64 * np.bincount(named) + len(named) - 1) // max(1, len(named))
        return cls([member for _, member in known], values, np.repeat(np.arange(len(sixty_fourths)), sixty_fourths))

    def draw(self, look: Codes, words: npt.NDArray[np.uint64], sizes: Codes, more: int) -> Codes:
        """The value drawn in each row; none where it is hidden."""
        starts, ends = np.cumsum(sizes) - sizes, np.cumsum(sizes)
        before = np.concatenate([[0], np.cumsum(self.values >= 0)])
        named = (before[ends] - before[starts])[look]
        choice = words % (named + more).astype(np.uint64)
        own = np.minimum(choice, np.maximum(named - 1, 0).astype(np.uint64)).astype(np.int64)
        values: Codes = self.values[starts[look] + own]
        others = (choice >= named.astype(np.uint64)) & (values != _HIDDEN)
        turn = words[others] // (named[others] + more).astype(np.uint64)
        values[others] = self.shares[(turn % np.uint64(max(1, len(self.shares)))).astype(np.int64)]
        return values

    def counts(self, looks: Any, look: Codes, values: Codes) -> Any:
        """How many rows of each look have drawn which member."""
        import pyarrow as pa

        width = max(1, len(self.members))
        shown = values >= 0
        cells, rows = np.unique(look[shown] * width + values[shown], return_counts=True)
        members = pa.array(self.members, pa.string())
        return pa.table(
            {"look": looks.take(pa.array(cells // width)), "member": members.take(pa.array(cells % width)), "n": rows}
        )
