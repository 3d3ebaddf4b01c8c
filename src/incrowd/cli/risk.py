"""``incrowd risk``: who can be found in a table, before and after a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.memory import enough_memory
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

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from incrowd.risk.assessment import Risk
    from incrowd.risk.telling import RiskTable


def _file(path: Path | None) -> Path | None:
    return None if path is None else enough_memory(path)


def risk(
    file: File,
    quasi_identifiers: Annotated[
        str, typer.Option("--quasi-identifiers", "--qi", "-q", help="Columns an attacker may know: a,b,c")
    ],
    sensitive: Annotated[
        str | None, typer.Option(help="Columns that should not follow from the quasi-identifiers: d,e")
    ] = None,
    population: Annotated[
        int | None, typer.Option(help="How many persons the table is a sample of; else nothing is estimated of them.")
    ] = None,
    population_table: Annotated[
        Path | None, typer.Option(help="The population itself, with the same quasi-identifiers.", callback=_file)
    ] = None,
    after: Annotated[
        Path | None, typer.Option(help="A release of the table, to be measured beside it.", callback=_file)
    ] = None,
    thresholds: Annotated[str, typer.Option(help="Risks above which rows are counted.")] = "0.05,0.1,0.2,0.5",
    largest_special: Annotated[
        int, typer.Option(help="The most columns that are tried together for special uniques.")
    ] = 3,
    zip3: Annotated[
        Path | None, typer.Option(help="A table of zip3 and population, for the Safe Harbor checklist.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the whole as an HTML page there.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Measure the risk of any table: re-identification, uniques, Safe Harbor, the three risks of WP216.

    Everything is counted on all rows; a missing value is a value. A release is measured by the classes it shows. No
    cell value is told. What cannot be measured is said to be so.
    """
    from incrowd.report.risk_page import risk_html
    from incrowd.risk.measuring import measure_risk as measure
    from incrowd.tables.publishing.staging import check_target, staged

    inputs = tuple(path for path in (file, population_table, after, zip3) if path)
    if report:
        check_target(report, inputs)
    with progress(json) as show:
        show("measuring")
        found = measure(
            file,
            quasi_identifiers=names(quasi_identifiers) or [],
            sensitive=names(sensitive) or [],
            population=population,
            population_table=population_table,
            after=after,
            zip3=zip3,
            thresholds=_shares(thresholds),
            largest_special=largest_special,
            **reading_options(delimiter, encoding, missing),
        )
    if report:
        with staged(report) as hidden:
            hidden.write_text(risk_html(found), encoding="utf-8")
    if json:
        print_json(found.to_json())
        return
    from rich.console import Console

    print_risk(found, Console())
    if report:
        typer.echo(f"\nwritten report: {report}")


def _shares(text: str) -> list[float]:
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise ParameterError("Thresholds are numbers between 0 and 1, for instance --thresholds 0.1,0.2.") from None


def print_risk(found: Risk, console: Console) -> None:
    """Print every part with its table."""
    from rich.text import Text

    from incrowd.drawing.wording import plain
    from incrowd.risk.telling import headline, parts_of

    console.print(Text(plain(headline(found)), style="bold"))
    for part in parts_of(found):
        console.print()
        console.print(Text(plain(part.title), style="bold"))
        for said in part.said:
            console.print(Text(plain(said)))
        if part.table:
            console.print(_rich_table(part.table))
        for aside in part.asides:
            console.print(Text(plain(aside), style="dim"))


def _rich_table(told: RiskTable) -> RichTable:
    from rich.table import Table as Shown
    from rich.text import Text

    from incrowd.drawing.wording import plain

    shown = Shown(box=None, pad_edge=False, header_style="dim")
    for place, head in enumerate(told.header):
        words = place < told.words or head == "trust it for"
        shown.add_column(Text(plain(head)), justify="left" if words else "right", overflow="fold")
    for row in told.rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    return shown
