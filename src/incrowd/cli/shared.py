"""What the commands have in common: options, progress, JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.memory import enough_memory
from incrowd.errors import ParameterError

File = Annotated[
    Path,
    typer.Argument(
        help="The table: CSV (any delimiter, .gz, .zst), Parquet, Arrow, ARFF, Excel.", callback=enough_memory
    ),
]
QuasiIdentifiers = Annotated[
    str | None, typer.Option("--quasi-identifiers", "-q", help="Columns an attacker may know: a,b,c")
]
KnownTogether = Annotated[
    list[str] | None,
    typer.Option("--known-together", help="Columns an attacker knows together, and their k: a,b:5; may be repeated."),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        help='What every group must keep beside k: "entropy-l=1.5 on diagnosis, t=0.2 on income"; may be repeated.',
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
Delimiter = Annotated[str | None, typer.Option(help="Field separator, if it is not found by itself.")]
Encoding = Annotated[str | None, typer.Option(help="Text encoding, if it is not UTF-8 or UTF-16.")]
MissingMarks = Annotated[
    list[str] | None, typer.Option("--missing", help="A text that means missing; may be repeated.")
]


def names(text: str | None) -> list[str] | None:
    """Column names from ``a,b,c``; a name with a comma is written in double quotes.

    Examples
    --------
    >>> names('age,"zip, code"')
    ['age', 'zip, code']
    """
    if text is None:
        return None
    import csv

    try:
        row = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise ParameterError("Write a column name with a line break in double quotes.") from None
    return [name.strip() for name in row if name.strip()]


def known_sets(settings: list[str] | None) -> list[tuple[list[str], int]]:
    """Sets of columns with their k, from ``a,b:5``.

    Examples
    --------
    >>> known_sets(["age,sex:5"])
    [(['age', 'sex'], 5)]
    """
    found = []
    for setting in settings or ():
        columns, colon, k = setting.rpartition(":")
        if not colon:
            raise ParameterError("Write the columns, a colon and their k, for instance --known-together age,sex:5.")
        found.append((names(columns) or [], whole(k)))
    return found


def whole(text: str) -> int:
    """A whole number, or incrowd's own error."""
    try:
        return int(text)
    except ValueError:
        raise ParameterError("k must be a whole number of at least 1. Give for instance -k 10.") from None


def reading_options(delimiter: str | None, encoding: str | None, missing: list[str] | None) -> dict[str, Any]:
    """The options for reading text, those that were given."""
    given = {"delimiter": delimiter, "encoding": encoding, "missing": missing or None}
    if delimiter in ("tab", "\\t"):
        given["delimiter"] = "\t"
    return {name: value for name, value in given.items() if value is not None}


def print_json(data: object) -> None:
    """Plain data on standard output."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def kernels_are_compiled() -> bool:
    """Whether an earlier run has left compiled kernels beside the package or in Numba's own folder."""
    package = Path(__file__).parents[1]
    folders = [package, Path(os.environ.get("NUMBA_CACHE_DIR", Path.home() / ".cache" / "numba"))]
    return any(next(folder.rglob("*.nbi"), None) for folder in folders if folder.is_dir())


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line that tells the running stage and the time, on a terminal; nothing when piped."""
    if quiet or not sys.stderr.isatty():
        yield lambda _stage: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not kernels_are_compiled():
        console.print("First run: the kernels are compiled once, which takes up to half a minute.", highlight=False)
    begun, known = time.perf_counter(), [""]
    with console.status("starting") as status:

        def show(stage: str) -> None:
            elapsed, name = time.perf_counter() - begun, stage.partition(":")[0]
            if name != known.pop() and elapsed > 1:  # how far a stage is, is told in one line
                console.log(f"{name} …", highlight=False)
            known.append(name)
            status.update(f"{stage} ({elapsed:.0f} s)")

        yield show
