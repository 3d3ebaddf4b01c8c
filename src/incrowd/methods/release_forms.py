"""The groups of a method in the form that was asked for, see :mod:`incrowd.vocabulary.forms`.

Every method that decides on groups of rows can be released in each form; without a form it is released in its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.errors import ParameterError
from incrowd.measures.mdl import even_cuts, roundest
from incrowd.methods.catalog import METHODS
from incrowd.methods.method import Method, Population
from incrowd.methods.public_bins import FEW, public_cuts
from incrowd.plan.steps import AsCounts, Bin, Group, Rarest, Show, Spread, Step
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.forms import COUNTS, PAIR, STRICT, check_form
from incrowd.vocabulary.released_value import Common, Counts, Form, Suppressed
from incrowd.vocabulary.requirement import Requirement, Together
from incrowd.vocabulary.requirements.population import DeltaPresence
from incrowd.vocabulary.schema import ColumnType

PIECES = 16  # of a number, where no class says which cuts matter


def suited(method: Method, form: str | None) -> Method:
    """The method as it suits the form; Blend makes other groups where they must be told in plain values."""
    return method.in_plain_values() if form == STRICT and hasattr(method, "in_plain_values") else method


def formed(
    steps: tuple[Step, ...], form: str | None, population: Population, requirement: Requirement
) -> tuple[Step, ...]:
    """The steps of a method with its groups shown in the form that was asked for."""
    check_form(form)
    counted = any(isinstance(step, AsCounts) for step in steps)
    if form == STRICT and counted:
        return _as_values(steps)
    if form in (COUNTS, PAIR) and not counted:
        steps = _as_counts(steps, population, requirement.smallest_group)
        counted = True
    if counted and isinstance(requirement, Together) and requirement.on_population:
        raise ParameterError("k-map and delta-presence are kept by plain values only. Choose form strict.")
    return steps


def rare_kept_out(people: int | None, requirement: Requirement) -> tuple[Rarest, ...]:
    """The step that hides what names fewer people, if that was asked for.

    Hiding joins classes and parts none, and a union of groups that keep a requirement keeps it. Only the share of a
    population that fits a class may fall or rise.
    """
    if people is None:
        return ()
    on_population = requirement.on_population if isinstance(requirement, Together) else ()
    if any(isinstance(part, DeltaPresence) for part in on_population):
        raise ParameterError(
            "delta-presence and rarest cannot be kept together: hiding a value changes which people fit. Leave one out."
        )
    return (Rarest(people),)


def _as_counts(steps: tuple[Step, ...], population: Population, k: int) -> tuple[Step, ...]:
    show = next((step for step in steps if isinstance(step, Show)), None)
    if show is None:
        grouping = ", ".join(name for name, entry in METHODS.items() if not entry.by_value)
        raise ParameterError(
            "This method shows value by value, not by groups of rows, so there are no groups to count in. Choose form "
            f"strict, or one of {grouping}."
        )
    cuts = {name: places for step in steps if isinstance(step, Bin) for name, places in step.cuts}
    table, target = population.sample(), population.schema.target
    for name in show.names:
        if table[name].type.is_numeric and name not in cuts:
            cuts[name] = bins_of(table[name], None if target is None else table[target], k)
    forms: tuple[Form, ...] = tuple(Suppressed() if cuts.get(name) == () else Counts() for name in show.names)
    new = Show(show.names, tuple(Group(group.rows, forms) for group in show.groups))
    kept = [new if step is show else step for step in steps if not isinstance(step, Spread)]
    return *kept, AsCounts(show.names, tuple(cuts.items()))


def bins_of(column: EncodedColumn, target: EncodedColumn | None, k: int) -> tuple[float, ...]:
    """The public cuts of a number, with at least k rows in each piece; a number with fewer rows has none."""
    if target is not None:
        return public_cuts(column, target.codes, target.width, k)
    rows = column.counts[:-1]
    least = k if len(rows) <= FEW else max(k, -(-int(rows.sum()) // PIECES))
    numbers, whole = column.numbers, column.type is not ColumnType.REAL
    return tuple(roundest(numbers[i - 1].item(), numbers[i].item(), whole) for i in even_cuts(rows, least))


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
