"""``incrowd hide``: withhold single cells so that they cannot be inferred from the rest of the table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.options import cell as parse_cell
from incrowd.cli.options import takes
from incrowd.cli.shared import File, Json, print_json, progress
from incrowd.errors import ParameterError
from incrowd.hiding.options import HIDE, HidingOptions
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part

FIRST_ROW = 1


@takes(HIDE)
def hide(
    file: File,
    cell: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW:COLUMN", help="A cell; the first row of data is 1. May be repeated.", rich_help_panel="What"
        ),
    ] = None,
    cells: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A CSV file of cells with the header row,column; the first row is 1.",
            rich_help_panel="What",
        ),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be withheld; write nothing.", rich_help_panel="Outputs")
    ] = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Withhold cells, and as few others as needed, so that the rest of the table does not give them away.

    Rows are counted from 1, without the header, and keep their order. The written file is compared with the table, cell
    by cell, before it appears.
    """
    to, report = options["to"], options["report"]
    _check_outputs(to, report, dry_run)
    named = [parse_cell(setting) for setting in cell or ()] + ([] if cells is None else list(_listed(cells)))
    from incrowd.hiding.pipeline import hide_cells

    options |= {"to": None if dry_run else to, "reading": part(Reading, options), "first_row": FIRST_ROW}
    with progress(json) as show:
        hidden = hide_cells(file, named, progress=show, **part(HidingOptions, options))
    files = {} if dry_run else {"table": to, "report": report}
    _answer(hidden, {what: str(path) for what, path in files.items() if path}, json)


def _answer(hidden: Any, written: dict[str, str], json: bool) -> None:
    """Say what was done: facts for machines, sentences for people."""
    if json:
        print_json({"files": written, **hidden.report.to_json()})
        return
    from rich.console import Console

    from incrowd.report.hiding_report import hiding_screen

    hiding_screen(hidden.report).show(Console(), written or {"dry run": "nothing was written"})


def _check_outputs(to: Path | None, report: Path | None, dry_run: bool) -> None:
    if dry_run and report is not None:
        raise ParameterError("--dry-run writes nothing. Leave out --report, or --dry-run.")
    if not dry_run and to is None:
        raise ParameterError("State where the table goes: --to OUT. To see the plan only: --dry-run.")


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
