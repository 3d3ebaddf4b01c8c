"""Who is in the table, and with which rows.

People of the release beside control rows, by boxes, by a model that learned from it and by likelihood; and rows that
can be put together from counts, by dealing them out, and for certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.attacks.attack import (
    LEAK,
    NO_LEAK,
    Finding,
    Floats,
    Interval,
    area,
    area_interval,
    difference_interval,
    share_interval,
)
from incrowd.attacks.scene import SMALLEST, Scene
from incrowd.comparisons.protocol import seed_of
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Guesses, Released, guess_from_original, guess_from_release
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.released_cell import Bools, Ints

HALF_A_POINT = 0.005
_AT_ONCE = 512  # people at a time, each with a number for every class


def membership_by_box(scene: Scene) -> Finding:
    """Membership by box: who lies in no box of the release is not in the table; who lies in one, rather is.

    What: the attacker looks whether a person's quasi-identifiers fit some class. Paper: the presence attack of Nergiz,
    Atzori, Clifton: Hiding the Presence of Individuals, SIGMOD 2007, measured as a membership test (Shokri, Stronati,
    Song, Shmatikov, S&P 2017). Measured: the share of members who lie in some box, minus that of control rows. Control:
    rows that are not in the release. Leak: the lower end of the interval is above 0.005, half a point.
    """
    split = scene.split
    boxes = split.released.boxes
    members, others = int(boxes.inside(split.members).sum()), int(boxes.inside(split.others).sum())
    rates = members / split.members.height, others / split.others.height
    interval = difference_interval((members, split.members.height), (others, split.others.height))
    return Finding(
        LEAK if interval[0] > HALF_A_POINT else NO_LEAK,
        f"{100 * rates[0]:.1f} % of members and {100 * rates[1]:.1f} % of control rows lie in a box. "
        f"Measured on {split.how}.",
        measured=rates[0] - rates[1],
        control=0.0,
        interval=interval,
        goal=HALF_A_POINT,
        unit="difference of shares",
        details={"members in a box": rates[0], "control in a box": rates[1]},
    )


def _guessed(scene: Scene, column: str) -> tuple[tuple[Guesses, Guesses], tuple[Guesses, Guesses]]:
    """What the release says of members and of others, and what the members as they are would."""
    split, state = scene.split, seed_of(scene.seed, "forest") % 2**31
    people = split.members, split.others
    names = split.released.boxes.names
    released = guess_from_release(split.released, *people, column, state)
    return released, guess_from_original(names, *people, column, state)


SURE, FALSE_ALARMS = 0.51, 0.001


def model_membership(scene: Scene) -> Finding:
    """Model membership: does a model that learned from the release know who was in it?

    What: the attacker has a model trained on the release and takes people it is sure of for members. Paper: Yeom,
    Giacomelli, Fredrikson, Jha: Privacy Risk in Machine Learning, CSF 2018; Carlini and others: Membership Inference
    Attacks From First Principles, S&P 2022 (the hit rate at few false alarms). Measured: the area under the ROC curve
    (AUC) of the chance a forest gives a person's true class; in the details the share of members found at 0.1 % false
    alarms. Control: rows that are not in the release; an AUC of 0.5 is chance. Leak: the lower end of the interval is
    above 0.51.
    """
    split, column = scene.split, scene.guessed
    (members, others), original = _guessed(scene, column)
    measured = area(members.chances, others.chances)
    interval = area_interval(measured, len(members.chances), len(others.chances))
    raw = area(*(one.chances for one in original))
    return Finding(
        LEAK if interval[0] > SURE else NO_LEAK,
        f"A forest on {column!r}, asked about members and control rows. Measured on {split.how}.",
        measured=measured,
        control=0.5,
        interval=interval,
        goal=SURE,
        unit="AUC",
        details={"AUC without protection": raw, "hits at 0.1 % false alarms": hits(members.chances, others.chances)},
    )


def hits(members: Floats, others: Floats, alarms: float = FALSE_ALARMS) -> float:
    """Share of members who score above a limit that at most that share of the others reaches."""
    ordered = np.sort(others)[::-1]
    limit = ordered[min(int(alarms * len(ordered)), len(ordered) - 1)]
    return float(np.mean(members > limit))


SHADOW_GOALS = {1: 0.55, 100: 0.52}  # from so large a k on: with larger groups less is left to tell
PEOPLE = 10_000  # of whom so many are asked about: enough for a tenth of a per cent


def shadow_likelihood(scene: Scene) -> Finding:
    """Shadow likelihood: is a person likelier by this release than by one of other people from the same source?

    What: the attacker knows quasi-identifiers and class of a person. How likely these are he reckons from the release:
    over all classes their size times the shares of the values in them, attributes being taken to have nothing to do
    with each other within a class, what a cell covers shared out as in the whole table, and one row of the whole table
    added to each class. He divides by what a release of other people, his shadow, says. Paper: Homer and others:
    Resolving Individuals Contributing Trace Amounts of DNA, PLoS Genetics 2008; Sankararaman, Obozinski, Jordan,
    Halperin, Nature Genetics 2009 (the likelihood ratio is the best test); Carlini and others, S&P 2022. Measured: the
    AUC of the ratio; in the details the share of members at few false alarms. Control: people in neither release; 0.5
    is chance. Leak: the lower end of the interval is above 0.55, from k = 100 on above 0.52.
    """
    released, shadow, members, others, how = _shadowed(scene)
    frequencies = {name: np.asarray(column.counts + 0.5, np.float64) for name, column in scene.table.columns.items()}
    ours, theirs = (
        np.subtract(*(_log_likelihood(each, people, scene.schema.target, frequencies) for each in (released, shadow)))
        for people in (members, others)
    )
    measured = area(ours, theirs)
    interval = area_interval(measured, len(ours), len(theirs))
    goal = next(most for k, most in reversed(SHADOW_GOALS.items()) if (scene.promised.k or 1) >= k)
    return Finding(
        LEAK if interval[0] > goal else NO_LEAK,
        f"{len(ours):,} members and {len(theirs):,} control rows, by the ratio of two likelihoods. Measured on {how}.",
        measured=measured,
        control=0.5,
        interval=interval,
        goal=goal,
        unit="AUC",
        details={f"hits at {100 * few:g} % false alarms": hits(ours, theirs, few) for few in (FALSE_ALARMS, 0.01)},
    )


def _shadowed(scene: Scene) -> tuple[Released, Released, EncodedTable, EncodedTable, str]:
    """A release, its shadow, members of the release, and people who are in neither; each in random order."""
    if scene.control is not None and scene.owners is None:
        order = scene.generator("shadow").permutation(scene.control.height).astype(np.intp)
        half = len(order) // 2
        if min(half, scene.table.height) < SMALLEST:
            raise CannotRunError(f"At least {2 * SMALLEST} control rows are needed: half are released as the shadow.")
        shadow = scene.read(scene.made_of(scene.control.take(order[:half]), "shadow"))
        some, how = scene.dealt("members"), "this release; half of the control rows are released as its shadow"
        return scene.released, shadow, scene.table.take(some[:PEOPLE]), scene.control.take(order[half:][:PEOPLE]), how
    order = scene.dealt("thirds")
    third = len(order) // 3
    if third < SMALLEST:
        raise CannotRunError(f"A third of the original is fewer than {SMALLEST} rows: too few for a control group.")
    first, second = scene.cut(order, third), scene.cut(order, 2 * third)
    released, shadow = (
        scene.read(scene.made(rows, what)) for rows, what in ((order[:first], "third"), (order[first:second], "shadow"))
    )
    how = "releases of two thirds of the original, made for this attack; the last third is the control"
    members, others = (scene.table.take(rows[:PEOPLE]) for rows in (order[:first], order[second:]))
    return released, shadow, members, others, how


def _log_likelihood(
    released: Released, people: EncodedTable, target: str | None, frequencies: Mapping[str, Floats]
) -> Floats:
    """The logarithm of how likely each person is by a release, the class included."""
    sizes = released.sizes.astype(np.float32)[:, None]
    names, tables = list(released.boxes.names), []
    for place, name in enumerate(names):
        whole, units = frequencies[name].astype(np.float32), released.units[name]
        inside = np.bincount(units, whole, len(units))[units].astype(np.float32)  # how frequent the bin of a code is
        shares, spread = released.shares(place), whole / inside
        plain = np.array([cell.shares is None for cell in released.boxes.cells[name]])[released.boxes.shown[:, place]]
        shares = shares * np.where(plain[:, None], whole, spread)
        shares[plain] /= shares[plain].sum(axis=1, keepdims=True)
        tables.append(np.log((sizes * shares + whole / whole.sum()) / (sizes + 1)).T)
    if target is not None and target in released.values:
        names.append(target)
        whole = frequencies[target].astype(np.float32)
        tables.append(np.log((released.histogram(target) + whole / whole.sum()) / (sizes + 1)).T)
    likely = []
    for start in range(0, people.height, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        logs = np.log(sizes[:, 0] / sizes.sum()) + sum(
            each[people[name].codes[rows]] for name, each in zip(names, tables, strict=True)
        )
        most = logs.max(axis=1)
        likely.append(most + np.log(np.exp(logs - most[:, None]).sum(axis=1)))
    return np.concatenate(likely).astype(np.float64)


ADVANTAGE, STRICTER = 0.08, 0.03


def attribute_inference(scene: Scene) -> Finding:
    """Attribute inference: is a person's sensitive value guessed better because the person is in the table?

    What: the attacker trains a forest on the release and guesses the sensitive value of people he knows. Paper: Giomi,
    Boenisch, Wehmeyer, Tasnadi: A Unified Framework for Quantifying Privacy Risk in Synthetic Data (Anonymeter), PoPETs
    2023, and its correction by a control group. Measured: (members - control) / (1 - control), of the shares guessed
    right, of the worst sensitive column: what is learned from science at large, and would be guessed of anybody, is
    taken off. Control: rows that are not in the release. Leak: the lower end of the interval is above 0.08; above 0.03,
    if l-diversity or t-closeness was promised.
    """
    split, promised = scene.split, scene.promised
    by_column = {}
    for column in scene.secrets:
        members, others = _guessed(scene, column)[0]
        by_column[column] = (*advantage(members.count, others.count), members.count, others.count)
    worst = max(by_column, key=lambda column: by_column[column][0])
    measured, interval, ours, theirs = by_column[worst]
    raw = advantage(*(one.count for one in _guessed(scene, worst)[1]))[0]
    goal = STRICTER if worst in {**promised.diversity, **promised.closeness} else ADVANTAGE
    return Finding(
        LEAK if interval[0] > goal else NO_LEAK,
        f"{worst!r} is guessed right for {100 * ours[0] / ours[1]:.1f} % of members and "
        f"{100 * theirs[0] / theirs[1]:.1f} % of control rows. Measured on {split.how}.",
        measured=measured,
        control=0.0,
        interval=interval,
        goal=goal,
        unit="advantage",
        details={
            "members guessed right": ours[0] / ours[1],
            "control guessed right": theirs[0] / theirs[1],
            "advantage without protection": raw,
            **{f"advantage for {column}": one[0] for column, one in by_column.items()},
        },
    )


def advantage(members: tuple[int, int], others: tuple[int, int]) -> tuple[float, Interval]:
    """(members - control) / (1 - control), with its interval."""
    control = others[0] / others[1]
    room = max(1 - control, 1e-9)
    low, high = difference_interval(members, others)
    return (members[0] / members[1] - control) / room, (max(-1.0, low / room), min(1.0, high / room))


_HIDDEN = -1


def decoded_rows(scene: Scene) -> Finding:
    """Decoded rows: rows that are dealt from a release are somebody's after all.

    What: the attacker decodes the release once, as recipients do: counted values are dealt over the rows of their class
    at random, any other cell becomes one of the values it covers. He takes the rows for real ones. Paper: Giomi and
    others (Anonymeter), PoPETs 2023, whose attack on synthetic rows this is; Stadler, Oprisanu, Troncoso: Synthetic
    Data - Anonymisation Groundhog Day, USENIX Security 2022. Measured: of the members whose quasi-identifiers, or their
    bins, nobody else among members and control has, the share that a decoded row equals, minus the same share of the
    control. Columns of which the release shows nothing are left out. Control: people who are not in the release. Leak:
    the lower end of the interval is above 0.005, half a point.
    """
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
    order = np.argsort(released.classes, kind="stable")
    for number, members in enumerate(np.split(order, np.cumsum(released.sizes)[:-1])):
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
    """Reconstruction from counts: rows that must be there, whoever was there.

    What: the attacker has the counts of a class, attribute by attribute, the class column among them, and asks which
    combinations of values every table with these counts has, and how often: the integer programme that minimises the
    rows with a combination. Where counts are of single attributes its optimum is known. Of n rows, c1 to cd with the
    values of the combination, at least n - (n - c1) - ... - (n - cd) have them all, if that is positive; and a table
    that has no more is had by giving the other values to different rows. So all combinations that are certain are found
    exactly, by a search that goes no further where the bound is spent. Paper: Frechet's bounds; Dobra, Fienberg: Bounds
    for cell entries in contingency tables, PNAS 2000; Dick and others: Confidence-ranked reconstruction of census
    microdata, PNAS 2023. Measured: the share of rows that are certain. Control: the share that the counts state by
    themselves, in classes where at most one attribute varies. Leak: a row is certain beyond these. What is certain must
    be true of the original; if it is not, counts are not exact, and nothing is certain. In the details, the rows that
    are singled out for certain (Cohen, Nissim: Towards Formalizing the GDPR's Notion of Singling Out, PNAS 2020): all
    of a class have some values, one row has another, and no other class can have them all.
    """
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
    right, binned = 0, scene.released.units
    for names, records in claims.items():
        codes = {name: scene.table[name].codes.astype(np.int64) for name in names}
        columns = [binned[name][mine] if name in binned else mine for name, mine in codes.items()]
        own = Counter(map(tuple, np.stack(columns, axis=1).tolist()))
        right += sum(min(rows, own[record]) for record, rows in records.items())
    return right


def _singled_out(attributes: Mapping[str, Mapping[int, int]], covers: Mapping[str, Bools]) -> int:
    """How many rows of a class have a value of their own beside what all have, if no other class can have these."""
    common = [covers[name][:, unit] for name, counts in attributes.items() if len(counts) == 1 for unit in counts]
    fitting = np.logical_and.reduce(common) if common else np.True_
    alone = [
        sum(int(np.count_nonzero(fitting & covers[name][:, unit])) == 1 for unit, rows in counts.items() if rows == 1)
        for name, counts in attributes.items()
    ]
    return max(alone, default=0)  # those of two attributes may be the same rows
