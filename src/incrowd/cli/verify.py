"""``incrowd verify``: a release against its certificate, any table, or a model against its table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    certificate: Annotated[
        Path | None,
        typer.Option(help="The certificate of the release; else it is FILE.certificate.json beside the release."),
    ] = None,
    signed_by: Annotated[
        Path | None, typer.Option("--signed-by", help="The public key of whoever must have signed the certificate.")
    ] = None,
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
    """Check a release against its certificate, or recount any table or model.

    With nothing but a release, its certificate is found beside it, and everything that it states is recounted. With -k
    and columns, any table is recounted, whoever made it.

    Exit status 0: everything holds. 1: something does not hold. 2: it could not be determined.
    """
    reading = reading_options(delimiter, encoding, missing)
    asked = k is not None or quasi_identifiers is not None or bool(known_together) or bool(require)
    verdict: Any
    if against is not None:
        from incrowd.models.pipeline import verify_model

        if asked or population or hierarchies or certificate or signed_by:
            raise ParameterError("A model says itself what it keeps: leave out -k and the columns.")
        verdict = verify_model(Path(file), enough_memory(against), **reading)
    elif file.lower().endswith(".json"):
        raise ParameterError("A model is verified against its table. Add --against and the file of the table.")
    elif certificate is not None or signed_by is not None or not asked:
        from incrowd.releases.certified.checking import check_release

        if asked or population or reading:
            raise ParameterError("A certificate says itself what is kept and how the file is read: say nothing else.")
        verdict = check_release(
            given(file), certificate, signed_by=signed_by, hierarchies=_hierarchies(hierarchies), memory=memory
        )
    else:
        from incrowd.releases.recount import recount

        verdict = recount(
            given(file),
            k=None if k is None else whole(k),
            quasi_identifiers=names(quasi_identifiers) or [],
            known_together=known_sets(known_together),
            require=require,
            population=population,
            hierarchies=_hierarchies(hierarchies),
            memory=memory,
            **reading,
        )
    if json:
        print_json(verdict.to_json())
    else:
        typer.echo(str(verdict))
    raise typer.Exit(verdict.exit_status)


def _hierarchies(folder: Path | None) -> Any:
    if folder is None:
        return None
    from incrowd.tables.hierarchies.read import hierarchies_in

    return hierarchies_in(folder)
