"""Draw the counts of a release once more: the program that drew them is not asked.

The rule, as docs/release_forms.md states it. The rows of a class stand in the order of their values: bins ascending,
texts by their bytes, missing last. A class of n rows takes n draws of each attribute, each from its n rows and r more
that have any value, as often as 64ths of the rows that show the attribute have it, rounded up. The words of a class are
SHAKE-256 of an HMAC-SHA-256, under the key, of what exact counts would have shown; row by row, they serve its
attributes in turn.
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


def redraw(connection: Any, drawn: Drawn, own: Mapping[str, Any]) -> dict[str, Any]:
    """What each class must show: for each column a PyArrow table of ``look``, ``member`` and ``n``.

    The connection has the table ``looks_of_all``: each look, its rows, and the cell of each column. ``own`` has, for
    each column, how many rows (``n``) of a look have which ``member``; the ``name`` that seeds know it by, and the
    ``low`` end of a bin.
    """
    looks = _looks(connection, own)
    attributes = [_Attribute.of(connection, number) for number in range(len(own))]
    parts: list[list[Codes]] = [[] for _ in attributes]
    secret, sizes = _secret(drawn), looks["rows"].to_numpy()
    for chunk in _chunks(sizes):
        messages = looks["message"].slice(chunk.start, len(chunk)).to_pylist()
        words = _words(secret, messages, sizes[chunk], len(attributes))
        here = np.repeat(np.asarray(chunk), sizes[chunk])
        for part, one, column in zip(parts, attributes, words.T, strict=True):
            part.append(one.draw(here, column, sizes, drawn.rows))
    return {
        at: one.counts(looks["look"], np.repeat(np.arange(len(sizes)), sizes), np.concatenate([*part, _NONE]))
        for at, one, part in zip(own, attributes, parts, strict=True)
    }


_NONE = np.empty(0, np.int64)
_HIDDEN = -1
_ORDER = "name = '?', low, name"


def _secret(drawn: Drawn) -> Hmac:
    """The key, read here."""
    try:
        return Hmac(bytes.fromhex(drawn.key.read_text(encoding="ascii").strip()))
    except (OSError, ValueError):
        raise VerificationError("The key of the drawn counts cannot be read. Nothing was published.") from None


def _looks(connection: Any, own: Mapping[str, Any]) -> Any:
    """The looks in one order, with their rows, and what exact counts would show: the message that seeds them."""
    joins = []
    for number, (at, members) in enumerate(own.items()):
        if members["name"].null_count:
            raise VerificationError("A number lies in none of the bins that were announced. Nothing was published.")
        connection.register("own", members)
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE had_{number} AS SELECT look, name, member, low, sum(own.n)::BIGINT AS n "
            f"FROM own JOIN looks_of_all USING (look) WHERE {at} IS DISTINCT FROM '{HIDDEN}' GROUP BY ALL"
        )
        exact = f"SELECT look, string_agg(name || ':' || n, '|' ORDER BY {_ORDER}) AS t{number} FROM had_{number}"
        joins.append(f"LEFT JOIN ({exact} GROUP BY look) USING (look)")
    texts = (f"coalesce(t{number}, '{HIDDEN}')" for number in range(len(own)))
    message = " || ".join(f"strlen({text}) || ':' || {text}" for text in texts)
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
    """The values of one attribute, as rows have them.

    ``values`` has the value of each row, those of a look together and in order, those that hide it too; ``shares`` each
    value as often as 64ths of the rows that show it have it, rounded up.
    """

    members: Sequence[str]
    values: Codes
    shares: Codes

    @classmethod
    def of(cls, connection: Any, number: int) -> _Attribute:
        known = connection.sql(
            f"SELECT name, member FROM (SELECT DISTINCT name, member, low FROM had_{number}) ORDER BY {_ORDER}"
        ).fetchall()
        codes = {name: code for code, (name, _) in enumerate(known)}
        rows = connection.sql(
            f"SELECT name, coalesce(n, l.rows) AS n FROM looks_of_all AS l LEFT JOIN had_{number} USING (look) "
            f"ORDER BY look, {_ORDER}"
        ).to_arrow_table()
        places = np.array([codes.get(name, _HIDDEN) for name in rows["name"].to_pylist()], np.int64)
        values = np.repeat(places, rows["n"].to_numpy())
        shown = values[values != _HIDDEN]
        sixty_fourths = (64 * np.bincount(shown) + len(shown) - 1) // max(1, len(shown))
        return cls([member for _, member in known], values, np.repeat(np.arange(len(sixty_fourths)), sixty_fourths))

    def draw(self, look: Codes, words: npt.NDArray[np.uint64], sizes: Codes, more: int) -> Codes:
        """The value drawn in each row; none where it is hidden."""
        rows = sizes[look]
        choice = words % (rows + more).astype(np.uint64)
        starts = np.cumsum(sizes) - sizes
        own = np.minimum(choice, (rows - 1).astype(np.uint64)).astype(np.int64)
        values: Codes = self.values[starts[look] + own]
        others = (choice >= rows.astype(np.uint64)) & (values != _HIDDEN)
        turn = words[others] // (rows[others] + more).astype(np.uint64)
        values[others] = self.shares[(turn % np.uint64(max(1, len(self.shares)))).astype(np.int64)]
        return values

    def counts(self, looks: Any, look: Codes, values: Codes) -> Any:
        """How many rows of each look have drawn which member."""
        import pyarrow as pa

        width = max(1, len(self.members))
        shown = values != _HIDDEN
        cells, rows = np.unique(look[shown] * width + values[shown], return_counts=True)
        members = pa.array(self.members, pa.string())
        return pa.table(
            {"look": looks.take(pa.array(cells // width)), "member": members.take(pa.array(cells % width)), "n": rows}
        )
