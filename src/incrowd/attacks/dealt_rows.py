"""What rows can be put together from counts: by dealing them out, and for certain.

Decoded rows: rows that are dealt from a release are somebody's after all. What: the attacker decodes the release once,
as recipients do: counted values are dealt over the rows of their class at random, any other cell becomes one of the
values it covers. He takes the rows for real ones. Paper: Giomi and others (Anonymeter), PoPETs 2023, whose attack on
synthetic rows this is; Stadler, Oprisanu, Troncoso: Synthetic Data - Anonymisation Groundhog Day, USENIX Security 2022.
Measured: of the members whose quasi-identifiers, or their bins, nobody else among members and control has, the share
that a decoded row equals, minus the same share of the control. Columns of which the release shows nothing are left
out. Control: people who are not in the release. Leak: the lower end of the interval is above 0.005, half a point.

Reconstruction from counts: rows that must be there, whoever was there. What: the attacker has the counts of a class,
attribute by attribute, the class column among them, and asks which combinations of values every table with these
counts has, and how often: the integer programme that minimises the rows with a combination. Where counts are of single
attributes its optimum is known. Of n rows, c1 to cd with the values of the combination, at least n - (n - c1) - ... -
(n - cd) have them all, if that is positive; and a table that has no more is had by giving the other values to different
rows. So all combinations that are certain are found exactly, by a search that goes no further where the bound is
spent. Paper: Frechet's bounds; Dobra, Fienberg: Bounds for cell entries in contingency tables, PNAS 2000; Dick and
others: Confidence-ranked reconstruction of census microdata, PNAS 2023. Measured: the share of rows that are certain.
Control: the share that the counts state by themselves, in classes where at most one attribute varies. Leak: a row is
certain beyond these. What is certain must be true of the original; if it is not, counts are not exact, and nothing is
certain. In the details, the rows that are singled out for certain (Cohen, Nissim: Towards Formalizing the GDPR's Notion
of Singling Out, PNAS 2020): all of a class have some values, one row has another, and no other class can have them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, difference_interval, share_interval
from incrowd.attacks.membership import HALF_A_POINT
from incrowd.attacks.scene import SMALLEST, Scene
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.released_cell import Bools, Ints

_HIDDEN = -1


def decoded_rows(scene: Scene) -> Finding:
    """Decodes a release and looks for people whom nobody else is like."""
    split = scene.split
    released = split.released
    places = [place for place in range(len(released.boxes.names)) if released.tells(place)]
    if not places:
        raise CannotRunError("The release shows nothing of any quasi-identifier.")
    dealt = deal(released, places, scene.generator("deal"))
    rows = {tuple(row) for row in dealt[(dealt != _HIDDEN).all(axis=1)].tolist()}
    both = [_records(released, people, places) for people in (split.members, split.others)]
    known = Counter(record for records in both for record in records)
    alone = [[record for record in records if known[record] == 1] for records in both]
    if min(map(len, alone)) < SMALLEST:
        raise CannotRunError(f"Fewer than {SMALLEST} people of members or control are alone by what the release shows.")
    (met, ours), (by_chance, theirs) = ((sum(one in rows for one in records), len(records)) for records in alone)
    interval = difference_interval((met, ours), (by_chance, theirs))
    return Finding(
        LEAK if interval[0] > HALF_A_POINT else NO_LEAK,
        f"One deal has {100 * met / ours:.1f} % of {ours:,} members whom nobody is like, and "
        f"{100 * by_chance / theirs:.1f} % of {theirs:,} such control rows. Measured on {split.how}.",
        measured=met / ours - by_chance / theirs,
        control=0.0,
        interval=interval,
        goal=HALF_A_POINT,
        unit="difference of shares",
        details={"members among decoded rows": met / ours, "control among decoded rows": by_chance / theirs},
    )


def deal(released: Released, places: Sequence[int], generator: np.random.Generator) -> Ints:
    """Rows as a recipient decodes them, a column for each place: units of codes; what is hidden is -1."""
    rows = np.full((len(released.classes), len(places)), _HIDDEN, np.int64)
    for number, members in enumerate(_members(released)):
        for at, place in enumerate(places):
            name = released.boxes.names[place]
            cell = released.boxes.cells[name][released.boxes.shown[number, place]]
            if cell.shares is None:
                codes = np.flatnonzero(cell.covers)
                if not cell.covers[:-1].all():
                    rows[members, at] = released.units[name][generator.choice(codes, len(members))]
                continue
            units, counts = _counts(released, name, number)
            rows[members, at] = generator.permutation(np.repeat(units, counts))
    return rows


def _members(released: Released) -> list[Ints]:
    """The rows of each class."""
    order = np.argsort(released.classes, kind="stable")
    return np.split(order, np.cumsum(released.sizes)[:-1])


def _counts(released: Released, name: str, number: int) -> tuple[Ints, Ints]:
    """The units that a class counts in a quasi-identifier, and the rows of each."""
    place = released.boxes.names.index(name)
    cell = released.boxes.cells[name][released.boxes.shown[number, place]]
    assert cell.shares is not None
    units, first = np.unique(released.units[name], return_index=True)
    counts = np.rint(cell.shares[first] * released.sizes[number]).astype(np.int64)
    return units[counts > 0], counts[counts > 0]


def _records(released: Released, people: EncodedTable, places: Sequence[int]) -> list[tuple[int, ...]]:
    names = [released.boxes.names[place] for place in places]
    columns = [released.units[name][people[name].codes] for name in names]
    return [tuple(row) for row in np.stack(columns, axis=1).tolist()]


Record = tuple[tuple[str, int], ...]  # attributes with their values, as units of codes


@dataclass(frozen=True)
class Certain:
    """A combination of values that every table with the counts of a class has, and how often at least."""

    record: Record
    least: int


def reconstruction_from_counts(scene: Scene) -> Finding:
    """Finds the rows that follow from counts."""
    released = scene.released
    if not released.counted:
        raise CannotRunError("The release shows no counts.")
    covers = {name: released.boxes.covers(place) for place, name in enumerate(released.boxes.names)}
    target = scene.schema.target
    if target is not None and target in released.values:
        covers[target] = released.histogram(target) > 0
    certain: list[Certain] = []
    stated = alone = 0
    for number, size in enumerate(released.sizes.tolist()):
        attributes = _attributes(released, number, target)
        stated += size if sum(len(counts) > 1 for counts in attributes.values()) < 2 else 0
        alone += _singled_out(attributes, covers)
        certain += certain_rows(attributes, size)
    rows, proved = len(released.classes), sum(one.least for one in certain)
    wrong = proved - _true(scene, certain)
    count, control, alone = (0, 0, 0) if wrong else (proved, stated, alone)
    words = f"{count:,} of {rows:,} rows are certain; the counts of {control:,} of them state it by themselves."
    if wrong:
        words = f"Counts are not exact: of {proved:,} rows that would be certain, {wrong:,} are not in the original."
    return Finding(
        LEAK if count > control else NO_LEAK,
        words,
        measured=count / rows,
        control=control / rows,
        interval=share_interval(count, rows),
        goal=control / rows,
        unit="share of rows",
        details={"singled out for certain": alone / rows, "would be certain": proved / rows},
    )


def _attributes(released: Released, number: int, target: str | None) -> dict[str, dict[int, int]]:
    """For each attribute that a class shows, and the class column, the rows of each unit."""
    attributes: dict[str, dict[int, int]] = {}
    for place, name in enumerate(released.boxes.names):
        cell = released.boxes.cells[name][released.boxes.shown[number, place]]
        if cell.shares is not None:
            units, counts = _counts(released, name, number)
            attributes[name] = dict(zip(units.tolist(), counts.tolist(), strict=True))
        elif cell.covers.sum() == 1:
            attributes[name] = {int(cell.covers.argmax()): int(released.sizes[number])}
    if target is not None and target in released.values:
        attributes[target] = dict(Counter(released.values[target][released.classes == number].tolist()))
    return attributes


def certain_rows(attributes: Mapping[str, Mapping[int, int]], rows: int) -> Iterator[Certain]:
    """The combinations that every table of so many rows with these counts has.

    Examples
    --------
    >>> [one.least for one in certain_rows({"job": {1: 9, 2: 1}, "town": {1: 8, 2: 2}}, 10)]
    [1, 7]
    """
    names = sorted(attributes, key=lambda name: -len(attributes[name]))
    fewest = [rows - max(attributes[name].values(), default=0) for name in names]
    spare = [sum(fewest[place:]) for place in range(len(names) + 1)]  # what the rest takes at least
    waiting: list[Certain] = [Certain((), rows)] if names else []
    while waiting:
        one = waiting.pop()
        record, least = one.record, one.least
        if len(record) == len(names):
            yield one
            continue
        name = names[len(record)]
        for unit, count in attributes[name].items():
            left = least - (rows - count)
            if left - spare[len(record) + 1] > 0:
                waiting.append(Certain((*record, (name, unit)), left))


def _true(scene: Scene, certain: Sequence[Certain]) -> int:
    """How many of the rows that would be certain are in the original."""
    claims: dict[tuple[str, ...], Counter[tuple[int, ...]]] = {}
    for one in certain:
        names = tuple(sorted(name for name, _ in one.record))
        units = dict(one.record)
        claims.setdefault(names, Counter())[tuple(units[name] for name in names)] += one.least
    right = 0
    for names, records in claims.items():
        columns = [_of_original(scene, name) for name in names]
        own = Counter(map(tuple, np.stack(columns, axis=1).tolist()))
        right += sum(min(rows, own[record]) for record, rows in records.items())
    return right


def _of_original(scene: Scene, name: str) -> Ints:
    codes = scene.table[name].codes.astype(np.int64)
    units = scene.released.units.get(name)
    return codes if units is None else units[codes]


def _singled_out(attributes: Mapping[str, Mapping[int, int]], covers: Mapping[str, Bools]) -> int:
    """How many rows of a class have a value of their own beside what all have, if no other class can have these."""
    common = [covers[name][:, unit] for name, counts in attributes.items() if len(counts) == 1 for unit in counts]
    fitting = np.logical_and.reduce(common) if common else np.True_
    alone = [
        sum(int(np.count_nonzero(fitting & covers[name][:, unit])) == 1 for unit, rows in counts.items() if rows == 1)
        for name, counts in attributes.items()
    ]
    return max(alone, default=0)  # those of two attributes may be the same rows
