"""``incrowd keys``: keys that sign certificates."""

from __future__ import annotations

from typing import Annotated

import typer

from incrowd.cli.shared import Json, print_json

keys_app = typer.Typer(
    name="keys",
    help="Make and show the keys that sign certificates.",
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


def _tell(data: dict[str, str], json: bool) -> None:
    if json:
        print_json(data)
        return
    for name, value in data.items():
        typer.echo(f"{name.replace('_', ' '):<11} {value}")
