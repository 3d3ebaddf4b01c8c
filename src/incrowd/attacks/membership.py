"""Who is in the table: people of the release beside control rows, by boxes and by a model that learned from it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, Floats, Interval, area, area_interval, difference_interval
from incrowd.attacks.scene import SMALLEST, Scene
from incrowd.comparisons.protocol import seed_of
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Guesses, Released, guess_from_original, guess_from_release
from incrowd.vocabulary.encoded_table import EncodedTable

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
        details={
            "hits at 0.1 % false alarms": hits(ours, theirs),
            "hits at 1 % false alarms": hits(ours, theirs, 0.01),
        },
    )


def _shadowed(scene: Scene) -> tuple[Released, Released, EncodedTable, EncodedTable, str]:
    """A release, its shadow, members of the release, and people who are in neither; each in random order."""
    if scene.control is not None and scene.owners is None:
        order = scene.generator("shadow").permutation(scene.control.height).astype(np.intp)
        half = len(order) // 2
        if min(half, scene.table.height) < SMALLEST:
            raise CannotRunError(f"It takes {2 * SMALLEST} control rows at least: half of them are released as shadow.")
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
