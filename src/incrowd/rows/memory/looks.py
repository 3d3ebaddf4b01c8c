"""What the groups of a release of counts look like: no two alike, their counts exact or drawn by a key.

Drawn counts. A group of n rows shows, of each attribute, n draws. Each takes one of n + r rows, all equally likely: a
row of the group, or one of r rows (``redraw``, 2) that may have any value of the release, in its shares. What fixes the
draws is a secret key and the group itself::

    seed   HMAC-SHA-256(key, the texts that the group would show were its counts exact)
    words  SHAKE-256(seed), 64 bits each, big-endian; draw i of attribute a of A takes the word i * A + a
    draw   word mod (n + r), if below n, is the row of the group, in the order of its values;
           else (word div (n + r)) mod M is the value, in a list of M in the same order that has each value as often
           as 64ths of the rows that show the attribute have it, rounded up

So the same group is drawn alike whenever it is released with the key, and cannot be averaged; and a group that differs
in one row is drawn afresh in all of its attributes, so that the difference of two releases does not show the row. Of
shares in 64ths the row that goes seldom changes one, and then the list, which would tell of it in groups that stay.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts
from incrowd.vocabulary.counts_text import HIDDEN, encode_value, write_counts
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Counts, Form, Interval, Member, member_text
from incrowd.vocabulary.schema import ColumnType

Look = tuple[Form, ...]
Ints = npt.NDArray[np.int64]
SHARES = 64  # so many parts of the whole are told apart: enough for two rows of it, and one row in N changes few
_WORDS_AT_ONCE = 1 << 22  # 32 MB of them


def with_distinct_looks(plan: ReleasePlan) -> ReleasePlan:
    """Groups that look alike are one for the recipient: each of them shows the counts of all their rows.

    So the counts of an attribute always add up to the number of rows that carry them.
    """
    if not plan.counted or not plan.groups:
        return plan
    units = [(group.forms, [place]) for place, group in enumerate(plan.groups)]
    while len(alike := _alike(look for look, _ in units)) < len(units):
        units = [(_sum([units[u][0] for u in same]), [*chain(*(units[u][1] for u in same))]) for same in alike]
    return _shown(plan, units)


def with_drawn_looks(plan: ReleasePlan, columns: Mapping[str, EncodedColumn]) -> ReleasePlan:
    """The plan with counts that are drawn, given exact ones; groups whose draws look alike are drawn as one."""
    if (key := plan.draw_key) is None:
        raise PlanError("This plan does not keep the key that its counts were drawn by. Release the table again.")
    attributes = [_Attribute.of(plan, name, columns[name]) for name in plan.names]
    units = [(group.forms, [place]) for place, group in enumerate(plan.groups)]
    looks = _drawn([look for look, _ in units], attributes, plan.redraw, key)
    while len(alike := _alike(looks)) < len(units):
        units = [(_sum([units[u][0] for u in same]), [*chain(*(units[u][1] for u in same))]) for same in alike]
        joined = [number for number, same in enumerate(alike) if len(same) > 1]
        looks = [looks[same[0]] for same in alike]
        again = _drawn([units[number][0] for number in joined], attributes, plan.redraw, key)
        for number, look in zip(joined, again, strict=True):
            looks[number] = look
    shown = _shown(plan, [(look, places) for look, (_, places) in zip(looks, units, strict=True)])
    return replace(shown, steps=tuple(replace(s, key=None) if isinstance(s, AsCounts) else s for s in shown.steps))


def _alike(looks: Iterator[Look] | Sequence[Look]) -> list[list[int]]:
    """Which of the looks are the same."""
    alike: dict[Look, list[int]] = {}
    for number, look in enumerate(looks):
        alike.setdefault(look, []).append(number)
    return list(alike.values())


def _shown(plan: ReleasePlan, units: Sequence[tuple[Look, Sequence[int]]]) -> ReleasePlan:
    """The plan whose groups show these looks, each those of its places."""
    looks = {place: look for look, places in units for place in places}
    return plan.with_forms({name: [looks[g][i] for g in range(len(plan.groups))] for i, name in enumerate(plan.names)})


def _sum(looks: Sequence[Look]) -> Look:
    """What several groups show together, in exact counts; what one hides, all hide."""
    if len(looks) == 1:
        return looks[0]
    return tuple(
        _sum_of_counts(forms) if isinstance(forms[0], Counts) else forms[0] for forms in zip(*looks, strict=True)
    )


def _sum_of_counts(forms: Sequence[Form]) -> Counts:
    total: dict[Member, int] = {}
    for form in forms:
        assert isinstance(form, Counts)
        for member, rows in form.members or ():
            total[member] = total.get(member, 0) + rows
    return Counts(tuple(total.items()))


@dataclass(frozen=True, eq=False)
class _Attribute:
    """What is drawn of one attribute.

    ``members`` are its values and bins in the order in which draws count them: bins ascending, values by the bytes of
    their text, the missing one last; ``in_cells`` in the order of cells, where each stands at its ``rank``; ``ends``
    add up how often each is in the list of all.
    """

    type: ColumnType
    members: list[Member]
    place: dict[Member, int]
    in_cells: list[Member]
    rank: Ints
    ends: Ints

    @classmethod
    def of(cls, plan: ReleasePlan, name: str, column: EncodedColumn) -> _Attribute:
        """Counted over all groups that show the attribute."""
        total = dict(_sum_of_counts([form for form in plan.forms(name) if isinstance(form, Counts)]).members or ())
        members = sorted(total, key=_draw_order)
        place = {member: number for number, member in enumerate(members)}
        in_cells = members
        if not column.type.is_numeric:
            in_cells = [value for value in (*column.dictionary.to_list(), None) if value in total]
        rank = np.argsort([place[member] for member in in_cells])
        rows = sum(total.values())
        ends = np.cumsum([-(-SHARES * total[member] // rows) for member in members], dtype=np.int64)
        return cls(column.type, members, place, in_cells, rank, ends)

    def text(self, form: Form) -> bytes:
        """The exact counts of a group as its seed knows them: the bytes of their text, after their number."""
        text = HIDDEN
        if isinstance(form, Counts):
            counts = sorted((self.place[member], rows) for member, rows in form.members or ())
            text = write_counts((member_text(self.members[place], self.type), rows) for place, rows in counts)
        data = text.encode()
        return b"%d:%s" % (len(data), data)

    def drawn(self, exact: Sequence[Counts], words: npt.NDArray[np.uint64], sizes: Ints, redraw: int) -> list[Counts]:
        """The counts of some groups; ``words`` has one for each of their rows."""
        own = [sorted((self.place[member], rows) for member, rows in form.members or ()) for form in exact]
        places = np.array([place for each in own for place, _ in each], np.int64)
        ends = np.cumsum([rows for each in own for _, rows in each], dtype=np.int64)
        group = np.repeat(np.arange(len(sizes)), sizes)
        choices = (sizes[group] + redraw).astype(np.uint64)
        row, rest = (words % choices).astype(np.int64), words // choices
        inside = row < sizes[group]
        values = np.empty(len(words), np.int64)
        first = (np.cumsum(sizes) - sizes)[group[inside]]
        values[inside] = places[np.searchsorted(ends, first + row[inside], side="right")]
        anybody = (rest[~inside] % np.uint64(self.ends[-1])).astype(np.int64)
        values[~inside] = np.searchsorted(self.ends, anybody, side="right")
        return self._counts(group, values, len(exact))

    def _counts(self, group: Ints, values: Ints, groups: int) -> list[Counts]:
        """How often each group has which value, in the order of cells."""
        counts: list[list[tuple[Member, int]]] = [[] for _ in range(groups)]
        cells, rows = np.unique(group * len(self.members) + self.rank[values], return_counts=True)
        for cell, many in zip(cells.tolist(), rows.tolist(), strict=True):
            counts[cell // len(self.members)].append((self.in_cells[cell % len(self.members)], many))
        return [Counts(tuple(each)) for each in counts]


def _draw_order(member: Member) -> tuple[bool, float, bytes]:
    if isinstance(member, Interval):
        return False, -np.inf if member.low is None else member.low, b""
    return member is None, 0.0, b"" if member is None else encode_value(str(member)).encode()


def _drawn(looks: Sequence[Look], attributes: Sequence[_Attribute], redraw: int, key: bytes) -> list[Look]:
    """What groups show if their exact counts are those of the looks; some groups at a time."""
    drawn: list[Look] = []
    start = words = 0
    for end, look in enumerate(looks, 1):
        words += _rows(look) * len(attributes)
        if words >= _WORDS_AT_ONCE or end == len(looks):
            drawn += _drawn_at_once(looks[start:end], attributes, redraw, key)
            start, words = end, 0
    return drawn


def _drawn_at_once(looks: Sequence[Look], attributes: Sequence[_Attribute], redraw: int, key: bytes) -> list[Look]:
    sizes = np.array([_rows(look) for look in looks], np.int64)
    stream = bytearray()
    for look, rows in zip(looks, sizes.tolist(), strict=True):
        message = b"".join(one.text(form) for one, form in zip(attributes, look, strict=True))
        seed = hmac.digest(key, message, "sha256")
        stream += hashlib.shake_256(seed).digest(8 * rows * len(attributes))
    words = np.frombuffer(stream, ">u8").astype(np.uint64).reshape(-1, len(attributes))
    group = np.repeat(np.arange(len(looks)), sizes)
    drawn = [list(look) for look in looks]
    for a, one in enumerate(attributes):
        counted = [(g, form) for g, look in enumerate(looks) if isinstance(form := look[a], Counts)]
        if not counted:
            continue
        shown = np.array([g for g, _ in counted])
        new = one.drawn([form for _, form in counted], words[np.isin(group, shown), a], sizes[shown], redraw)
        for g, form in zip(shown.tolist(), new, strict=True):
            drawn[g][a] = form
    return [tuple(look) for look in drawn]


def _rows(look: Look) -> int:
    """The rows of a group; none need to be known of one that shows nothing."""
    return next((sum(rows for _, rows in form.members or ()) for form in look if isinstance(form, Counts)), 0)
