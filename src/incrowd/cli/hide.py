"""``incrowd hide``: withhold single cells so that they cannot be inferred from the rest of the table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.shared import (
    Delimiter,
    Encoding,
    File,
    Json,
    MissingMarks,
    names,
    print_json,
    progress,
    reading_options,
)
from incrowd.errors import ParameterError

FIRST_ROW = 1


def hide(
    file: File,
    cell: Annotated[
        list[str] | None,
        typer.Option(help="A cell, as row:column, e.g. 17:diagnosis; the first row of data is 1; may be repeated."),
    ] = None,
    cells: Annotated[
        Path | None, typer.Option(help="A CSV file of cells with the header row,column; the first row of data is 1.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto: against all adversaries; or decp, incp, dropp, hid3, these with -g (hierarchies), e-decp, "
            "e-dropp, hid3+dropp and the like, quiet, nrd."
        ),
    ] = "auto",
    adversaries: Annotated[
        str, typer.Option(help="Who checks: nb, nb-ignored, nb-shared, id3, svm, logistic, forest, boosting, knn.")
    ] = "nb,id3",
    to: Annotated[Path | None, typer.Option(help="The table with the cells withheld; rows keep their order.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report there; it stays private.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be withheld; write nothing.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Publish nothing if an adversary still guesses a cell.")
    ] = False,
    attack: Annotated[
        bool, typer.Option("--attack", help="Measure what the pattern of hidden cells tells; may take long.")
    ] = False,
    degree: Annotated[int, typer.Option(help="Another value is drawn from so many most likely ones.")] = 3,
    predictors: Annotated[str | None, typer.Option(help="Columns adversaries reckon with: a,b")] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option("--hierarchy", help="A column and the file of its hierarchy: age=age.txt")
    ] = None,
    hierarchies: Annotated[Path | None, typer.Option(help="A folder with a hierarchy file for each column.")] = None,
    memory: Annotated[str | None, typer.Option(help="How much memory may be used, such as 4GB.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Withhold cells, and as few others as needed, so that the rest of the table does not give them away.

    Rows are counted from 1, without the header, and keep their order. The written file is compared with the table, cell
    by cell, before it appears.
    """
    _check_outputs(to, report, dry_run)
    named = [_cell(setting) for setting in cell or ()] + ([] if cells is None else list(_listed(cells)))
    from incrowd.hiding import hide_cells

    with progress(json) as show:
        hidden = hide_cells(
            file,
            named,
            method,
            names(adversaries) or (),
            to=to if not dry_run else None,
            report_to=report,
            hierarchies=_hierarchies(hierarchies, hierarchy),
            predictors=names(predictors) or (),
            degree=degree,
            strict=strict,
            attack=attack,
            first_row=FIRST_ROW,
            reading=reading_options(delimiter, encoding, missing),
            memory=memory,
            progress=show,
        )
    files = {} if dry_run else {"table": to, "report": report}
    _answer(hidden, {what: str(path) for what, path in files.items() if path}, json)


def _answer(hidden: Any, written: dict[str, str], json: bool) -> None:
    """Say what was done: facts for machines, sentences for people."""
    if json:
        print_json({"files": written, **hidden.report.to_json()})
        return
    from incrowd.report.hiding_report import side_effects

    typer.echo(f"{hidden}\n\n{hidden.verdict}")
    for place, shows in side_effects(hidden.report):
        typer.echo(f"withheld {place} (shows {shows})")
    for what, path in written.items():
        typer.echo(f"written {what}: {path}")
    if not written:
        typer.echo("dry run: nothing was written")


def _check_outputs(to: Path | None, report: Path | None, dry_run: bool) -> None:
    if dry_run and report is not None:
        raise ParameterError("--dry-run writes nothing. Leave out --report, or --dry-run.")
    if not dry_run and to is None:
        raise ParameterError("Say where the table goes: --to OUT. To see the plan only: --dry-run.")


def _cell(setting: str) -> tuple[int, str]:
    """A cell from ``17:diagnosis``.

    Examples
    --------
    >>> _cell("17:blood: sugar")
    (17, 'blood: sugar')
    """
    row, _, column = setting.partition(":")
    if not (row.strip().isascii() and row.strip().isdigit() and column):
        raise ParameterError("Write a cell as row:column, for instance --cell 17:diagnosis. The first row is 1.")
    return int(row), column


def _listed(path: Path) -> Iterator[tuple[int, str]]:
    """The cells of a file with the columns row and column."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            if not {"row", "column"} <= set(reader.fieldnames or ()):
                raise ParameterError(f"{path.name}: the list of cells needs the header row,column.")
            for entry in reader:
                row = (entry["row"] or "").strip()
                if not (row.isascii() and row.isdigit() and entry["column"]):
                    raise ParameterError(f"{path.name}, line {reader.line_num}: not a row number and a column.")
                yield int(row), entry["column"]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError(f"The list of cells {path.name} cannot be read ({type(error).__name__}).") from None


def _hierarchies(folder: Path | None, single: list[str] | None) -> dict[str, Any] | Path | None:
    """The folder, or with hierarchies that are named one by one, all of them together."""
    if not single:
        return folder
    from incrowd.tables.hierarchies.read import hierarchies_in

    found: dict[str, Any] = {} if folder is None else dict(hierarchies_in(folder))
    for setting in single:
        column, equals, file = setting.partition("=")
        if not equals:
            raise ParameterError("A hierarchy is given as column=file, for instance --hierarchy age=age.txt.")
        found[column.strip()] = file.strip()
    return found
