"""``incrowd transform``: new rows, seen through a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import READING, File, Replace
from incrowd.tables.options import Reading
from incrowd.vocabulary.option import part


@takes(READING)
def transform(
    plan: Annotated[Path, typer.Argument(help="A plan that 'incrowd release --plan' wrote.")],
    file: File,
    to: Annotated[Path, typer.Option(help="Where the rows go; the ending says the format.")],
    replace: Replace = False,
    **reading: Any,
) -> None:
    """Show new rows as a plan shows rows like them, for instance to test a classifier on them.

    No promise is counted on new rows: this is not a release.
    """
    from incrowd.api import transform as show
    from incrowd.tables.publishing.serialise import write_table
    from incrowd.tables.publishing.staging import check_target, staged
    from incrowd.vocabulary.forms import FileForm

    check_target(to, (file, plan), replace=replace)
    form = FileForm.of(to)
    shown = show(plan, file, **part(Reading, reading))
    with staged(to, replace=replace) as hidden:
        write_table(shown, hidden, form)
    typer.echo(f"{shown.height:,} rows as the plan shows them: {to}. No promise is counted on new rows.")
