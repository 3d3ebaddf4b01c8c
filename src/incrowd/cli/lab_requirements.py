"""``incrowd lab requirements``: what l-diversity and t-closeness cost each method on Adult."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def requirements(
    page: Annotated[Path, typer.Option(help="Write the page there; its plots go into the folder plots beside it.")],
    data: Annotated[Path | None, typer.Option(help="A folder with the files; else INCROWD_DATA.")] = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows, drawn at random; all if not given.")] = None,
    repetitions: Annotated[int, typer.Option(help="How many splits.", min=1)] = 3,
) -> None:
    """Measure accuracy under l-diversity and t-closeness of the class for each method on Adult: a page with plots."""
    from incrowd.lab.requirement_costs import adult, measure, write_page

    subject = adult(data, rows)
    costs = measure(subject, repetitions, said=lambda words: typer.echo(words, err=True))
    write_page(page, subject, repetitions, costs)
    typer.echo(f"written {page}")
