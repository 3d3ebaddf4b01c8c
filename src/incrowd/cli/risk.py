"""``incrowd risk``: who can be found in a table, before and after a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import File, Json, Replace, enough_memory, print_json, progress
from incrowd.risk.options import RISK, RiskOptions
from incrowd.vocabulary.option import part

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from incrowd.risk.assessment import Risk
    from incrowd.risk.telling import RiskTable


@takes(RISK)
def risk(
    file: File,
    *,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the whole as an HTML page there.")] = None,
    replace: Replace = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Measure the risk of any table: re-identification, uniques, Safe Harbor, the three risks of WP216.

    Everything is counted on all rows; a missing value is a value. A release is measured by the classes it shows. No
    cell value is told. What cannot be measured is said to be so.
    """
    from incrowd.risk.assessment import measure_risk as measure
    from incrowd.risk.charts import risk_html
    from incrowd.tables.publishing.staging import check_target, staged

    tables = [enough_memory(options[name]) for name in ("population_table", "after") if options[name]]
    if report:
        check_target(report, (file, *tables, *([options["zip3"]] if options["zip3"] else [])), replace=replace)
    with progress(json) as show:
        show("measuring")
        measured = measure(file, **part(RiskOptions, options))
    if report:
        with staged(report, replace=replace) as hidden:
            hidden.write_text(risk_html(measured), encoding="utf-8")
    if json:
        print_json(measured.to_json())
        return
    from rich.console import Console

    print_risk(measured, Console())
    if report:
        typer.echo(f"\nwritten report: {report}")


def print_risk(risk: Risk, console: Console) -> None:
    """Print every part with its table."""
    from rich.text import Text

    from incrowd.drawing.wording import plain
    from incrowd.risk.telling import headline, parts_of

    console.print(Text(plain(headline(risk)), style="bold"))
    for section in parts_of(risk):
        console.print()
        console.print(Text(plain(section.title), style="bold"))
        for sentence in section.sentences:
            console.print(Text(plain(sentence)))
        if section.table:
            console.print(_rich_table(section.table))
        for aside in section.asides:
            console.print(Text(plain(aside), style="dim"))


def _rich_table(table: RiskTable) -> RichTable:
    from rich.table import Table as Shown
    from rich.text import Text

    from incrowd.drawing.wording import plain
    from incrowd.risk.telling import CONDITION

    shown = Shown(box=None, pad_edge=False, header_style="dim")
    for place, head in enumerate(table.header):
        words = place < table.words or head == CONDITION
        shown.add_column(Text(plain(head)), justify="left" if words else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    return shown
