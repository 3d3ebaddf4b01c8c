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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import VerificationError
from incrowd.verification.coded import CodedCells, first_rows, flags
from incrowd.verification.column_rules import Hmac
from incrowd.verification.open_cells import Bools, Codes, Numbers, compact, paired, tally
from incrowd.verification.request import Drawn
from incrowd.vocabulary.counts_text import HIDDEN

Columns = tuple[str, ...]
_ROWS_AT_ONCE = 1 << 18  # so that the words of rows with some hundred attributes fit into memory


def redraw(
    connection: Any,
    drawn: Drawn,
    looks: Any,
    own: Mapping[Columns, Any],
    columns: Sequence[str],
    numeric: Collection[str],
    joint: Mapping[Columns, Any],
) -> dict[Columns, Any]:
    """What each class must show: for each column, or columns counted together, ``look``, ``member`` and ``n``.

    ``looks`` has the ``rows`` of each look, and the cell of each of the ``columns``. ``own`` has, for each of them, how
    many rows (``n``) of a ``look``, known by its place, have which ``member``, and the ``name`` that seeds know it by;
    of ``numeric`` columns members are bins. ``joint`` has the names that combinations may have.
    """
    import pyarrow as pa

    sizes = looks["rows"].to_numpy()
    attributes = {ats: _Attribute.of(connection, ats, looks, own[ats], numeric, joint.get(ats)) for ats in own}
    texts = {at: text for ats, one in attributes.items() for at, text in zip(ats, one.texts, strict=True)}
    messages = _messages([texts[at] for at in columns])
    parts: dict[Columns, list[Any]] = {ats: [] for ats in own}
    secret = _secret(drawn)
    for chunk in _chunks(sizes):
        words = _words(secret, messages[chunk.start : chunk.stop], sizes[chunk], len(columns))
        here = np.repeat(np.asarray(chunk), sizes[chunk])
        for ats, one in attributes.items():
            values = one.draw(here, words[:, list(columns).index(ats[0])], drawn.rows)
            parts[ats].append(one.counts(here, values))
    return {ats: pa.concat_tables(tables) for ats, tables in parts.items()}


_HIDDEN, _UNNAMED = -1, -2


def _secret(drawn: Drawn) -> Hmac:
    """The key, read here."""
    try:
        return Hmac(bytes.fromhex(drawn.key.read_text(encoding="ascii").strip()))
    except (OSError, ValueError):
        raise VerificationError("The key of the drawn counts cannot be read. Nothing was published.") from None


def _chunks(sizes: Codes) -> Iterator[range]:
    """Looks of about so many rows together."""
    start = rows = 0
    for number, size in enumerate(sizes.tolist(), 1):
        rows += size
        if rows >= _ROWS_AT_ONCE or number == len(sizes):
            yield range(start, number)
            start, rows = number, 0


def _words(secret: Hmac, messages: Sequence[bytes], sizes: Codes, attributes: int) -> npt.NDArray[np.uint64]:
    """A line of words for each row of the classes."""
    streams = (
        hashlib.shake_256(secret.digest(message)).digest(8 * attributes * size)
        for message, size in zip(messages, sizes.tolist(), strict=True)
    )
    return np.frombuffer(b"".join(streams), ">u8").astype(np.uint64).reshape(-1, attributes)


