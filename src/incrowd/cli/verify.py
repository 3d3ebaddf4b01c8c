"""``incrowd verify``: recount any table."""

from __future__ import annotations

from typing import Annotated

import typer

from incrowd.cli.shared import (
    Delimiter,
    Encoding,
    File,
    Json,
    KnownTogether,
    MissingMarks,
    QuasiIdentifiers,
    known_sets,
    names,
    print_json,
    reading_options,
    whole,
)


def verify(
    file: File,
    k: Annotated[str | None, typer.Option("-k", help="Smallest group of rows that may look alike.")] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    known_together: KnownTogether = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Recount a table, anybody's. Exit status 0: it holds, 1: it does not, 2: it cannot be told."""
    from incrowd.recount import recount

    verdict = recount(
        file,
        k=None if k is None else whole(k),
        quasi_identifiers=names(quasi_identifiers) or [],
        known_together=known_sets(known_together),
        **reading_options(delimiter, encoding, missing),
    )
    if json:
        print_json(verdict.to_json())
    else:
        typer.echo(str(verdict))
    raise typer.Exit(0 if verdict.passed else 1)
