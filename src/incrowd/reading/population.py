"""The population a table comes from: read like the table, for requirements that look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from incrowd.errors import ParameterError
from incrowd.reading.encode import encode
from incrowd.reading.read import read
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.schema import Schema, unknown_column


def read_population(
    given: Any, requirement: Requirement, schema: Schema, reading: Mapping[str, Any] | None = None
) -> EncodedTable | None:
    """The quasi-identifiers of the people, typed as those of the table; None if nothing is required of them.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.requirements.asking import asked_for
    >>> from incrowd.vocabulary.requirement import KAnonymity
    >>> from incrowd.vocabulary.schema import Column, Role
    >>> asked = asked_for("k=2, k-map=5", KAnonymity(2))
    >>> schema = Schema((Column("job", Role.QUASI_IDENTIFIER),))
    >>> read_population(pl.DataFrame({"job": ["cook", None]}), asked, schema).height
    2
    """
    if not isinstance(requirement, Together) or not requirement.on_population:
        return None
    if given is None:
        raise ParameterError(
            f"{requirement.on_population[0]} needs a population: a table of the people the rows are from, with the "
            "quasi-identifiers. Give it with population= or --population."
        )
    source = read(given, **(reading or {}))
    names = list(schema.quasi_identifiers)
    for name in names:
        if name not in source.frame.columns:
            raise ParameterError(
                f"The population lacks a quasi-identifier. {unknown_column(name, source.frame.columns)}"
            )
    columns = tuple(replace(schema[name], reason="") for name in names)
    return encode(source, Schema(columns), names)[0]
