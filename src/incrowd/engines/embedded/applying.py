"""A plan applied to a population: what each row shows of each attribute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from incrowd.engines.embedded.counting import settle_counts, with_distinct_looks
from incrowd.engines.embedded.population import EmbeddedPopulation
from incrowd.engines.embedded.settling import needs_rows, settle_forms
from incrowd.engines.embedded.tally import Tally
from incrowd.errors import PlanError
from incrowd.methods.population import Population
from incrowd.plan.rare_names import without_rare_names
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, AsCounts, Bin, Drop, Hide, Place, Rarest, Reasons, Recode, Seat, Show, Spread
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.requirements.together import Together


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


def tally_forms(plan: ReleasePlan, table: EncodedTable, shown: Mapping[str, Codes]) -> dict[str, Tally]:
    """The tally of each attribute whose forms are to be filled in; ``table`` has the values themselves."""
    return {
        name: Tally.of(table[name], shown[name], len(plan.forms(name)))
        for name in plan.names
        if needs_rows(plan.forms(name))
    }


def _fits_people(plan: ReleasePlan) -> bool:
    """Whether groups were chosen by who fits them outside of the table, so that their sets must stay as they are."""
    return isinstance(plan.requirement, Together) and bool(plan.requirement.on_population)


def settled(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], tallies: Mapping[str, Tally]) -> ReleasePlan:
    """The plan with its forms filled in; of the columns the dictionaries are asked, and the rows of each value."""
    forms = {name: plan.forms(name) for name in plan.names}
    for name, tally in tallies.items():
        known = settle_forms(forms[name], columns[name], tally, narrow=not _fits_people(plan))
        forms[name] = tuple(settle_counts(known, columns[name], tally, plan.cuts.get(name), plan.rows_showing(name)))
    return with_distinct_looks(without_rare_names(plan.with_forms(forms), columns))
