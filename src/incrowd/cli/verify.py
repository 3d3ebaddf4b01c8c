"""``incrowd verify``: a release against its certificate, any table, or a model against its table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import FileOrTable, Json, Select, Table, enough_memory, print_json, table_at
from incrowd.errors import ParameterError
from incrowd.releases.options import VERIFY, Certified, Kept, VerifyOptions
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part


@takes(VERIFY)
def verify(
    file: FileOrTable,
    *,
    against: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="FILE is a published model: recount it against the table it was grown on."),
    ] = None,
    table: Table = None,
    query: Select = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Check a release against its certificate, or recount any table or model.

    With nothing but a release, its certificate is found beside it, and everything that it states is recounted. With a
    recipe, or with -k and columns, any table is recounted, whoever made it.

    Exit status 0: everything holds. 1: something does not hold. 2: it could not be determined.
    """
    verdict: Any
    if against is not None:
        from incrowd.models.pipeline import verify_model
        from incrowd.rows.one_machine import check_whole
        from incrowd.tables.recipe import opened_recipe

        recipe = opened_recipe(options.pop("recipe"))
        if part(Certified, options) or part(Kept, options):
            raise ParameterError("A model states what it keeps: leave out -k and the columns.")
        check_whole(options["memory"], against)
        reading = {**(recipe.reading if recipe else {}), **part(Reading, options)}
        persons = recipe.persons if recipe else None
        verdict = verify_model(Path(file), enough_memory(against), persons=persons, **reading)
    elif file.lower().endswith(".json"):
        raise ParameterError("A model is verified against its table. Add --against and the file of the table.")
    else:
        from incrowd.releases.recount import verify as recounted

        verdict = recounted(table_at(file, table, query), **part(VerifyOptions, options))
    if json:
        print_json(verdict.to_json())
    else:
        typer.echo(str(verdict))
    raise typer.Exit(verdict.exit_status)
