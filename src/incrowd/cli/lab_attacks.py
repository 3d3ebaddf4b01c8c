"""``incrowd lab attacks``: all attacks on releases of Adult."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def attacks(
    page: Annotated[Path, typer.Option(help="Write the page there; its plots go into the folder plots beside it.")],
    data: Annotated[Path | None, typer.Option(help="A folder with the files; else INCROWD_DATA.")] = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows, drawn at random; all if not given.")] = None,
) -> None:
    """Attack releases of Adult: five methods, three k, all attacks. A page with tables, goals and plots, in minutes."""
    from incrowd.attacks.adult import write_attacks

    write_attacks(page, data, rows, tell=lambda words: typer.echo(words, err=True))
    typer.echo(f"written {page}")
