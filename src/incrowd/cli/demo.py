"""``incrowd demo``: the whole way, on patients, or visits of patients, we made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.shared import Replace, progress

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class _Scene:
    """A table that was made up: its file, its rows, what it is in words, and what its columns are."""

    file: str
    table: pl.DataFrame
    words: str
    columns: Mapping[str, Any]


def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where the files go: demo, or demo-visits.", show_default=False)
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="How many patients: 20,000, or 8,000 with visits.", min=1000, show_default=False)
    ] = None,
    visits: Annotated[bool, typer.Option("--visits", help="Several visits of each patient: k counts persons.")] = False,
    method: Annotated[str, typer.Option(help="See: incrowd methods.")] = "kactus-plus",
    k: Annotated[int, typer.Option("-k", help="Smallest group that may look alike.", min=2)] = 10,
    table_only: Annotated[bool, typer.Option("--table-only", help="Make the table, and stop.")] = False,
    replace: Replace = False,
) -> None:
    """Make a table of patients, release it, verify it again, and show what was kept."""
    from rich.console import Console

    from incrowd.api import release
    from incrowd.releases.certified.checking import check_release
    from incrowd.releases.certified.statements import StatementStanding
    from incrowd.releases.job import Targets
    from incrowd.report.terminal import print_summary
    from incrowd.tables.options import Measuring, Outputs
    from incrowd.tables.publishing.staging import check_new
    from incrowd.tables.recipe import Recipe

    console = Console()
    folder = folder or Path("demo-visits" if visits else "demo")
    folder.mkdir(parents=True, exist_ok=True)
    scene = _visits(rows or 8_000) if visits else _patients(rows or 20_000)
    table = folder / scene.file
    to, plan, report = folder / "release.csv", folder / "plan.json", folder / "report.html"
    outputs = Outputs(plan=plan, report=report, replace=replace)
    check_new(*((table,) if table_only else (table, to, plan, report)), replace=replace)
    scene.table.write_csv(table)
    console.print(f"{scene.words}: {table}", highlight=False)
    if table_only:
        return
    with progress() as show:
        outcome = release(
            table,
            recipe=Recipe(private=scene.table.columns),
            **scene.columns,
            class_sensitive=False,
            method=method,
            k=k,
            to=to,
            outputs=outputs,
            measuring=Measuring(accuracy=True),
            progress=show,
        )
    files = {
        "release": str(to),
        "certificate": str(Targets.at(to).certificate),
        "report": str(outputs.report),
        "plan (private)": str(outputs.plan),
    }
    print_summary(outcome.report, console, files)
    again = check_release(to)
    recounted = sum(one.standing is StatementStanding.HOLDS for one in again.statements)
    console.print(f"\nincrowd verify {to}: {recounted} statements of its certificate hold", highlight=False)
    unproven = [one for one in again.statements if one.promised and one.standing is StatementStanding.OPEN]
    for one in unproven if visits else ():  # a recipient does not know whose rows they are
        console.print(f"not for a recipient to say: {one.name}: {one.words}", highlight=False)
    failed = any(one.standing is StatementStanding.FAILS for one in again.statements)
    raise typer.Exit(int(failed) if visits else again.exit_status)


def _patients(patients: int) -> _Scene:
    from incrowd.comparisons.datasets.invented import IDENTIFIERS, QUASI_IDENTIFIERS, SENSITIVE, TARGET, make_patients

    columns = {"quasi_identifiers": QUASI_IDENTIFIERS, "target": TARGET, "sensitive": SENSITIVE}
    words = f"{patients:,} made-up patients"
    return _Scene("patients.csv", make_patients(patients), words, {**columns, "identifiers": IDENTIFIERS})


def _visits(patients: int) -> _Scene:
    from incrowd.comparisons.datasets.visits import PERSON, QUASI_IDENTIFIERS, SENSITIVE, TARGET, make_visits

    table = make_visits(patients)
    columns = {"quasi_identifiers": QUASI_IDENTIFIERS, "target": TARGET, "sensitive": SENSITIVE}
    words = f"{table.height:,} visits of {patients:,} made-up patients"
    return _Scene("visits.csv", table, words, {**columns, "person": PERSON})