@dataclass(frozen=True, eq=False)
class _Attribute:
    """The values of one attribute, or of some that are counted together, as rows have them.

    ``members`` are in the order of draws. ``values`` has the value of each row, those of a look together and in order,
    those that hide it too, what may not be named last; ``starts`` where the rows of each look begin, ``named`` how many
    of them have a value that may be named. ``shares`` has each value as often as 64ths of the rows that show it have
    it, rounded up. ``texts`` are what exact counts of each look would show.
    """

    members: Any
    values: Numbers
    starts: Codes
    named: Codes
    shares: Codes
    texts: Sequence[Any]

    @classmethod
    def of(
        cls, connection: Any, ats: Columns, looks: Any, own: Any, numeric: Collection[str], joint: Any
    ) -> _Attribute:
        """The column or columns ``ats``, of all looks."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if own["name"].null_count:
            raise VerificationError("A number lies in none of the bins that were announced. Nothing was published.")
        names, look, sizes = CodedCells.of(own["name"]), own["look"].to_numpy(), looks["rows"].to_numpy()
        hides = flags(pc.fill_null(pc.equal(looks[ats[0]], HIDDEN), False))
        places, unnamed = _places(connection, names.words, [at in numeric for at in ats], joint)
        last = len(places)  # behind all names stands what may not be named, and behind that what is hidden
        shown = ~hides[look]
        codes = np.where(unnamed, last, places)[names.codes[shown]]
        keys, entry = compact(
            np.concatenate([paired(look[shown], codes, last + 2), np.flatnonzero(hides) * (last + 2) + last + 1])
        )
        n = np.bincount(entry, np.concatenate([own["n"].to_numpy()[shown], sizes[hides]])).astype(np.int64)
        look, codes = np.divmod(keys, last + 2)
        named = np.bincount(codes, n, last + 2)[:last].astype(np.int64)
        sixty_fourths = -(-64 * named // max(1, int(named.sum())))
        in_order, starts = np.argsort(places), np.searchsorted(look, np.arange(len(sizes) + 1))
        return cls(
            own["member"].take(first_rows(names.codes)[in_order]).combine_chunks(),
            np.repeat(np.where(codes < last, codes, _UNNAMED + (codes > last)).astype(np.int32), n),
            np.cumsum(sizes) - sizes,
            np.bincount(look, n * (codes < last), len(sizes)).astype(np.int64),
            np.repeat(np.arange(last), sixty_fourths),
            [
                pc.if_else(pa.array(hides), HIDDEN, text)
                for text in _texts(ats, names.words.take(in_order), starts, codes, n)
            ],
        )

    def draw(self, look: Codes, words: npt.NDArray[np.uint64], more: int) -> Numbers:
        """The value drawn in each row; none where it is hidden."""
        named = self.named[look].astype(np.uint64)
        rows = named + np.uint64(more)
        choice = words % rows
        own = np.minimum(choice, np.maximum(named, 1) - np.uint64(1)).astype(np.int64)
        values: Numbers = self.values[self.starts[look] + own]
        others = (choice >= named) & (values != _HIDDEN)
        turn = words[others] // rows[others]
        values[others] = self.shares[(turn % np.uint64(max(1, len(self.shares)))).astype(np.int64)]
        return values

    def counts(self, look: Codes, values: Numbers) -> Any:
        """How many rows of each look have drawn which member; the looks are neighbours."""
        import pyarrow as pa

        width, shown = max(1, len(self.members)), values >= 0
        cells, rows = tally(paired(look[shown] - look[0], values[shown], width))
        looks, members = np.divmod(cells, width)
        return pa.table({"look": looks + look[0], "member": self.members.take(pa.array(members)), "n": rows})


def _places(connection: Any, names: Any, numeric: Sequence[bool], joint: Any) -> tuple[Codes, Bools]:
    """The place of each name in the order of draws, and whether it may not be named."""
    import pyarrow as pa

    connection.register("draw_names", pa.table({"nth": np.arange(len(names)), "name": names}))
    connection.register("named", pa.table({"name": names}) if joint is None else joint)
    order = []
    for place, number in enumerate(numeric, 1):
        part = f"string_split(name, '|')[{place}]"
        order += [f"{part} = '?'", *([f"low_end({part})"] if number else []), part]
    ordered = connection.sql(
        f"SELECT nth, name NOT IN (SELECT name FROM named) AS unnamed FROM draw_names ORDER BY {', '.join(order)}"
    ).to_arrow_table()
    places = np.argsort(ordered["nth"].to_numpy())
    return places, flags(ordered["unnamed"])[places]


def _texts(ats: Columns, names: Any, starts: Codes, codes: Codes, n: Codes) -> Iterator[Any]:
    """For each column what exact counts of each look would show, whose entries begin at ``starts``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries, lists = pa.array(np.minimum(codes, len(names))), pc.split_pattern(names, "|")
    for nth in range(len(ats)):
        words = pa.concat_arrays([pc.list_element(lists, nth), pa.array([HIDDEN], names.type)])
        members = pc.binary_join_element_wise(words.take(entries), pa.array(n).cast(names.type), ":")
        yield pc.binary_join(pa.ListArray.from_arrays(pa.array(starts, pa.int32()), members), "|")


def _messages(texts: Sequence[Any]) -> list[bytes]:
    """What exact counts of each look would show: the message that seeds it, each text after its length."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [part for text in texts for part in (pc.binary_length(text).cast(text.type), ":", text)]
    return list(pc.binary_join_element_wise(*parts, "").cast(pa.binary()).to_pylist())
