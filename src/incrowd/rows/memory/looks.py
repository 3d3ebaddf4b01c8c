"""What the groups of a release of counts look like: no two alike, their counts exact or drawn by a key.

Drawn counts. A group of n rows shows, of each attribute, n draws. Each takes one of n + r rows, all equally likely: a
row of the group, or one of r rows (``redraw``, 2) that may have any value of the release, in its shares. What fixes the
draws is a secret key and the group itself::

    seed   HMAC-SHA-256(key, the texts that the group would show were its counts exact)
    words  SHAKE-256(seed), 64 bits each, big-endian; draw i of attribute a of A takes the word i * A + a
           (of attributes that are counted together, a is the first)
    draw   word mod (n + r), if below n, is the row of the group, in the order of its values;
           else (word div (n + r)) mod M is the value, in a list of M in the same order that has each value as often
           as 64ths of the rows that show the attribute have it, rounded up

Attributes that are counted together are drawn as one: by the same word, of its rows those whose combination of values
may be named, and of the whole the combinations that may. So what few people have together is drawn nowhere.

So the same group is drawn alike whenever it is released with the key, and cannot be averaged; and a group that differs
in one row is drawn afresh in all of its attributes, so that the difference of two releases does not show the row. Of
shares in 64ths the row that goes seldom changes one, and then the list, which would tell of it in groups that stay.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts
from incrowd.vocabulary.counts_text import HIDDEN, encode_value, write_counts
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Counts, Form, Interval, Member, Suppressed, member_text
from incrowd.vocabulary.schema import ColumnType

Names = tuple[str, ...]
Values = tuple[Member, ...]
Rows = tuple[tuple[Values, int], ...] | None
"""The combinations of values that rows of a group have, with so many rows; None is hidden."""
Look = tuple[Rows, ...]
Ints = npt.NDArray[np.int64]
SHARES = 64  # so many parts of the whole are told apart: enough for two rows of it, and one row in N changes few
_WORDS_AT_ONCE = 1 << 22  # 32 MB of them


def with_distinct_looks(plan: ReleasePlan) -> ReleasePlan:
    """Groups that look alike are one for the recipient: each of them shows the counts of all their rows.

    So the counts of an attribute always add up to the number of rows that carry them.
    """
    if not plan.counted or not plan.groups:
        return plan
    exact = _exact(plan, {})
    units = _units(plan, exact)
    while len(alike := _alike([unit.rows for unit in units])) < len(units):
        units = [_joined([units[number] for number in same]) for same in alike]
    return _shown(plan, [*exact], [(unit.rows, unit) for unit in units])


def with_drawn_looks(
    plan: ReleasePlan, columns: Mapping[str, EncodedColumn], joint: Mapping[Names, Sequence[Rows]] | None = None
) -> ReleasePlan:
    """The plan with counts that are drawn, given exact ones; groups whose draws look alike are drawn as one.

    ``joint`` has, for attributes that are counted together, what rows of each group have of them.
    """
    if (key := plan.draw_key) is None:
        raise PlanError("This plan does not keep the key that its counts were drawn by. Release the table again.")
    exact = _exact(plan, joint or {})
    drawing = _Drawing.of(plan, columns, exact)
    units = _units(plan, exact)
    looks = drawing.drawn(units, key)
    while len(alike := _alike(looks)) < len(units):
        units = [_joined([units[number] for number in same]) for same in alike]
        joined = [number for number, same in enumerate(alike) if len(same) > 1]
        looks = [looks[same[0]] for same in alike]
        again = drawing.drawn([units[number] for number in joined], key)
        for number, look in zip(joined, again, strict=True):
            looks[number] = look
    shown = _shown(plan, [*exact], [*zip(looks, units, strict=True)])
    return replace(shown, steps=tuple(replace(s, key=None) if isinstance(s, AsCounts) else s for s in shown.steps))


@dataclass(frozen=True, eq=False)
class _Unit:
    """Some groups that are one: what their rows have, attribute by attribute; how many rows, and which groups."""

    rows: Look
    size: int
    places: Sequence[int]


def _units(plan: ReleasePlan, exact: Mapping[Names, Sequence[Rows]]) -> list[_Unit]:
    """Each group by itself."""
    return [
        _Unit(tuple(rows[place] for rows in exact.values()), group.rows, [place])
        for place, group in enumerate(plan.groups)
    ]


def _joined(units: Sequence[_Unit]) -> _Unit:
    """Several groups as one; what one hides, all hide."""
    if len(units) == 1:
        return units[0]
    together = tuple(map(_added, zip(*(unit.rows for unit in units), strict=True)))
    return _Unit(together, sum(unit.size for unit in units), [*chain(*(unit.places for unit in units))])


def _added(parts: Iterable[Rows]) -> Rows:
    total: dict[Values, int] = {}
    for part in parts:
        if part is None:
            return None
        for values, rows in part:
            total[values] = total.get(values, 0) + rows
    return tuple(total.items())


def _exact(plan: ReleasePlan, joint: Mapping[Names, Sequence[Rows]]) -> dict[Names, list[Rows]]:
    """For each attribute, or attributes counted together, what rows of each group have; in the order of the first."""
    exact: dict[Names, list[Rows]] = {}
    together = {name: names for names in joint for name in names}
    for name in plan.names:
        names = together.get(name, (name,))
        if names in exact:
            continue
        alone = [_alone(form) for form in plan.forms(name)]
        rows = joint.get(names, alone)
        exact[names] = [None if one is None else mine for one, mine in zip(alone, rows, strict=True)]
    return exact


def _alone(form: Form) -> Rows:
    """What rows have of one attribute."""
    return tuple(((member,), rows) for member, rows in form.members or ()) if isinstance(form, Counts) else None


def _alike(looks: Sequence[Look]) -> list[list[int]]:
    """Which of the looks are the same."""
    alike: dict[Look, list[int]] = {}
    for number, look in enumerate(looks):
        alike.setdefault(look, []).append(number)
    return list(alike.values())


def _shown(plan: ReleasePlan, parts: Sequence[Names], looks: Sequence[tuple[Look, _Unit]]) -> ReleasePlan:
    """The plan whose groups show these looks; of attributes counted together the i-th members belong together."""
    forms: dict[str, list[Form]] = {name: [Suppressed()] * len(plan.groups) for name in plan.names}
    for look, unit in looks:
        for names, rows in zip(parts, look, strict=True):
            for at, name in enumerate(names if rows is not None else ()):
                counts = Counts(tuple((values[at], many) for values, many in rows or ()))
                for place in unit.places:
                    forms[name][place] = counts
    return plan.with_forms(forms)


@dataclass(frozen=True, eq=False)
class _Attributes:
    """What is drawn by the same words: one attribute, or some that are counted together.

    ``members`` are its values and bins, or combinations of them, in the order in which draws count them: bins
    ascending, values by the bytes of their text, the missing one last; ``in_cells`` in the order of cells, where each
    stands at its ``rank``; ``ends`` add up how often each is in the list of all.
    """

    first: int  # the place of its first attribute
    types: tuple[ColumnType, ...]
    members: list[Values]
    place: dict[Values, int]
    in_cells: list[Values]
    rank: Ints
    ends: Ints

    @classmethod
    def of(
        cls, plan: ReleasePlan, names: Names, columns: Mapping[str, EncodedColumn], exact: Sequence[Rows]
    ) -> _Attributes:
        """Counted over all groups that show it."""
        total = dict(_added(one for one in exact if one is not None) or ())
        members = sorted(total, key=lambda values: tuple(map(_draw_order, values)))
        place = {member: number for number, member in enumerate(members)}
        in_cells = members
        if len(names) > 1:
            in_cells = [values for joint in plan.joint if joint.names == names for values in joint.values]
        elif not (column := columns[names[0]]).type.is_numeric:
            in_cells = [(value,) for value in (*column.dictionary.to_list(), None)]
        in_cells = [values for values in in_cells if values in total]
        rank = np.argsort([place[member] for member in in_cells])
        rows = sum(total.values())
        ends = np.cumsum([-(-SHARES * total[member] // rows) for member in members], dtype=np.int64)
        types = tuple(columns[name].type for name in names)
        return cls(plan.names.index(names[0]), types, members, place, in_cells, rank, ends)

    def texts(self, rows: Rows, size: int) -> list[bytes]:
        """What a group's rows have as its seed knows it: for each attribute the bytes of a text, after their number.

        Rows whose combination may not be named are told of at the end.
        """
        counts = sorted((self.place[values], many) for values, many in rows or ())
        texts = []
        for at, kind in enumerate(self.types):
            text = write_counts((member_text(self.members[place][at], kind), many) for place, many in counts)
            if rows is None:
                text = HIDDEN
            elif left := size - sum(many for _, many in counts):
                text = "|".join(filter(None, (text, f"{HIDDEN}:{left}")))
            data = text.encode()
            texts.append(b"%d:%s" % (len(data), data))
        return texts

    def drawn(self, units: Sequence[_Unit], at: int, words: npt.NDArray[np.uint64], redraw: int) -> list[Rows]:
        """What some groups show; ``words`` has one for each of their rows."""
        own = [sorted((self.place[values], many) for values, many in unit.rows[at] or ()) for unit in units]
        places = np.array([place for each in own for place, _ in each], np.int64)
        ends = np.cumsum([rows for each in own for _, rows in each], dtype=np.int64)
        named = np.array([sum(rows for _, rows in each) for each in own], np.int64)
        group = np.repeat(np.arange(len(units)), [unit.size for unit in units])
        choices = (named[group] + redraw).astype(np.uint64)
        row, rest = (words % choices).astype(np.int64), words // choices
        inside = row < named[group]
        values = np.empty(len(words), np.int64)
        first = (np.cumsum(named) - named)[group[inside]]
        values[inside] = places[np.searchsorted(ends, first + row[inside], side="right")]
        anybody = (rest[~inside] % np.uint64(self.ends[-1])).astype(np.int64)
        values[~inside] = np.searchsorted(self.ends, anybody, side="right")
        return self._rows(group, values, len(units))

    def _rows(self, group: Ints, values: Ints, groups: int) -> list[Rows]:
        """How often each group has which combination, in the order of cells."""
        counts: list[list[tuple[Values, int]]] = [[] for _ in range(groups)]
        cells, rows = np.unique(group * len(self.members) + self.rank[values], return_counts=True)
        for cell, many in zip(cells.tolist(), rows.tolist(), strict=True):
            counts[cell // len(self.members)].append((self.in_cells[cell % len(self.members)], many))
        return [tuple(each) for each in counts]


def _draw_order(member: Member) -> tuple[bool, float, bytes]:
    if isinstance(member, Interval):
        return False, -np.inf if member.low is None else member.low, b""
    return member is None, 0.0, b"" if member is None else encode_value(str(member)).encode()


@dataclass(frozen=True, eq=False)
class _Drawing:
    """How groups are drawn: ``parts`` are what is drawn by words of its own, of ``names``, the attributes."""

    names: Names
    parts: Mapping[Names, _Attributes]
    redraw: int

    @classmethod
    def of(
        cls, plan: ReleasePlan, columns: Mapping[str, EncodedColumn], exact: Mapping[Names, Sequence[Rows]]
    ) -> _Drawing:
        parts = {names: _Attributes.of(plan, names, columns, rows) for names, rows in exact.items()}
        return cls(plan.names, parts, plan.redraw)

    def drawn(self, units: Sequence[_Unit], key: bytes) -> list[Look]:
        """What groups show if their rows are those of the units; some groups at a time."""
        drawn: list[Look] = []
        start = words = 0
        for end, unit in enumerate(units, 1):
            words += unit.size * len(self.names)
            if words >= _WORDS_AT_ONCE or end == len(units):
                drawn += self._drawn_at_once(units[start:end], key)
                start, words = end, 0
        return drawn

    def _drawn_at_once(self, units: Sequence[_Unit], key: bytes) -> list[Look]:
        stream = bytearray()
        for unit in units:
            seed = hmac.digest(key, self._message(unit), "sha256")
            stream += hashlib.shake_256(seed).digest(8 * unit.size * len(self.names))
        words = np.frombuffer(stream, ">u8").astype(np.uint64).reshape(-1, len(self.names))
        group = np.repeat(np.arange(len(units)), [unit.size for unit in units])
        drawn: list[list[Rows]] = [[None] * len(self.parts) for _ in units]
        for at, part in enumerate(self.parts.values()):
            shown = [number for number, unit in enumerate(units) if unit.rows[at] is not None]
            if not shown:
                continue
            some = words[np.isin(group, shown), part.first]
            new = part.drawn([units[number] for number in shown], at, some, self.redraw)
            for number, rows in zip(shown, new, strict=True):
                drawn[number][at] = rows
        return [tuple(look) for look in drawn]

    def _message(self, unit: _Unit) -> bytes:
        """What exact counts would show, attribute by attribute."""
        texts: dict[str, bytes] = {}
        for (names, part), rows in zip(self.parts.items(), unit.rows, strict=True):
            texts |= zip(names, part.texts(rows, unit.size), strict=True)
        return b"".join(texts[name] for name in self.names)
