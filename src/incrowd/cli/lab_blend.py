"""``incrowd lab ablate`` and ``incrowd lab blend``: what each part of Blend is worth, and what Blend is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.lab.blending.cells import Cell

Data = Annotated[Path | None, typer.Option(help="A folder with the files; else INCROWD_DATA.")]
Keep = Annotated[Path, typer.Option(help="Outcomes are kept in this file; a run goes on where an earlier one ended.")]
Repetitions = Annotated[int, typer.Option(help="How often the rows are halved anew.", min=1)]
Jobs = Annotated[int, typer.Option(help="Processes.", min=1)]
Rows = Annotated[int | None, typer.Option(help="Use so many rows, drawn at random; all if not given.")]
PageOption = Annotated[Path, typer.Option(help="Write the page there.")]


def ablate(
    method: Annotated[str, typer.Argument(help="The method: blend.")],
    page: PageOption,
    keep: Keep,
    data: Data = None,
    repetitions: Repetitions = 1,
    rows: Rows = None,
    jobs: Jobs = 1,
) -> None:
    """Measure on Adult what each part of a method is worth: the method without it, on the same splits."""
    from incrowd.errors import ParameterError
    from incrowd.lab.ablation import ablation_page
    from incrowd.lab.blending.experiments import part_cells

    if method != "blend":
        raise ParameterError("Only the parts of blend can be left out one by one. Say: incrowd lab ablate blend.")
    _tried(list(part_cells(repetitions)), keep, data, rows, jobs)
    page.write_text(ablation_page(keep, repetitions), encoding="utf-8")
    typer.echo(f"written {page}")


def blend(
    table: Annotated[str, typer.Argument(help="adult; small: the other tables of the papers; risk: Adult, attacked.")],
    page: PageOption,
    keep: Annotated[
        Path | None, typer.Option(help="Outcomes are kept in this file; a run goes on where an earlier one ended.")
    ] = None,
    data: Data = None,
    repetitions: Repetitions = 1,
    rows: Rows = None,
    jobs: Jobs = 1,
) -> None:
    """Compare Blend with the other methods, on splits that had no part in choosing it: a page."""
    from incrowd.errors import ParameterError
    from incrowd.lab.blending.adult_page import adult_page, adult_plots
    from incrowd.lab.blending.experiments import adult_cells, small_cells
    from incrowd.lab.blending.small_page import small_page
    from incrowd.lab.section import write_pictures

    if table == "risk":
        from incrowd.attacks.blended import write_blended

        write_blended(page, data, rows, tell=lambda words: typer.echo(words, err=True))
        typer.echo(f"written {page}")
        return
    if table not in ("adult", "small") or keep is None:
        raise ParameterError("Say adult or small, and --keep FILE for the outcomes; or risk.")
    cells = list(adult_cells(repetitions) if table == "adult" else small_cells(repetitions))
    _tried(cells, keep, data, rows, jobs)
    written = adult_page(keep, repetitions) if table == "adult" else small_page(keep, repetitions)
    write_pictures(page, adult_plots(keep, repetitions) if table == "adult" else ())
    page.write_text(written, encoding="utf-8")
    typer.echo(f"written {page}")


def _tried(cells: Sequence[Cell], keep: Path, data: Path | None, rows: int | None, jobs: int) -> None:
    from incrowd.lab.blending.cells import read_outcomes, waiting
    from incrowd.lab.blending.trying import try_all

    bundles = waiting(cells, read_outcomes(keep))
    try_all(bundles, keep, data, rows, jobs, lambda words: typer.echo(words, err=True))
