"""Limits of a release: a most allowed level of a hierarchy, values that stay apart, and rows that may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError, option_name
from incrowd.methods.judging import Judge
from incrowd.methods.method import Method, Population
from incrowd.methods.release_forms import (
    combinations_shown,
    persons_of_groups,
    persons_shown,
    without_combinations,
)
from incrowd.plan.steps import DROPPED, Place, Reasons, Recode, Show, Step
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy
from incrowd.vocabulary.preferences import APART, AT_MOST, LOSE, Preferences, rows_to_lose, set_of
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Interval
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, Requirement, Together
from incrowd.vocabulary.schema import Column


# How coarse an attribute may be shown. Limits are groups of a hierarchy: the coarsest that may be shown, one above each
# leaf. Where values are to stay apart and there is no hierarchy, one is made: below the sets, halves of their values.
@dataclass(frozen=True, eq=False)
class Limit:
    """The hierarchy of an attribute, the coarsest of its groups that may be shown, and whether it was made for that.

    The groups of a hierarchy that was made have no names: they are shown as sets of values.
    """

    hierarchy: Hierarchy
    coarsest: tuple[int, ...]
    made: bool = False


def limit_of(column: EncodedColumn, known: Column, preferences: Preferences) -> Limit | None:
    """The limit of an attribute; None if there is none."""
    sets = preferences.apart.get(known.name)
    if isinstance(sets, tuple):
        values = set(column.dictionary.to_list())
        if unknown := sum(value not in values for members in sets for value in members):
            raise ParameterError(
                f"{option_name(*APART)}: {unknown} of the values that are listed for {known.name!r} "
                f"{'does' if unknown == 1 else 'do'} not occur in the table. Check how they are written."
            )
    if sets is not None and len({set_of(sets, value) for value in map(str, column.dictionary.to_list())}) < 2:
        raise ParameterError(
            f"{option_name(*APART)}: all values of {known.name!r} are in one set, which tells as little as a hidden "
            "cell. Part them."
        )
    own = sets is not None and known.hierarchy is None
    tree = _halves(column, sets) if own else known.hierarchy
    coarsest = preferences.coarsest(replace(known, hierarchy=tree))
    return None if tree is None or coarsest is None else Limit(tree, coarsest, own)


def _halves(column: EncodedColumn, sets: Any) -> Hierarchy:
    """A hierarchy of the values: the sets below the root, each parted in two again and again, in its order."""
    by_set: dict[Any, list[str]] = {}
    for value in column.dictionary.to_list():
        by_set.setdefault(set_of(sets, value), []).append(value)
    labels, parents, taken = [ROOT], [-1], set(column.dictionary.to_list())
    waiting = [(values, 0) for values in by_set.values()]
    while waiting:
        values, parent = waiting.pop()
        label = values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}, {len(values)} values"
        while len(values) > 1 and label in taken:
            label += "'"
        taken.add(label)
        labels.append(label)
        parents.append(parent)
        if len(values) > 1:
            middle = len(values) // 2
            waiting += [(half, len(labels) - 1) for half in (values[:middle], values[middle:])]
    return Hierarchy(column.name, tuple(labels), tuple(parents))


# Whether rows can stay together in large enough groups if some attributes may not be coarser than their limit. Rows
# that differ there may never look alike. What they show of all limited attributes at their coarsest parts the table
# into groups; any release that keeps the limits parts it further, and a union of groups that keep a requirement keeps
# it. So there is such a release if, and only if, these groups keep the requirement. Where a person may have several
# rows, that is so for k; beyond k parts might keep what these groups do not, and are not looked for.
def check_limits(population: Population, judge: Judge, sets: Sequence[KnownSet], preferences: Preferences) -> None:
    """Raise unless the requirement can be kept with every limited attribute at its coarsest."""
    schema, table = population.schema, population.sample()
    limits = {name: limit_of(table[name], schema[name], preferences) for name in schema.quasi_identifiers}
    for known in sets:
        names = [name for name in known.names if limits[name] is not None]
        if not names:
            continue
        held = population.combinations(names)
        shown = [_coarsest(table[name], limits[name])[held.codes[:, at]] for at, name in enumerate(names)]
        _, group = np.unique(np.stack(shown, axis=1), axis=0, return_inverse=True)
        group = group.ravel()
        rows = sizes = np.bincount(group, held.sizes).astype(np.int64)
        if judge.persons:
            from incrowd.methods.person_records import PersonRecords

            entries = PersonRecords.of(judge, population, names)
            sizes = entries.sizes(group, len(rows))
            allowed = (sizes >= known.k) & entries.holds(group, len(rows))
        else:
            allowed = sizes >= known.k
            if not judge.by_size:
                allowed &= judge.records(population, names).holds(np.arange(len(held.codes)), group, sizes)
        if not allowed.all():
            raise RequirementError(cannot_keep(preferences, names, int((~allowed).sum()), int(rows[~allowed].sum())))


def _coarsest(column: EncodedColumn, limit: Limit | None) -> npt.NDArray[np.int64]:
    """For each code the group of the hierarchy that it may show at most; the missing one has its own."""
    assert limit is not None
    above = np.full(len(limit.hierarchy.leaves) + 1, -1, np.int64)
    for node in limit.coarsest:
        below = limit.hierarchy.leaves_below(node)
        above[below.start : below.stop] = node
    return above[limit.hierarchy.encode(column)]


def cannot_keep(preferences: Preferences, names: Sequence[str], groups: int, rows: int) -> str:
    """The sentence for limits that are too tight for what is required."""
    levels = [f"{name}={preferences.at_most[name]}" for name in names if name in preferences.at_most]
    apart = [name for name in names if name in preferences.apart]
    limits = [f"{option_name(*AT_MOST)} {', '.join(levels)}"] * bool(levels)
    limits += [f"{option_name(*APART)} of {', '.join(map(repr, apart))}"] * bool(apart)
    several = groups != 1
    return (
        f"What is required cannot be kept with {' and '.join(limits)}: {groups:,} group{'s' * several} "
        f"({rows:,} rows) that may not be made coarser {'are' if several else 'is'} too small, or not mixed enough. "
        f"{'Raise a level' if levels else 'Join sets'}, lower k, or let more rows be left out ({option_name(*LOSE)})."
    )


# Rows that may be left out. A method is asked for smaller groups than k, and the groups that are then smaller than k
# are left out, if their rows are within the limit: the others are at least k, and the finer for it.
@dataclass(frozen=True, eq=False)
class _Attempt:
    """What a method decides, its small groups left out; how many rows that are; and how many a row looks like.

    Groups are small below k rows, or below rows of k persons, and a row looks like so many rows, or persons.
    """

    steps: tuple[Step, ...]
    lost: int
    alike: float


def decide_within(
    method: Method, population: Population, requirement: Requirement, randomness: Randomness, preferences: Preferences
) -> tuple[Step, ...]:
    """What the method decides; with rows left out, within the limit, where that keeps more of the others.

    More is kept the fewer rows a released row looks like, on average (the discernibility metric of Bayardo and Agrawal,
    2005, over the rows that are left).
    """
    if preferences.lose is None:
        return method.decide(population, requirement, randomness, preferences)
    allowed = rows_to_lose(preferences.lose, population.rows)
    k = requirement.smallest_group
    tried: list[_Attempt] = []
    too_tight: list[RequirementError] = []

    def fits(size: int) -> bool:
        """Whether what is left out is within the limit if groups may at first be as small as this."""
        try:
            smaller = _of_size(requirement, size)
            steps = method.decide(population, smaller, randomness, replace(preferences, promised=k))
        except RequirementError as error:
            too_tight.append(error)
            return False
        trial = _without_small(steps, population, k)
        tried.extend([] if trial is None else [trial])
        return trial is not None and trial.lost <= allowed

    fits(k)
    smallest, largest = 1, k - 1
    while allowed and smallest <= largest:
        middle = (smallest + largest) // 2
        smallest, largest = (smallest, middle - 1) if fits(middle) else (middle + 1, largest)
    within = [trial for trial in tried if trial.lost <= allowed]
    if within:
        return min(within, key=lambda trial: (trial.alike, trial.lost)).steps
    if too_tight:
        raise too_tight[0]
    raise RequirementError(_too_many(method.name, min(trial.lost for trial in tried), allowed))


def _of_size(requirement: Requirement, k: int) -> Requirement:
    """The requirement with a smaller k; what groups must keep beside their size, they keep by themselves."""
    further = requirement.parts[1:]
    return Together((KAnonymity(k), *further)) if further else KAnonymity(k)


def _too_many(method: str, lost: int, allowed: int) -> str:
    return (
        f"{method} leaves out {lost:,} rows of this table, and {option_name(*LOSE)} allows {allowed:,}. Allow more, or "
        "choose a method that leaves none out by itself."
    )


def _without_small(steps: tuple[Step, ...], population: Population, k: int) -> _Attempt | None:
    """The steps, all groups smaller than k left out; None if that leaves a public interval of numbers without rows."""
    show = next((step for step in steps if isinstance(step, Show)), None)
    if show is None:
        names, seen = population.schema.quasi_identifiers, combinations_shown(steps, population)
        sizes, rows = persons_shown(steps, population, seen), seen.sizes
        before = _rows_of_intervals(steps)
        steps = without_combinations(steps, names, seen, sizes < k, drop=True)
        if any(had and not left for had, left in zip(before, _rows_of_intervals(steps), strict=True)):
            return None
    else:
        sizes, rows = persons_of_groups(steps, show, population), np.array([group.rows for group in show.groups])
        steps = _without_groups(steps, show, np.flatnonzero(sizes >= k).tolist())
    sizes, rows = sizes[sizes >= k], rows[sizes >= k]
    lost, alike = population.rows - int(rows.sum()), int((rows * sizes).sum())
    return _Attempt(_with_loss(steps, lost), lost, alike / max(1, int(rows.sum())))


def _rows_of_intervals(steps: Sequence[Step]) -> list[int]:
    """The rows of each interval of numbers that is the same for all rows: the certificate says where they end."""
    parts = [part for step in steps if isinstance(step, Recode) for column in step.columns for part in column.parts]
    return [part.rows for part in parts if isinstance(part.members, Interval)]


def _without_groups(steps: tuple[Step, ...], show: Show, kept: Sequence[int]) -> tuple[Step, ...]:
    """The steps, only some of the groups kept; the last placing leaves the rows of the others out."""
    place = [step for step in steps if isinstance(step, Place)][-1]
    number = {group: new for new, group in enumerate(kept)}
    shares = tuple(replace(share, group=number.get(share.group, DROPPED)) for share in place.shares)
    changed: dict[int, Step] = {
        id(place): replace(place, shares=shares),
        id(show): replace(show, groups=tuple(show.groups[group] for group in kept)),
    }
    return tuple(changed.get(id(step), step) for step in steps)


def _with_loss(steps: tuple[Step, ...], lost: int) -> tuple[Step, ...]:
    """The steps, their reasons with one more fact: what they say of groups is from before rows were left out."""
    fact = ("rows left out in the end, of groups smaller than k", lost)
    return tuple(replace(s, facts=(*s.facts, fact)) if isinstance(s, Reasons) and lost else s for s in steps)
