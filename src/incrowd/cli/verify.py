"""``incrowd verify``: recount any table, or a model against its table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.given import FileOrTable, given
from incrowd.cli.memory import enough_memory
from incrowd.cli.shared import (
    Delimiter,
    Encoding,
    Json,
    KnownTogether,
    MissingMarks,
    QuasiIdentifiers,
    Require,
    known_sets,
    names,
    print_json,
    reading_options,
    whole,
)
from incrowd.errors import ParameterError


def verify(
    file: FileOrTable,
    k: Annotated[str | None, typer.Option("-k", help="Smallest group of rows that may look alike.")] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    known_together: KnownTogether = None,
    require: Require = None,
    against: Annotated[
        Path | None, typer.Option(help="FILE is a published model: recount it against the table it was grown on.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="A table of the people the rows are from, for k-map and delta-presence.")
    ] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder with a hierarchy file for each column that has one.")
    ] = None,
    memory: Annotated[str | None, typer.Option(help="How much memory may be used, such as 4GB.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Recount a table, anybody's, or a model. Exit status 0: it holds, 1: it does not, 2: it cannot be told."""
    reading = reading_options(delimiter, encoding, missing)
    if against is not None:
        from incrowd.modelling import verify_model

        if k is not None or quasi_identifiers is not None or known_together or require or population or hierarchies:
            raise ParameterError("A model says itself what it keeps: leave out -k and the columns.")
        verdict = verify_model(Path(file), enough_memory(against), **reading)
    elif file.lower().endswith(".json"):
        raise ParameterError("A model is verified against its table. Add --against and the file of the table.")
    else:
        from incrowd.hierarchies.read import hierarchies_in
        from incrowd.recount import recount

        verdict = recount(
            given(file),
            k=None if k is None else whole(k),
            quasi_identifiers=names(quasi_identifiers) or [],
            known_together=known_sets(known_together),
            require=require,
            population=population,
            hierarchies=None if hierarchies is None else hierarchies_in(hierarchies),
            memory=memory,
            **reading,
        )
    if json:
        print_json(verdict.to_json())
    else:
        typer.echo(str(verdict))
    raise typer.Exit(0 if verdict.passed else 1)
