"""A plan applied to a population, and the released table built from fresh memory, in random order.

Nothing is masked in place and no container is carried over: a quasi-identifier column is made from the values its
groups show, other columns are copied value by value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import PlanError
from incrowd.plan.release_plan import LOW, ReleasePlan, Written, without_rare_names
from incrowd.plan.steps import (
    DROPPED,
)
from incrowd.rows.memory.looks import with_distinct_looks, with_drawn_looks
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.rows.memory.settling import (
    FormTally,
    RowsOfPersons,
    joint_column,
    joint_rows,
    needs_rows,
    settle_counts,
    settle_forms,
)
from incrowd.vocabulary.counts_text import HIDDEN
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, OwnedTable
from incrowd.vocabulary.randomness import Randomness, fresh_series
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    ValueSet,
    date_text,
    render,
)
from incrowd.vocabulary.schema import ColumnType

Tallied = str | tuple[str, ...]
"""An attribute, or some that are counted together."""


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


def tally_forms(
    plan: ReleasePlan, table: EncodedTable, shown: Mapping[str, Codes], owners: Codes | None = None
) -> dict[Tallied, FormTally]:
    """The tally of each attribute whose forms are to be filled in; ``table`` has the values themselves.

    ``owners``: the person of each row, if a person may have several; else those of the table, if it has some.
    """
    whose: npt.NDArray[np.integer] | None = table.persons if isinstance(table, OwnedTable) else owners
    tallies: dict[Tallied, FormTally] = {}
    for name in plan.names:
        forms = plan.forms(name)
        if needs_rows(forms):
            tally = FormTally.of(table[name], shown[name], len(forms))
            if whose is not None and any(isinstance(form, Mean | Level) for form in forms):
                tally = replace(tally, owned=RowsOfPersons.of(table[name], shown[name], whose))
            tallies[name] = tally
    for joint in plan.joint:
        column = joint_column(joint, table, plan.cuts)
        tallies[joint.names] = FormTally.of(column, shown[joint.names[0]], len(plan.groups))
    return tallies


def _fits_people(plan: ReleasePlan) -> bool:
    """Whether groups were chosen by who fits them outside of the table, so that their sets must stay as they are."""
    return bool(plan.requirement.on_population)


def settled(
    plan: ReleasePlan,
    columns: Mapping[str, EncodedColumn],
    tallies: Mapping[Tallied, FormTally],
    owners: Codes | None = None,
) -> ReleasePlan:
    """The plan with its forms filled in; of the columns the dictionaries are asked, and the rows of each value.

    ``owners``: the person of each row, if a person may have several: what few of them have is then rare.
    """
    forms = {name: plan.forms(name) for name in plan.names}
    for name in plan.names:
        if (tally := tallies.get(name)) is None:
            continue
        known = settle_forms(forms[name], columns[name], tally, narrow=not _fits_people(plan))
        forms[name] = tuple(settle_counts(known, columns[name], tally, plan.cuts.get(name), plan.rows_showing(name)))
    exact = without_rare_names(plan.with_forms(forms), columns, owners)
    if not plan.redraw:
        return with_distinct_looks(exact)
    joint = {one.names: joint_rows(one, tallies[one.names], len(plan.groups)) for one in plan.joint if tallies}
    return with_drawn_looks(exact, columns, joint)


def pseudonyms_of(persons: int, randomness: Randomness) -> pl.Series:
    """A fresh pseudonym for each person: 128 random bits, which say nothing of who it is or where its rows stood.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SeededRandomness
    >>> pseudonyms_of(2, SeededRandomness(1)).str.len_chars().to_list()
    [33, 33]
    """
    words = randomness.words(2 * persons).reshape(persons, 2).tolist()
    return pl.Series([f"p{high:016x}{low:016x}" for high, low in words], dtype=pl.String)


WORDS = Interval | Range | ValueSet | Category  # written as text, whatever the type of the column


def draft_columns(
    plan: ReleasePlan,
    shown: Mapping[str, Codes],
    source: pl.DataFrame,
    rows: npt.NDArray[np.intp],
    pseudonyms: pl.Series | None = None,
) -> pl.DataFrame:
    """The released columns that the source has, for the given rows.

    ``shown`` says for each attribute of the plan which of its forms each of those rows shows; -1 is nothing.
    ``pseudonyms`` are those of the rows' persons; without them that column is left out.
    """
    columns, types = [], source.schema  # found anew each time it is asked for
    for written in plan.written:
        if written.source == plan.link:
            columns += [] if pseudonyms is None else [pseudonyms.alias(written.name)]
            continue
        if written.source not in types:
            continue
        if written.source in shown:
            values = column_values(plan, written, types[written.source])
            values = values.extend(pl.Series(values.name, [None], values.dtype))
            columns.append(values.gather(np.where(shown[written.source] < 0, len(values) - 1, shown[written.source])))
        else:
            columns.append(fresh_series(source[written.source].gather(rows)))
    return pl.DataFrame(columns)


def column_values(plan: ReleasePlan, written: Written, source_type: pl.DataType) -> pl.Series:
    """What each form of the attribute shows in this column."""
    forms, column_type = plan.forms(written.source), plan.schema[written.source].type
    if written.end:
        return end_values(written, forms, column_type)
    if written.source in plan.counted:
        texts = [render(form, column_type) for form in forms]
        return pl.Series(written.name, [HIDDEN if text is None else text for text in texts], pl.String)
    return shown_values(written.name, forms, column_type, source_type)


def end_values(written: Written, forms: Sequence[Form], column_type: ColumnType) -> pl.Series:
    """One end of the interval each form shows; of a single value both ends are the value."""
    low = written.end == LOW
    ends = [_end(form, low) for form in forms]
    if column_type is ColumnType.DATE:
        texts = [None if end is None else date_text(end) for end in ends]
        return pl.Series(written.name, texts, pl.String).str.to_date("%Y-%m-%d")
    whole = column_type is ColumnType.INTEGER and all(end is None or float(end).is_integer() for end in ends)
    return pl.Series(written.name, ends, pl.Int64 if whole else pl.Float64, strict=False)


def _end(form: Form, low: bool) -> float | None:
    match form:
        case Interval(below, above):
            return below if low else above
        case Shown(value):
            return float(value) if isinstance(value, float) else int(value)
        case _:
            return None


def shown_values(name: str, forms: Sequence[Form], column_type: ColumnType, source_type: pl.DataType) -> pl.Series:
    """What each group shows, as a column of the narrowest type that holds it."""
    values = [render(form, column_type) for form in forms]
    if column_type is ColumnType.DATE and not any(isinstance(form, WORDS) for form in forms):
        return pl.Series(name, values, pl.String).str.to_date("%Y-%m-%d")
    if column_type.is_numeric and all(not isinstance(value, str) for value in values):
        return pl.Series(name, values, _number_type(forms))
    if source_type == pl.Boolean and not any(isinstance(form, ValueSet) for form in forms):
        return pl.Series(name, [None if value is None else value == "true" for value in values], pl.Boolean)
    return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)


def _number_type(forms: Sequence[Form]) -> type[pl.DataType]:
    """Whole numbers stay whole as long as no mean is released."""
    whole = all(isinstance(form.value, int) for form in forms if isinstance(form, Shown))
    return pl.Int64 if whole and not any(isinstance(form, Mean | Level | Midpoint) for form in forms) else pl.Float64


def claims(
    plan: ReleasePlan, shown: Mapping[str, Codes]
) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """For attributes shown as middles: the ends of the interval behind what each row shows."""
    ends = {}
    for name in plan.names:
        forms = plan.forms(name)
        if any(isinstance(form, Midpoint) for form in forms):
            low, high = np.full(len(forms) + 1, np.nan), np.full(len(forms) + 1, np.nan)
            for i, form in enumerate(forms):
                if isinstance(form, Midpoint):
                    low[i] = -np.inf if form.low is None else form.low
                    high[i] = np.inf if form.high is None else form.high
            ends[name] = (low[shown[name]], high[shown[name]])
    return ends
