"""A plan applied to a population: what each row shows of each attribute, with the counts of its group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.methods.population import Population
from incrowd.plan.release_plan import ReleasePlan, without_rare_names
from incrowd.plan.steps import DROPPED, AsCounts, Bin, Drop, Hide, Place, Rarest, Reasons, Recode, Seat, Show, Spread
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.rows.memory.settling import FormTally, needs_rows, settle_forms
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import (
    Common,
    Counts,
    Form,
    Interval,
    Member,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
    member_text,
)
from incrowd.vocabulary.requirements.together import Together

# Filling in counts: which values the rows of each group have, and in how many rows.
Members = tuple[tuple[Member, int], ...]


def settle_counts(
    forms: Sequence[Form], column: EncodedColumn, tally: FormTally, cuts: Sequence[float] | None, rows: Sequence[int]
) -> Sequence[Form]:
    """The forms of one attribute with the values of the rows that show them.

    Parameters
    ----------
    column
        Only its dictionary is asked.
    cuts
        The public cuts of a number.
    rows
        How many rows show each form, those with a missing value too.
    """
    if not any(isinstance(form, Counts | Common) for form in forms):
        return forms
    values, places = _values(column, cuts)
    members = _members(tally, places, values, rows)
    everything = len(values)
    return [
        Counts(members[i])
        if isinstance(form, Counts)
        else _common(members[i], everything, column)
        if isinstance(form, Common)
        else form
        for i, form in enumerate(forms)
    ]


def _values(
    column: EncodedColumn, cuts: Sequence[float] | None
) -> tuple[Sequence[str | Interval], npt.NDArray[np.int64]]:
    """What may be counted, in order, and which of it each code of the column is."""
    if not column.type.is_numeric:
        return column.dictionary.to_list(), np.arange(len(column.dictionary))
    if not cuts:
        raise PlanError(f"{column.name} has no public cuts between which its numbers could be counted. Hide it.")
    return Bin.intervals(cuts), np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left")


def _members(
    tally: FormTally, places: npt.NDArray[np.int64], values: Sequence[str | Interval], rows: Sequence[int]
) -> list[Members]:
    """For each form the values of its rows; rows that the tally does not know have a missing value."""
    width = max(1, len(values))
    cells, where = np.unique(tally.forms * width + places[tally.codes], return_inverse=True)
    counts = np.bincount(where, tally.rows, len(cells)).astype(np.int64)
    members: list[list[tuple[Member, int]]] = [[] for _ in rows]
    known = [0] * len(rows)
    for form, value, count in zip((cells // width).tolist(), (cells % width).tolist(), counts.tolist(), strict=True):
        members[form].append((values[value], count))
        known[form] += count
    for one, all_of_it, seen in zip(members, rows, known, strict=True):
        if all_of_it > seen:
            one.append((None, all_of_it - seen))
    return [tuple(one) for one in members]


def _common(members: Members, everything: int, column: EncodedColumn) -> Form:
    """What all rows have in common, as plain values.

    A set that excludes no value tells nothing, and a set cannot say that some values are missing.
    """
    values = [member for member, _ in members]
    if values == [None]:
        return ShownMissing()
    if None in values or not values:
        return Suppressed()
    if len(values) == 1:
        return values[0] if isinstance(values[0], Interval) else Shown(str(values[0]))
    if len(values) == everything:
        return Suppressed()
    return ValueSet(tuple(str(member_text(value, column.type)) for value in values))


def with_distinct_looks(plan: ReleasePlan) -> ReleasePlan:
    """Groups that look alike are one for the recipient: each of them shows the counts of all their rows.

    So the counts of an attribute always add up to the number of rows that carry them.
    """
    if not plan.counted or not plan.groups:
        return plan
    units = [(group.forms, [place]) for place, group in enumerate(plan.groups)]
    while True:
        alike: dict[tuple[Form, ...], list[list[int]]] = {}
        for look, places in units:
            alike.setdefault(look, []).append(places)
        if len(alike) == len(units):
            break
        units = [(_times(look, len(parts)), list(chain(*parts))) for look, parts in alike.items()]
    looks = {place: look for look, places in units for place in places}
    return plan.with_forms({name: [looks[g][i] for g in range(len(plan.groups))] for i, name in enumerate(plan.names)})


def _times(look: tuple[Form, ...], times: int) -> tuple[Form, ...]:
    """What several groups that look alike show together."""
    return tuple(
        Counts(tuple((member, rows * times) for member, rows in form.members))
        if isinstance(form, Counts) and form.members is not None
        else form
        for form in look
    )


def applied(plan: ReleasePlan, population: Population) -> Population:
    """The population after all steps."""
    for step in plan.steps:
        match step:
            case Bin():
                population = population.bin(step)
            case Place():
                population = population.place(step)
            case Seat():
                population = population.seat(step)
            case Recode():
                population = population.recode(step)
            case Hide():
                population = population.hide(step)
            case Drop() | Show() | Spread() | AsCounts() | Rarest() | Reasons():
                pass
            case _:
                raise PlanError(f"No engine knows the step {type(step).__name__}.")
    return population


def shown_forms(plan: ReleasePlan, after: EmbeddedPopulation) -> dict[str, Codes]:
    """For each attribute the position of the form each row shows."""
    if plan.show:
        if after.groups is None:
            raise PlanError("This plan says what groups show, and puts no row into one. Make it again.")
        return dict.fromkeys(plan.names, after.groups)
    shown = {name: after.table[name].codes for name in plan.names}
    if after.groups is None:
        return shown
    return {name: np.where(after.groups == DROPPED, np.int32(DROPPED), codes) for name, codes in shown.items()}


def tally_forms(plan: ReleasePlan, table: EncodedTable, shown: Mapping[str, Codes]) -> dict[str, FormTally]:
    """The tally of each attribute whose forms are to be filled in; ``table`` has the values themselves."""
    return {
        name: FormTally.of(table[name], shown[name], len(plan.forms(name)))
        for name in plan.names
        if needs_rows(plan.forms(name))
    }


def _fits_people(plan: ReleasePlan) -> bool:
    """Whether groups were chosen by who fits them outside of the table, so that their sets must stay as they are."""
    return isinstance(plan.requirement, Together) and bool(plan.requirement.on_population)


def settled(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], tallies: Mapping[str, FormTally]) -> ReleasePlan:
    """The plan with its forms filled in; of the columns the dictionaries are asked, and the rows of each value."""
    forms = {name: plan.forms(name) for name in plan.names}
    for name, tally in tallies.items():
        known = settle_forms(forms[name], columns[name], tally, narrow=not _fits_people(plan))
        forms[name] = tuple(settle_counts(known, columns[name], tally, plan.cuts.get(name), plan.rows_showing(name)))
    return with_distinct_looks(without_rare_names(plan.with_forms(forms), columns))
