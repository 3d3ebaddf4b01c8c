"""``incrowd verify``: a release against its certificate, any table, or a model against its table.

``incrowd keys``: keys that sign certificates.
"""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import FileOrTable, Json, Select, Table, enough_memory, print_json, table_at
from incrowd.errors import OutputError, ParameterError, VerificationError
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


keys_app = typer.Typer(
    name="keys",
    help="Make and show the keys that sign certificates, and sign with them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@keys_app.command()
def make(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A name, kept in your configuration folder; or a file.")],
    json: Json = False,
) -> None:
    """Make a pair of keys: a private one, to sign with, and a public one, to hand out.

    The private key has no passphrase; only you can read its file. A key that exists is never overwritten.
    """
    from incrowd.report.signature import make_key, public_path

    path, public = make_key(key)
    data = {"key_id": public.id, "public_key": public.text, "private": str(path), "public": str(public_path(path))}
    _tell(data, json)


@keys_app.command()
def show(
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="A name or a file; else all keys by name.")] = None,
    json: Json = False,
) -> None:
    """Show public keys: what recipients need to check who signed a certificate."""
    from incrowd.report.signature import PUBLIC, keys_folder, public_key

    names = [key] if key is not None else sorted(path.stem for path in keys_folder().glob(f"*{PUBLIC}"))
    shown = []
    for name in names:
        public = public_key(name)
        shown.append({"key": name, "key_id": public.id, "public_key": public.text})
    if json:
        print_json(shown)
        return
    if not shown:
        typer.echo("There is no key yet. Make one: incrowd keys make NAME")
    for one in shown:
        _tell(one, json)


@keys_app.command()
def sign(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The private key: its name or file.")],
    file: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release; its certificate lies beside it.")],
    json: Json = False,
) -> None:
    """Sign the certificate of a release that you have looked at. All that it states is recounted first.

    Exit status 1: something does not hold, and nothing was signed. A release is signed once; `release --sign` signs
    while it is made.
    """
    from incrowd.releases.certified.checking import check_release
    from incrowd.releases.certified.consistency import check_written
    from incrowd.report.signature import private_key, signed
    from incrowd.tables.publishing.staging import staged
    from incrowd.vocabulary.certificates import certificate_beside, read_certificate

    path = certificate_beside(file)
    certificate = read_certificate(path)
    if "signature" in certificate:
        raise OutputError(
            f"{path.name} is signed already, by the key {certificate['signature']['key_id']}. Release once more to "
            "have it signed by another."
        )
    private_key(key)  # before all rows are counted
    # a promise to persons whose rows are not told apart stays open, as for everybody who has only the release
    verdict = check_release(file, certificate)
    if verdict.failed:
        raise VerificationError(f"{verdict.summary} Nothing was signed.")
    certificate = signed(certificate, key)
    with staged(path) as draft:
        draft.write_text(dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        check_written(certificate, draft)
    _tell({"certificate": str(path), "key_id": certificate["signature"]["key_id"], "recounted": verdict.summary}, json)


def _tell(data: dict[str, str], json: bool) -> None:
    if json:
        print_json(data)
        return
    for name, value in data.items():
        typer.echo(f"{name.replace('_', ' '):<11} {value}")
