"""The door: a table in, its measured risk out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from incrowd.errors import ParameterError, guarded, named_option
from incrowd.risk.options import RiskOptions
from incrowd.rows.one_machine import check_whole
from incrowd.tables.options import Reading, names_of
from incrowd.tables.recipe import Recipe, beside_recipe
from incrowd.vocabulary.option import described, filled
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import Role

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk


@described(RiskOptions)
@guarded
def measure_risk(table: Any, **options: Unpack[RiskOptions]) -> Risk:
    """Measure the risk of a table: re-identification, uniques, special uniques, Safe Harbor, the risks of WP216.

    Everything is counted on all rows; a missing value is a value. No cell value is in the result. A release is a table
    like any other: risk is that of the classes it shows, where a set, an interval or a suppressed cell is one value.

    With ``person``, persons are counted: whoever knows one row of a person picks one of the persons whose rows look
    alike, and a person is as exposed as its row with the fewest such persons. Whoever knows more rows of a person may
    find more.

    Parameters
    ----------
    table
        A file, or a pandas, polars or PyArrow table. Each person has one row, unless a column says whose row it is.
    {options}

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 41, None], "sex": ["f", "f", "m", "m"], "ill": ["y", "n", "y", "y"]})
    >>> found = measure_risk(people, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    >>> found.prosecutor.maximum, found.prosecutor.average, found.uniques.in_sample
    (1.0, 0.75, 2)
    """
    from incrowd.risk.assessment import RiskRequest, assess

    stated, _ = beside_recipe(options, _stated)
    request = filled(RiskOptions, stated)
    beside = {name: request[name] for name in ("population_table", "after", "zip3")}
    check_whole(request["memory"], table, *beside.values())
    column = request["person"]
    if column is None and (request["person_ids"] is not None or request["missing_persons"] is not None):
        raise ParameterError(f"Whose rows are they? Name the column: {named_option(person='COLUMN')}.")
    ids, missing = request["person_ids"], request["missing_persons"] or "refuse"
    wanted = RiskRequest(
        persons=None if column is None else Persons(column, ids, missing),
        quasi_identifiers=tuple(names_of(request["quasi_identifiers"])),
        sensitive=tuple(names_of(request["sensitive"])),
        thresholds=tuple(request["thresholds"]),
        reading=filled(Reading, stated),
        **{name: request[name] for name in ("population", "largest_special")},
    )
    return assess(table, wanted, **beside)


def _stated(recipe: Recipe) -> dict[str, Any]:
    """What a recipe says of a table whose risk is measured; a release of it is read as it was written."""
    known, sensitive = recipe.known, recipe.named(Role.SENSITIVE)
    persons = next(iter(recipe.named(Role.PERSON)), None)
    spelled = {"person_ids": recipe.person_ids, "missing_persons": recipe.missing_persons} if persons else {}
    return {"quasi_identifiers": known, "sensitive": sensitive, "person": persons, **spelled, **recipe.reading}
