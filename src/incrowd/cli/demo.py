"""``incrowd demo``: the whole way, on patients we made up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.shared import Replace, progress


def demo(
    folder: Annotated[Path, typer.Option(help="Where the files go.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="How many patients.", min=1000)] = 20_000,
    method: Annotated[str, typer.Option(help="See: incrowd methods.")] = "kactus-plus",
    k: Annotated[int, typer.Option("-k", help="Smallest group that may look alike.", min=2)] = 10,
    replace: Replace = False,
) -> None:
    """Make a table of patients, release it, verify it again, and show what was kept."""
    from rich.console import Console

    from incrowd.api import release
    from incrowd.comparisons.datasets.patients import IDENTIFIERS, QUASI_IDENTIFIERS, SENSITIVE, TARGET, make_patients
    from incrowd.releases.certified.checking import check_release
    from incrowd.releases.certified.statements import StatementStanding
    from incrowd.releases.job import Targets
    from incrowd.report.terminal import print_summary
    from incrowd.tables.options import Measuring, Outputs
    from incrowd.tables.publishing.staging import check_new
    from incrowd.tables.recipe import Recipe

    console = Console()
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "patients.csv"
    to, plan, report = folder / "release.csv", folder / "plan.json", folder / "report.html"
    outputs = Outputs(plan=plan, report=report, replace=replace)
    check_new(table, to, plan, report, replace=replace)
    patients = make_patients(rows)
    patients.write_csv(table)
    console.print(f"{rows:,} made-up patients: {table}", highlight=False)
    with progress() as show:
        made = release(
            table,
            recipe=Recipe(private=patients.columns),
            quasi_identifiers=QUASI_IDENTIFIERS,
            target=TARGET,
            identifiers=IDENTIFIERS,
            sensitive=SENSITIVE,
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
    print_summary(made.report, console, files)
    again = check_release(to)
    recounted = sum(one.standing is StatementStanding.HOLDS for one in again.statements)
    console.print(f"\nincrowd verify {to}: {recounted} statements of its certificate hold", highlight=False)
    raise typer.Exit(again.exit_status)
