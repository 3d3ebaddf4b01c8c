"""What becomes of the steps of a method before they are a plan.

Groups are shown in the form that was asked for, see :mod:`incrowd.vocabulary.forms`: every method that decides on
groups of rows can be released in each form; without a form it is released in its own. Where something is required of a
population, what too few of its people fit, or too many, is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import ParameterError
from incrowd.methods.catalog import METHODS
from incrowd.methods.judging import Judge
from incrowd.methods.method import Combinations, Method, Population, Presence, applied
from incrowd.methods.numeric import bins_of
from incrowd.plan.steps import GROUP, AsCounts, Bin, Group, Hide, Rarest, Recode, Show, Spread, Step
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, OwnedTable
from incrowd.vocabulary.forms import BY_CLASS, COUNTS, PAIR, STRICT, check_form
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import (
    Category,
    Common,
    Counts,
    Form,
    Interval,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
)
from incrowd.vocabulary.requirement import OfPopulation, Requirement
from incrowd.vocabulary.schema import Schema

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def suited(method: Method, form: str | None) -> Method:
    """The method as it suits the form; Blend makes other groups where they must be told in plain values."""
    return method.in_plain_values() if form == STRICT and hasattr(method, "in_plain_values") else method


def formed(
    steps: tuple[Step, ...],
    form: str | None,
    population: Population,
    requirement: Requirement,
    *,
    redraw: int = 0,
    key: bytes | None = None,
    bins: str = BY_CLASS,
    by_class: bool = False,
    joint: int = 0,
) -> tuple[Step, ...]:
    """The steps of a method with its groups shown in the form that was asked for.

    ``redraw``: counts are drawn by the key, from the rows of a group and so many more; 0: they are exact. ``bins``:
    where numbers are cut that are counted, whatever the method saw of them.
    ``by_class``: groups are parted by class first. ``joint``: attributes that tell much of each other are counted
    together, where nearly everybody has a combination that so many people have, and k; 0: none are.
    """
    check_form(form)
    counted = any(isinstance(step, AsCounts) for step in steps)
    if form == STRICT and counted:
        return _as_values(steps)
    if form in (COUNTS, PAIR) or counted:
        steps = _as_counts(steps, population, requirement.smallest_group, bins)
        counted = True
    if counted and requirement.on_population:
        raise ParameterError("k-map and delta-presence are kept by plain values only. Choose form strict.")
    if by_class:
        from incrowd.methods.class_blocks import check_class_told

        check_class_told(counted, requirement, population.schema.target)
        steps = _by_class(steps, population, requirement)
    drawn: dict[str, Any] = {"redraw": redraw, "key": key, "by_class": by_class}
    steps = tuple(replace(one, **drawn) if isinstance(one, AsCounts) else one for one in steps)
    if not joint:
        return steps
    from incrowd.methods.joint_counts import counted_together

    return counted_together(steps, _seen(steps, population), population, max(joint, requirement.smallest_group))


def _seen(steps: tuple[Step, ...], population: Population) -> Population:
    """The rows in their groups, numbers seen as bins: those of the method, else those that are counted."""
    binned = {name for step in steps if isinstance(step, Bin) for name, _ in step.cuts}
    cuts = tuple(cut for step in steps if isinstance(step, AsCounts) for cut in step.cuts if cut[0] not in binned)
    return applied(steps, population).bin(Bin(cuts))


def _by_class(steps: tuple[Step, ...], population: Population, requirement: Requirement) -> tuple[Step, ...]:
    """The steps with groups parted into blocks of one class."""
    from incrowd.methods.class_blocks import parted_by_class

    show = next(step for step in steps if isinstance(step, Show))
    after, at = _seen(steps, population), steps.index(show)
    place, parted, reasons = parted_by_class(show, after, Judge.of(requirement, population))
    return *steps[:at], place, parted, *steps[at + 1 :], reasons


def rare_kept_out(people: int | None, requirement: Requirement) -> tuple[Rarest, ...]:
    """The step that hides what names fewer people, if that was asked for.

    Hiding joins classes and parts none, and a union of groups that keep a requirement keeps it. Only the share of a
    population that fits a class may fall or rise.
    """
    if people is None:
        return ()
    from incrowd.vocabulary.requirements.population import DeltaPresence

    if any(isinstance(part, DeltaPresence) for part in requirement.on_population):
        raise ParameterError(
            "delta-presence and rarest cannot be kept together: hiding a value changes which people fit. Leave one out."
        )
    return (Rarest(people),)


def _as_counts(steps: tuple[Step, ...], population: Population, k: int, bins: str) -> tuple[Step, ...]:
    show = next((step for step in steps if isinstance(step, Show)), None)
    if show is None:
        grouping = ", ".join(name for name, entry in METHODS.items() if not entry.by_value)
        raise ParameterError(
            "This method shows value by value, not by groups of rows, so there are no groups to count in. Choose form "
            f"strict, or one of {grouping}."
        )
    table, owners = population.sample(), population.owners
    target = None if population.schema.target is None else table[population.schema.target]
    numbers = [table[name] for name in show.names if table[name].type.is_numeric]
    cuts = {column.name: bins_of(column, target, k, owners, bins) for column in numbers}
    by_method = any(isinstance(step, AsCounts) for step in steps)  # which then hides some attributes in all groups
    none = [
        cuts.get(name) == () or (by_method and all(isinstance(group.forms[at], Suppressed) for group in show.groups))
        for at, name in enumerate(show.names)
    ]
    forms: tuple[Form, ...] = tuple(Suppressed() if hidden else Counts() for hidden in none)
    new = Show(show.names, tuple(Group(group.rows, forms) for group in show.groups))
    kept = [new if step is show else step for step in steps if not isinstance(step, Spread | AsCounts)]
    return *kept, AsCounts(show.names, tuple(cuts.items()))


def _as_values(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """What the rows of each group have in common, where a method would release counts; numbers by their bins."""
    binned = {name for step in steps if isinstance(step, Bin) for name, _ in step.cuts}
    new: list[Step] = []
    for step in steps:
        match step:
            case Show(names, groups):
                new.append(Show(names, tuple(Group(group.rows, _in_common(group.forms)) for group in groups)))
            case AsCounts(_, cuts):
                new.append(Bin(tuple((name, places) for name, places in cuts if name not in binned)))
            case _:
                new.append(step)
    return tuple(new)


def _in_common(forms: Sequence[Form]) -> tuple[Form, ...]:
    return tuple(Common() if isinstance(form, Counts) else form for form in forms)


# Requirements that look at a population: hide what too few, or too many, of its people fit. A method decides without
# the population; then every released combination is held against it. Those that break a requirement show nothing any
# more, and further ones with them, the smallest first, until those that show nothing keep it as well.
def fitted(
    steps: tuple[Step, ...], population: Population, requirement: Requirement, people: EncodedTable | None
) -> tuple[Step, ...]:
    """The steps with everything hidden that breaks what is required of the population."""
    on_population = requirement.on_population
    if not on_population:
        return steps
    if people is None:
        raise ParameterError(f"{on_population[0]} needs a population: a table of the people the rows are from.")
    if len(requirement.sets(population.schema.quasi_identifiers)) > 1:
        raise ParameterError("k-map and delta-presence cannot be combined with sets of columns known together.")
    table = population.rows
    if population.owners is not None:
        table = len(np.unique(population.presence(()).persons))
    for part in on_population:
        part.check_possible(table, _People.of(people, ()).everybody)
    show = next((step for step in steps if isinstance(step, Show)), None)
    if show is not None:
        return _groups_fitted(steps, show, population, on_population, people)
    return _combinations_fitted(steps, population, on_population, people)


def _groups_fitted(
    steps: tuple[Step, ...],
    show: Show,
    population: Population,
    on_population: Sequence[OfPopulation],
    people: EncodedTable,
) -> tuple[Step, ...]:
    """Groups that are hidden show nothing; which rows they have stays as it is."""
    forms = [group.forms for group in show.groups]
    released = _Released.of_groups(steps, show, population)
    fit = _Fit.of(forms, released, show.names, population.schema, people)
    nothing = (Suppressed(),) * len(show.names)
    hidden = fit.hidden(on_population)
    groups = [Group(g.rows, nothing) if hide else g for g, hide in zip(show.groups, hidden.tolist(), strict=True)]
    return tuple(replace(show, groups=tuple(groups)) if step is show else step for step in steps)


def _combinations_fitted(
    steps: tuple[Step, ...], population: Population, on_population: Sequence[OfPopulation], people: EncodedTable
) -> tuple[Step, ...]:
    """Combinations that are hidden are named by a further step."""
    names = population.schema.quasi_identifiers
    recode = next(step for step in steps if isinstance(step, Recode))
    seen = combinations_shown(steps, population)
    shown: list[list[Form]] = [[*(part.form for part in recode[name].parts), Suppressed()] for name in names]
    forms = [tuple(shown[a][code] for a, code in enumerate(codes)) for codes in seen.codes.tolist()]
    released = _Released.of_combinations(steps, population, seen)
    hidden = _Fit.of(forms, released, names, population.schema, people).hidden(on_population)
    return without_combinations(steps, names, seen, hidden)


def combinations_shown(steps: Sequence[Step], population: Population) -> Combinations:
    """What rows show after steps that show value by value."""
    return applied(steps, population).combinations(population.schema.quasi_identifiers)


def persons_shown(steps: Sequence[Step], population: Population, seen: Combinations) -> Ints:
    """How many persons show each combination; rows, where every row is a person."""
    return _Released.of_combinations(steps, population, seen).sizes(np.arange(len(seen.sizes)), len(seen.sizes))


def persons_of_groups(steps: Sequence[Step], show: Show, population: Population) -> Ints:
    """How many persons are in each group; rows, where every row is a person."""
    groups = len(show.groups)
    return _Released.of_groups(steps, show, population).sizes(np.arange(groups), groups)


@dataclass(frozen=True, eq=False)
class _Released:
    """How many rows there are of each combination or group; and who is in which, if rows are not persons."""

    rows: Ints
    who: Presence | None = None

    @classmethod
    def of_combinations(cls, steps: Sequence[Step], population: Population, seen: Combinations) -> _Released:
        if population.owners is None:
            return cls(seen.sizes)
        return cls(seen.sizes, applied(steps, population).presence(population.schema.quasi_identifiers))

    @classmethod
    def of_groups(cls, steps: Sequence[Step], show: Show, population: Population) -> _Released:
        rows = np.array([group.rows for group in show.groups], np.int64)
        if population.owners is None:
            return cls(rows)
        after = applied(steps, population)
        there = after.presence((GROUP,))
        return cls(rows, replace(there, cells=after.combinations((GROUP,)).codes[:, 0][there.cells]))

    def sizes(self, part_of: Ints, count: int) -> Ints:
        """How many persons, or rows, each part has; ``part_of`` has the part of each combination, -1 for none."""
        if self.who is not None:
            from incrowd.methods.person_records import distinct_persons

            return distinct_persons(part_of[self.who.cells], self.who.persons, count)
        some = part_of >= 0
        return np.bincount(part_of[some], self.rows[some], count).astype(np.int64)


def without_combinations(
    steps: tuple[Step, ...], names: tuple[str, ...], seen: Combinations, gone: Flags, *, drop: bool = False
) -> tuple[Step, ...]:
    """The steps, with some of the combinations that rows show hidden in the end, or left out."""
    if not gone.any():
        return steps
    recode = next(step for step in steps if isinstance(step, Recode))
    left = []
    for column in recode.columns:
        at = names.index(column.name)
        rows = np.bincount(seen.codes[~gone, at], seen.sizes[~gone], len(column.parts) + 1).astype(int).tolist()
        parts = (replace(part, rows=rows[i]) for i, part in enumerate(column.parts))
        left.append(replace(column, parts=tuple(parts)))
    named = tuple(tuple(codes) for codes in seen.codes[gone].tolist())
    hide = Hide(names, 0, named, drop, int(seen.sizes[gone].sum()))
    last = max(i for i, step in enumerate(steps) if isinstance(step, Recode | Hide))
    changed = [Recode(tuple(left)) if step is recode else step for step in steps]
    return *changed[: last + 1], hide, *changed[last + 1 :]


@dataclass(frozen=True, eq=False)
class _People:
    """The people of a population: their kinds, and who is of which, if somebody has several rows there.

    ``kinds`` has the codes of each kind, name by name, ``sizes`` its people.
    """

    kinds: list[npt.NDArray[np.integer]]
    sizes: Ints
    kind_of: Ints | None = None
    persons: npt.NDArray[np.integer] | None = None

    @classmethod
    def of(cls, people: EncodedTable, names: Sequence[str]) -> _People:
        codes = pl.DataFrame([pl.Series(name, people[name].codes) for name in names])
        codes = codes if names else pl.DataFrame({"": np.zeros(people.height, np.int32)})
        if isinstance(people, OwnedTable):
            numbered = codes.select(pl.struct(codes.columns).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
            _, first, sizes = np.unique(numbered, return_index=True, return_counts=True)
            return cls([codes[name].to_numpy()[first] for name in names], sizes, numbered, people.persons)
        alike = codes.group_by(codes.columns).len(name="how many")
        return cls([alike[name].to_numpy() for name in names], alike["how many"].to_numpy().astype(np.int64))

    def among(self, kinds: npt.NDArray[Any]) -> int:
        """How many people are of one of these kinds."""
        if self.kind_of is None or self.persons is None:
            return int(self.sizes[kinds].sum())
        chosen = np.zeros(len(self.sizes), np.bool_)
        chosen[kinds] = True
        return len(np.unique(self.persons[chosen[self.kind_of]]))

    @property
    def everybody(self) -> int:
        """How many there are."""
        return self.among(np.arange(len(self.sizes)))


@dataclass(frozen=True, eq=False)
class _Fit:
    """Combinations, by what a recipient sees of them.

    ``look`` is what each combination looks like; ``sizes`` and ``people`` are the persons of each look, or rows where
    these are persons, and the people that fit it, ``blank`` the looks that show nothing; ``everybody`` are all people,
    ``nobody`` those that fit no look.
    """

    released: _Released
    look: Ints
    sizes: Ints
    people: Ints
    blank: Flags
    everybody: int
    nobody: int

    @classmethod
    def of(
        cls,
        forms: Sequence[Sequence[Form]],
        released: _Released,
        names: Sequence[str],
        schema: Schema,
        people: EncodedTable,
    ) -> _Fit:
        looks: dict[tuple[Form, ...], int] = {}
        look = np.array([looks.setdefault(tuple(map(_as_seen, each)), len(looks)) for each in forms], np.int64)
        everybody = _People.of(people, names)
        true = [
            {form: true_of(form, people[name], schema[name].hierarchy) for form in {each[place] for each in looks}}
            for place, name in enumerate(names)
        ]
        fitting, met = np.zeros(len(looks), np.int64), np.zeros(len(everybody.sizes), np.bool_)
        for number, each in enumerate(looks):
            left = np.arange(len(met))
            for known, own, form in zip(true, everybody.kinds, each, strict=True):
                left = left if isinstance(form, Suppressed) else left[known[form][own[left]]]
            fitting[number] = everybody.among(left)
            met[left] = True
        return cls(
            released=released,
            look=look,
            sizes=released.sizes(look, len(looks)),
            people=fitting,
            blank=np.array([all(isinstance(form, Suppressed) for form in each) for each in looks]),
            everybody=everybody.everybody,
            nobody=everybody.everybody - everybody.among(np.flatnonzero(met)),
        )

    def hidden(self, on_population: Sequence[OfPopulation]) -> Flags:
        """Which combinations show nothing in the end."""
        gone = np.logical_or.reduce([~part.holds_each(self.sizes, self.people) for part in on_population])
        order = np.argsort(self.sizes, kind="stable")
        count = 1
        while not self._kept(on_population, gone) and not gone.all():
            more = order[~gone[order] & ~self.blank[order]][:count]
            gone[more if len(more) else order] = True
            count *= 2
        return np.asarray(gone[self.look])

    def _kept(self, on_population: Sequence[OfPopulation], gone: Flags) -> bool:
        """Whether those that show nothing keep what is required, and everybody fits something where that is asked."""
        unseen = np.where((gone | self.blank)[self.look], 0, -1)
        together = int(self.released.sizes(unseen, 1)[0])
        if together:
            return all(part.holds_each(np.array([together]), np.array([self.everybody]))[0] for part in on_population)
        return not self.nobody or all(
            part.holds_each(np.array([0]), np.array([self.nobody]))[0] for part in on_population
        )


def _as_seen(form: Form) -> Form:
    """What a recipient sees of a form: a missing value looks as if it was suppressed."""
    return Suppressed() if isinstance(form, ShownMissing) else form


def true_of(form: Form, column: EncodedColumn, hierarchy: Hierarchy | None) -> Flags:
    """For each code of a column whether a form is true of people with that value."""
    values = column.values
    match form:
        case Suppressed():
            return np.ones(column.width, np.bool_)
        case Shown(value):
            fits = [each == value for each in values]
        case ValueSet(members):
            fits = [each in members for each in values]
        case Interval(low, high):
            fits = [(low is None or each > low) and (high is None or each <= high) for each in values]
        case Range(low, high) if low is not None and high is not None:
            fits = [low <= each <= high for each in values]
        case Category(label) if hierarchy is not None:
            below = hierarchy.leaves_below(hierarchy.labels.index(label))
            fits = [leaf in below for leaf in hierarchy.find(column)[:-1].tolist()]
        case _:
            raise ParameterError(
                "k-map and delta-presence ask which people fit a cell: nobody fits a mean, a middle or counts. Release "
                "numbers as intervals (numeric=bins for kactus, numeric=interval for the others)."
            )
    return np.array([*fits, False], np.bool_)
