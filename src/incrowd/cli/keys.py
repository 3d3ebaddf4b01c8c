"""``incrowd keys``: keys that sign certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.shared import Json, print_json

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
    from incrowd.releases.certified.signing import sign_release
    from incrowd.vocabulary.certificates import certificate_beside

    certificate, verdict = sign_release(file, key)
    data = {"certificate": str(certificate_beside(file)), "key_id": certificate["signature"]["key_id"]}
    _tell({**data, "recounted": verdict.summary}, json)


def _tell(data: dict[str, str], json: bool) -> None:
    if json:
        print_json(data)
        return
    for name, value in data.items():
        typer.echo(f"{name.replace('_', ' '):<11} {value}")
