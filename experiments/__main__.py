"""``python -m experiments``: the founding papers' experiments, and what Blend and stronger promises cost and stop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.attacks.page import write_attacks
from experiments.automatic import write_auto
from experiments.bins import run_trials as run_bins
from experiments.bins import write as write_bins
from experiments.blend.cells import adult_cells, part_cells, read_outcomes, small_cells, waiting
from experiments.blend.choices import LEARNERS as CHOICE_LEARNERS
from experiments.blend.choices import choice_trials, write_choices
from experiments.blend.pages import adult_page, adult_plots, parts_page, small_page
from experiments.blend.rare_classes import write_rare_classes
from experiments.blend.risk import write_blended, write_wide
from experiments.blend.trying import try_all
from experiments.claims.page import write_claims
from experiments.frontier import ROWS, write_frontier
from experiments.joint import run_trials as run_joint
from experiments.joint import write as write_joint
from experiments.many_tables.page import write as write_many_tables
from experiments.many_tables.tables import subject_of
from experiments.many_tables.trials import Bench, run_trials
from experiments.pages import write_pictures
from experiments.recipients.cells import REPETITIONS, WAYS
from experiments.recipients.cells import cells as recipient_cells
from experiments.recipients.cells import read_outcomes as read_recipients
from experiments.recipients.naive import try_naive
from experiments.recipients.page import write_page as write_recipients
from experiments.recipients.trying import try_all as try_recipients
from experiments.reproduce.command import reproduce
from experiments.requirements import adult, measure, write_page
from experiments.scalability import write_scalability
from incrowd.cli.main import main
from incrowd.errors import ParameterError

app = typer.Typer(
    name="python -m experiments",
    help="The founding papers' experiments run again, Blend measured, and releases of Adult attacked.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(reproduce)

Data = Annotated[Path | None, typer.Option(help="A folder with the files; else INCROWD_DATA.")]
Rows = Annotated[int | None, typer.Option(help="Use so many rows, drawn at random; all if not given.")]
Page = Annotated[Path, typer.Option(help="Write the page there; its plots go into the folder plots beside it.")]
Repetitions = Annotated[int, typer.Option(help="How often the rows are split anew.", min=1)]
KEPT = typer.Option(help="Outcomes are kept in this file; a run goes on where an earlier one ended.")
BLEND = {"adult": (adult_cells, adult_page), "small": (small_cells, small_page), "parts": (part_cells, parts_page)}


@app.command()
def scalability(
    page: Page,
    data: Data = None,
    factors: Annotated[list[int] | None, typer.Option("--factor", help="Only these sizes, times Adult.")] = None,
) -> None:
    """Release Adult, expanded to 1.4 million rows, as Table 6 of the kACTUS paper does: a page."""
    write_scalability(page, data, factors, _tell)
    typer.echo(f"written {page}")


@app.command()
def claims(page: Page) -> None:
    """Write the index of every table, figure and claim of the papers, from the pages of results beside it."""
    write_claims(page, page.parent)
    typer.echo(f"written {page}")


@app.command()
def attacks(page: Page, data: Data = None, rows: Rows = None) -> None:
    """Attack releases of Adult: five methods, three k, all attacks. A page with tables, goals and plots, in minutes."""
    write_attacks(page, data, rows, tell=_tell)
    typer.echo(f"written {page}")


@app.command()
def requirements(page: Page, data: Data = None, rows: Rows = None, repetitions: Repetitions = 3) -> None:
    """Measure accuracy under l-diversity and t-closeness of the class for each method on Adult: a page with plots."""
    subject = adult(data, rows)
    costs = measure(subject, repetitions, tell=_tell)
    write_page(page, subject, repetitions, costs)
    typer.echo(f"written {page}")


@app.command()
def blend(
    what: Annotated[
        str,
        typer.Argument(
            metavar="adult|small|parts|risk|wide",
            help="Adult; the other tables of the papers; Blend without each of its parts; Adult, attacked; the same "
            "with all attributes known.",
        ),
    ],
    page: Page,
    keep: Annotated[Path | None, KEPT] = None,
    data: Data = None,
    repetitions: Repetitions = 1,
    rows: Rows = None,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
) -> None:
    """Compare Blend with other methods and with itself, on splits that had no part in choosing it: a page."""
    if what in ("risk", "wide"):
        (write_blended if what == "risk" else write_wide)(page, data, rows, tell=_tell)
    elif what not in BLEND or keep is None:
        raise ParameterError("Say adult, small or parts, and --keep FILE for the outcomes; or risk, or wide.")
    else:
        cells, pages = BLEND[what]
        try_all(waiting(cells(repetitions), read_outcomes(keep)), keep, data, rows, jobs, _tell)
        write_pictures(page, adult_plots(keep, repetitions) if what == "adult" else ())
        page.write_text(pages(keep, repetitions), encoding="utf-8")
    typer.echo(f"written {page}")


@app.command()
def recipients(
    page: Page,
    keep: Annotated[Path, KEPT],
    data: Data = None,
    repetitions: Repetitions = REPETITIONS,
    ways: Annotated[list[str] | None, typer.Option("--way", help="Only these ways to feed; may be repeated.")] = None,
    minutes: Annotated[float, typer.Option(help="Stop after so many minutes; 0: only write the page.", min=0)] = 1e6,
) -> None:
    """Compare learning from an opened release with what comparisons feed to learners, every method and form: a page.

    Sections of which nothing is measured stay as they are.
    """
    if unknown := set(ways or ()) - set(WAYS):
        raise ParameterError(f"There is no way {', '.join(sorted(unknown))}. Known: {', '.join(WAYS)}.")
    if minutes:
        every, known = list(recipient_cells(repetitions)), read_recipients(keep)
        try_recipients(every, ways or WAYS, known, keep, data, _tell, 60 * minutes)
        try_naive(read_recipients(keep), keep, data, _tell)
    write_recipients(page, read_recipients(keep))
    typer.echo(f"written {page}")


@app.command()
def frontier(page: Page, data: Data = None, rows: Annotated[int, typer.Option(help="Rows drawn.")] = ROWS) -> None:
    """Accuracy against purity and against measured inference, every method and k, with and without a bound: a page."""
    write_frontier(page, data, rows, _tell)
    typer.echo(f"written {page}")


@app.command()
def auto(page: Page, keep: Annotated[Path, KEPT], data: Data = None) -> None:
    """Measure how well --method auto chooses on fifteen tables: a page."""
    write_auto(page, keep, data, _tell)
    typer.echo(f"written {page}")


@app.command(name="rare-classes")
def rare_classes(page: Page, keep: Annotated[Path, KEPT]) -> None:
    """Measure whether other scores, or hiding nothing, make Blend serve rare classes better: a page."""
    write_rare_classes(page, keep, _tell)
    typer.echo(f"written {page}")


@app.command(name="many-tables")
def many_tables(
    page: Page,
    keep: Annotated[Path, typer.Option(help="A folder for the outcomes; a run goes on where an earlier one ended.")],
    data: Data = None,
    minutes: Annotated[float, typer.Option(help="Stop after so many minutes; 0: only write the page.", min=0)] = 60,
) -> None:
    """Compare every method on many tables, most of which nobody tuned on: a page of what has run so far."""
    if minutes:
        run_trials(keep, data, 60 * minutes, _tell)
    write_many_tables(page, keep)
    typer.echo(f"written {page}")


@app.command()
def choices(
    page: Page,
    keep: Annotated[Path, typer.Option(help="A folder for the outcomes; a run goes on where an earlier one ended.")],
    data: Data = None,
    minutes: Annotated[float, typer.Option(help="Stop after so many minutes; 0: only write the page.", min=0)] = 60,
) -> None:
    """Compare clusters with splits, and plain values with each other and with counts: a page of what has run so far."""
    if minutes:
        run_trials(
            keep,
            data,
            60 * minutes,
            _tell,
            choice_trials(),
            lambda table, where: Bench(subject_of(table, where), CHOICE_LEARNERS),
        )
    write_choices(page, keep, data)
    typer.echo(f"written {page}")


@app.command()
def bins(
    page: Page,
    keep: Annotated[Path, typer.Option(help="A folder for the outcomes; a run goes on where an earlier one ended.")],
    data: Data = None,
    minutes: Annotated[float, typer.Option(help="Stop after so many minutes; 0: only write the page.", min=0)] = 60,
) -> None:
    """Compare counts of numbers in fine bins with counts in bins where the class changes, on tables nobody tuned on."""
    if minutes:
        run_bins(keep, data, 60 * minutes, _tell)
    write_bins(page, keep)
    typer.echo(f"written {page}")


@app.command()
def joint(
    page: Page,
    keep: Annotated[Path, typer.Option(help="A folder for the outcomes; a run goes on where an earlier one ended.")],
    data: Data = None,
    minutes: Annotated[float, typer.Option(help="Stop after so many minutes; 0: only write the page.", min=0)] = 60,
) -> None:
    """Compare counts of attributes that are counted together with counts of single ones, for learners and attackers."""
    if minutes:
        run_joint(keep, data, 60 * minutes, _tell)
    write_joint(page, keep)
    typer.echo(f"written {page}")


def _tell(words: str) -> None:
    typer.echo(words, err=True)


if __name__ == "__main__":
    main(app)
