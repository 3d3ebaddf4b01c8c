"""The door: a table in, its measured risk out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from incrowd.errors import guarded

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk


@guarded
def measure_risk(
    table: Any,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str] = (),
    population: int | None = None,
    population_table: Any = None,
    after: Any = None,
    zip3: Any = None,
    thresholds: Sequence[float] = (0.05, 0.1, 0.2, 0.5),
    largest_special: int = 3,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
) -> Risk:
    """Measure the risk of a table: re-identification, uniques, special uniques, Safe Harbor, the risks of WP216.

    Everything is counted on all rows; a missing value is a value. No cell value is in the result. A release is a table
    like any other: risk is that of the classes it shows, where a set, an interval or a suppressed cell is one value.

    Parameters
    ----------
    table
        A file, or a pandas, polars or PyArrow table. Each person has one row.
    quasi_identifiers
        The columns an attacker may know.
    sensitive
        The columns whose values should not follow from the quasi-identifiers.
    population
        How many persons the table is a sample of. Without it nothing is estimated about the population.
    population_table
        That population itself, with the same quasi-identifiers: then it is counted, not estimated.
    after
        A release of the table, to be measured the same way.
    zip3
        A table with the columns ``zip3`` and ``population``, for the Safe Harbor checklist.
    thresholds
        Risks above which rows are counted.
    largest_special
        The most columns that are tried together in the search for special uniques.
    delimiter, encoding, missing
        How to read text files.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 41, None], "sex": ["f", "f", "m", "m"], "ill": ["y", "n", "y", "y"]})
    >>> found = measure_risk(people, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    >>> found.prosecutor.maximum, found.prosecutor.average, found.uniques.in_sample
    (1.0, 0.75, 2)
    """
    from incrowd.risk.assessment import RiskRequest, assess

    asked = RiskRequest(
        quasi_identifiers=_names(quasi_identifiers),
        sensitive=_names(sensitive),
        population=population,
        thresholds=tuple(thresholds),
        largest_special=largest_special,
        reading={"delimiter": delimiter, "encoding": encoding, "missing": missing},
    )
    return assess(table, asked, population_table=population_table, after=after, zip3=zip3)


def _names(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
