"""``incrowd ledger``: look at the book of releases, check it, and keep it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.options import names, takes
from incrowd.cli.shared import READING, Json, print_json
from incrowd.errors import OutputError, ParameterError
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

if TYPE_CHECKING:
    from incrowd.releases.ledger.book import Ledger
    from incrowd.releases.ledger.entry import Recorded

ledger_app = typer.Typer(
    name="ledger", help="The private book of releases: list, check and keep it.", no_args_is_help=True
)
Book = Annotated[Path, typer.Argument(help="The folder of the ledger.")]
Key = Annotated[
    Path | None, typer.Option("--ledger-key", help="The file with the key, where it is not kept in the ledger.")
]


@ledger_app.command("list")
def list_(book: Book, ledger_key: Key = None, json: Json = False) -> None:
    """List the releases of the ledger: number, when, what was promised, how many people."""
    listed = described_entries(book, ledger_key)
    if json:
        print_json(listed)
        return
    wrong = listed["state"]
    for row in listed["entries"]:
        typer.echo("  ".join(str(value) for value in row.values() if value not in (None, "")))
    typer.echo(f"The ledger is {wrong}." if wrong == "sound" else f"The ledger is not sound: {wrong}.")


@ledger_app.command()
def check(
    book: Book,
    certificates: Annotated[list[Path] | None, typer.Argument(help="Certificates of releases made with it.")] = None,
    ledger_key: Key = None,
    json: Json = False,
) -> None:
    """Check that no entry is altered, exchanged or gone, and that the ledger knows these certificates.

    Exit status 0: it is sound, 1: it is not, 2: it could not be determined.
    """
    from incrowd.releases.ledger.upkeep import faults

    with _open(book, ledger_key) as opened:
        wrong = list(faults(opened, certificates or ()))
    if json:
        print_json({"sound": not wrong, "faults": wrong})
    else:
        typer.echo("\n".join(wrong) or "The ledger is sound.")
    raise typer.Exit(1 if wrong else 0)


@ledger_app.command()
def withdraw(
    book: Book, number: Annotated[int, typer.Argument(help="The number of the release.", min=0)], ledger_key: Key = None
) -> None:
    """Say that a release never went out. The entry stays; it is counted no more."""
    from incrowd.releases.ledger.upkeep import withdraw as withdrawn

    with _open(book, ledger_key) as opened:
        entry = withdrawn(opened, number)
    typer.echo(f"Entry {entry} says that release {number} never went out.")


@ledger_app.command()
@takes(READING)
def add(
    book: Book,
    files: Annotated[list[Path], typer.Argument(help="Entries of another copy of the ledger, or a certificate.")],
    table: Annotated[Path | None, typer.Option(help="The table of a certified release.")] = None,
    ledger_key: Key = None,
    **reading: Any,
) -> None:
    """Enter releases again that the ledger does not know: after it was set back, or if one was made without it.

    Of a certificate and its table it is not known who is in which group; later releases that share people with it are
    refused as "could not be determined".
    """
    from incrowd.releases.ledger.upkeep import enter_again, enter_certified, read_certificate

    with _open(book, ledger_key) as opened:
        for file in files:
            if file.suffix == ".json":
                if table is None:
                    raise ParameterError("A certified release is entered with its table. Use --table.")
                source = _read(table, reading)
                entry: int | None = enter_certified(opened, read_certificate(file), source)
            else:
                entry = enter_again(opened, file)
            typer.echo(f"{file.name}: {'in the ledger already' if entry is None else f'entry {entry}'}")


@ledger_app.command()
@takes(READING)
def upgrade(
    book: Book,
    table: Annotated[list[Path], typer.Option(help="A table that was released with version 1; may be repeated.")],
    identifiers: Annotated[str | None, typer.Option(help="Its columns that number persons: a,b")] = None,
    ledger_key: Key = None,
    **reading: Any,
) -> None:
    """Teach a ledger of version 1, which knew tables, the people of these tables."""
    from incrowd.releases.ledger.upkeep import pending, table_of, upgraded

    with _open(book, ledger_key) as opened:
        for file in table:
            source = _read(file, reading)
            count = upgraded(opened, table_of(source, opened.key, (), names(identifiers or "")))
            typer.echo(f"{file.name}: {len(count)} of the releases of version 1 are of this table")
        typer.echo(f"{len(pending(opened))} releases of version 1 are left")


@ledger_app.command()
@takes(READING)
def rekey(
    book: Book,
    table: Annotated[
        list[str] | None, typer.Option(help="The number of a release and its table: 3=people.csv; may be repeated.")
    ] = None,
    ledger_key: Key = None,
    **reading: Any,
) -> None:
    """Mark the people of the ledger again with a new key: the old one is lost, or others have seen it.

    If it is lost, who is in which group is lost with it. The files so far are kept in a folder in the ledger.
    """
    from incrowd.releases.ledger.upkeep import rekey as mark_again

    if not book.is_dir():
        raise OutputError(f"The ledger {book.name} does not exist.")
    tables = {number: _read(file, reading) for number, file in _numbered(table)}
    done = mark_again(book, tables, ledger_key)
    typer.echo(f"{len(done.with_groups)} releases are marked again.")
    if done.without_groups:
        typer.echo(f"{len(done.without_groups)} are marked again; who is in which group is lost with the key.")
    if done.not_marked:
        typer.echo(f"{len(done.not_marked)} have no people any more, for want of their table: {list(done.not_marked)}")


def described_entries(book: Path, key: Path | None = None) -> dict[str, Any]:
    """The releases of a ledger, and whether it is sound, as plain data."""
    with _open(book, key) as opened:
        return {"entries": [_described(one, opened) for one in opened.read()], "state": opened.fault}


@contextmanager
def _open(book: Path, key: Path | None) -> Iterator[Ledger]:
    """A ledger that exists; none is begun."""
    from incrowd.releases.ledger.book import open_ledger

    if not book.is_dir() or not any(book.iterdir()):
        raise OutputError(f"The ledger {book.name} does not exist.")
    with open_ledger(book, key) as opened:
        yield opened


def _described(one: Recorded, book: Ledger) -> dict[str, Any]:
    """An entry for people and machines."""
    entry, gone = one.entry, {other.entry.withdraws for other in book.read()}
    kind = "withdrawn release" if entry.kind == "release" and one.number in gone else entry.kind
    if entry.withdraws is not None:
        kind = f"release {entry.withdraws} never went out"
    known = {"number": one.number, "made": entry.made, "what": kind, "requirement": entry.requirement}
    known |= {"people": entry.people or None, "sha256": entry.sha256[:16]}
    return known


def _numbered(tables: list[str] | None) -> Iterator[tuple[int, Path]]:
    for text in tables or ():
        number, equals, file = text.partition("=")
        if not equals or not number.strip().isdecimal():
            raise ParameterError("Write the number of a release and its table, for instance --table 3=people.csv.")
        yield int(number), Path(file.strip())


def _read(file: Path, reading: dict[str, Any]) -> Any:
    from incrowd.tables.reading.read import read

    return read(file, **part(Reading, reading))
