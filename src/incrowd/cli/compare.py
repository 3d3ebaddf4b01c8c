"""``incrowd compare``: which method costs a classifier least, on your own table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.options import takes, whole
from incrowd.cli.shared import READING_WHOLE, FirstRun, Json, enough_memory, print_json, recorder
from incrowd.tables.options import Reading, What, Wishes
from incrowd.vocabulary.option import part
from incrowd.vocabulary.persons import PersonOptions

if TYPE_CHECKING:
    from incrowd.comparisons.comparison import Comparison
    from incrowd.comparisons.page import ScoreTable
    from incrowd.comparisons.protocol import Protocol
    from incrowd.comparisons.recommend import RowSplitError
    from incrowd.comparisons.run import Prepared, Step, Watcher

_what, _method, _measuring, _outputs, _engine = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("What", "Method", "Measuring", "Outputs", "Engine")
)
_column = partial(_measuring, metavar="COLUMN")


@takes(
    {"What": (What,), "Persons": (PersonOptions,), "Promise": (Wishes,), **READING_WHOLE},
    without=("target", "identifiers", "sensitive", "private", "repeats", "preset"),
)
def compare(
    table: Annotated[str, typer.Argument(metavar="FILE|DATASET", help="A table, or a name of: incrowd datasets.")],
    target: Annotated[str | None, _what(help="The class to predict; known for named data sets.")] = None,
    methods: Annotated[
        str | None, _method(help="See: incrowd methods; also kadet. Parameters: kactus(numeric='mean')")
    ] = None,
    k: Annotated[str | None, _method("-k", help="One or several: 5,20,100")] = None,
    learners: Annotated[str, _measuring(help="See: incrowd learners.")] = "c45,nb,logistic",
    measure: Annotated[
        str,
        _measuring(help="What methods are compared by: accuracy, balanced-accuracy, auc, log-loss, person-accuracy."),
    ] = "accuracy",
    protocol: Annotated[
        str | None, _measuring(help="5x2, 10-fold, holdout, first N (rows to learn from); else by what it costs.")
    ] = None,
    repeats: Annotated[int | None, _measuring(help="How often to draw the splits anew.", min=1)] = None,
    groups: Annotated[str | None, _column(help="Rows of the same value are never in both parts of a split.")] = None,
    time: Annotated[str | None, _column(help="Learn from the past, test on what followed; 3-fold: 3 steps.")] = None,
    full: Annotated[bool, _measuring("--full", help="Five repetitions of two-fold, however long they take.")] = False,
    feeding: Annotated[str, _measuring(help="How learners take sets, intervals and bins: sets=draw,bins=middle")] = "",
    discretize: Annotated[
        str | None, _measuring(help="Cut numbers by MDL: train (on rows to learn from) or before (on all rows).")
    ] = None,
    complete: Annotated[bool, _what("--complete", help="Use only rows in which nothing is missing.")] = False,
    rows: Annotated[int, _what(help="Use at most so many rows, drawn at random; 0 for all.", min=0)] = 60_000,
    data: Annotated[Path | None, _what(help="A folder with the data sets; else INCROWD_DATA.")] = None,
    to: Annotated[Path | None, _outputs(help="A folder for results and pages; goes on if interrupted.")] = None,
    seed: Annotated[int, _engine(help="Of all that is drawn.", min=0)] = 1,
    jobs: Annotated[int | None, _engine(help="Processes; by default one for each core.", min=1)] = None,
    dry_run: Annotated[bool, _outputs("--dry-run", help="Print what it would cost, and stop.")] = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Compare methods by what classifiers learn from their releases, and say which to use.

    A part of the rows is released by each method; learners see only the release and are tested on the other rows.
    Nothing is published.
    """
    from incrowd.comparisons.choices import listed
    from incrowd.comparisons.feeding import parse_feeding
    from incrowd.comparisons.run import prepare_table

    named = {name: options[name] for name in ("quasi_identifiers", "drop", "recipe")} | {
        "target": target,
        "ks": None if k is None else [whole(one, "-k") for one in k.split(",")],
        "hierarchies": _read(options["hierarchies"]),
        "reading": part(Reading, options),
        **{name: value or None for name, value in part(PersonOptions, options).items()},
        **part(Wishes, options),
    }
    _check_memory(Path(table), options["memory"])
    with watched(json) as watch:
        prepared = prepare_table(
            table,
            named,
            {"complete": complete, "rows": rows or None, "seed": seed, "groups": groups, "time": time},
            data,
            watch,
            methods=None if methods is None else listed(methods),
            learners=listed(learners),
            protocol=_protocol(protocol, repeats, full),
            feeding=parse_feeding(feeding),
            seed=seed,
            discretize=discretize,
            jobs=jobs,
            measure=measure,
        )
        comparison = None if dry_run else _run(prepared, to, watch, json)
    if comparison is None:
        _tell_cost(prepared, json)
    elif json:
        print_json(_as_json(comparison))
    else:
        _print(comparison, to)


def _check_memory(file: Path, memory: Any) -> None:
    """Refuse a file that does not fit; the data sets that have a name are small."""
    from incrowd.rows.one_machine import check_whole

    check_whole(memory, *filter(Path.is_file, [enough_memory(file)]))


def _run(prepared: Prepared, to: Path | None, watch: Watcher, json: bool) -> Comparison:
    """Tell the cost and run; if it is interrupted, say what is left of it."""
    from incrowd.comparisons.run import run

    if not (json or sys.stderr.isatty()):
        typer.echo(_cost(prepared), err=True)
    try:
        return run(prepared, to, watch)
    except BaseException:
        if to is not None and to.is_dir():
            typer.echo(f"Finished trials are kept in {to}; the same command goes on from them.", err=True)
        raise


def _protocol(text: str | None, repeats: int | None, full: bool) -> Protocol | None:
    from incrowd.comparisons.protocol import FiveByTwo, parse_protocol
    from incrowd.errors import ParameterError

    if text and full:
        raise ParameterError("--full is a protocol of its own. Leave out --protocol, or --full.")
    if text:
        return parse_protocol(text, repeats)
    if full or repeats:
        return FiveByTwo(repeats or 5, stratified=True)
    return None


def _read(hierarchies: dict[str, Any] | Path | None) -> dict[str, Any] | None:
    """The hierarchies of a folder; those of which only the file is named are read."""
    from incrowd.tables.hierarchies.read import hierarchies_in, read_hierarchy

    if hierarchies is None:
        return None
    if isinstance(hierarchies, Path):
        return hierarchies_in(hierarchies)
    return {name: read_hierarchy(Path(one), name) if isinstance(one, str) else one for name, one in hierarchies.items()}


@contextmanager
def watched(quiet: bool) -> Iterator[Watcher]:
    """Progress with the time left: a bar on a terminal, a line for each tenth elsewhere."""
    if (record := recorder()) is not None:
        yield lambda step: record(stage=step.what, done=step.done, total=step.total, left=step.left)
    elif quiet:
        yield lambda _step: None
    elif not sys.stderr.isatty():
        yield _lines()
    else:
        with _bar() as watch:
            yield watch


def _lines() -> Watcher:
    tenth, first = None, FirstRun()

    def watch(step: Step) -> None:
        nonlocal tenth
        if step.total and tenth != (tenth := 10 * step.done // step.total):
            typer.echo(f"{step.done} of {step.total} trials{_left(step)}", err=True)
        elif step.what.startswith("timing") and tenth is None and (words := str(first)):
            tenth = -1
            typer.echo(f"{words[0].upper()}{words[1:]}.", err=True)

    return watch


def _left(step: Step) -> str:
    from incrowd.comparisons.workers import in_words

    return f", about {in_words(step.left)} left" if step.left and step.done < step.total else ""


@contextmanager
def _bar() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=14),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    first = FirstRun()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None, left="")

        def watch(step: Step) -> None:
            total = step.total or None
            left = _left(step)[2:] or str(first)
            bar.update(task, description=f"{step.what:<28.28}", completed=step.done, total=total, left=left)

        yield watch


def _cost(prepared: Prepared) -> str:
    from incrowd.comparisons.workers import in_words
    from incrowd.drawing.wording import counted

    time = "" if prepared.seconds is None else f", about {in_words(prepared.seconds)}"
    subject = prepared.laboratory.subject
    whose = "" if subject.persons is None else f" of {counted(subject.persons.count, 'person')}"
    return (
        f"{counted(len(prepared.trials), 'trial')} on {counted(subject.table.height, 'row')}{whose}{time} on "
        f"{counted(prepared.jobs, 'core')} ({prepared.laboratory.splitting})."
    )


def _tell_cost(prepared: Prepared, json: bool) -> None:
    if not json:
        typer.echo(_cost(prepared))
        return
    protocol = prepared.laboratory.splitting
    print_json(
        {"trials": len(prepared.trials), "seconds": prepared.seconds, "cores": prepared.jobs, "protocol": protocol}
    )


def _as_json(comparison: Comparison) -> dict[str, Any]:
    from incrowd.comparisons.page import how_measured

    return {
        "recommendation": str(comparison.recommendation).splitlines(),
        "measured": how_measured(comparison),
        "notices": [str(notice) for notice in comparison.notices],
        "results": comparison.results.to_dicts(),
    } | ({} if comparison.persons is None else {"by_rows": [_wrong(error) for error in comparison.row_split_errors]})


def _wrong(error: RowSplitError) -> dict[str, Any]:
    """By how much a split by rows is too good."""
    cell = error.by_rows
    figures = {
        "by_persons": error.by_persons.value,
        "by_rows_which_is_wrong": cell.value,
        "too_good_by": error.too_good,
    }
    return {"learner": cell.learner, "method": cell.method, "k": cell.k, **figures}


def _print(comparison: Comparison, folder: Path | None) -> None:
    from rich.console import Console
    from rich.text import Text

    from incrowd.comparisons.page import score_tables, troubles
    from incrowd.drawing.wording import plain
    from incrowd.report.terminal import notice_table
    from incrowd.report.wording import grouped

    console = Console()
    over = comparison.over_persons
    for table in (*score_tables(comparison.summary), *(() if over is None else score_tables(over))):
        console.print(_rich(table))
        console.print()
    if comparison.row_split_errors:
        console.print(_rich_row_splits(comparison))
        console.print()
    for line in str(comparison.recommendation).splitlines():
        console.print(Text(plain(line), style="bold" if line == comparison.recommendation.overall else ""))
    for trouble in troubles(comparison.summary):
        console.print(Text.assemble(("not done ", "bold yellow"), plain(trouble)))
    if (noticed := notice_table(grouped(comparison.notices))) is not None:
        console.print(noticed)
    measured = (
        f"Measured: {comparison.measure.words}, ± 95 %: {comparison.splitting}; feeding {comparison.setup.feeding}."
    )
    console.print(Text(measured, style="dim"))
    if folder is not None:
        console.print(Text(f"Written: {folder}/index.html, README.md, results.csv, results.parquet", overflow="fold"))


def _rich_row_splits(comparison: Comparison) -> Any:
    """By how much a split by rows is too good."""
    from rich.table import Table
    from rich.text import Text

    from incrowd.comparisons.page import ROW_SPLIT_HEADER, ROW_SPLIT_TITLE, ROW_SPLIT_WORDS, row_split_rows

    shown = Table(box=None, pad_edge=False, header_style="dim", title=ROW_SPLIT_TITLE, title_justify="left")
    for place, name in enumerate(ROW_SPLIT_HEADER):
        shown.add_column(name, justify="right" if place > 1 else "left")
    for row in row_split_rows(comparison):
        shown.add_row(*map(Text, row))
    shown.caption, shown.caption_justify = ROW_SPLIT_WORDS, "left"
    return shown


def _rich(table: ScoreTable) -> Any:
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="dim", title=table.title, title_justify="left")
    shown.add_column("")
    for k in table.ks:
        shown.add_column(f"k={k:,}", justify="right", no_wrap=True)
    for method, scores in table.rows:
        cells = [
            Text.assemble((score.number, "bold green" if score.best else ""), (f" {score.spread:>5}", "dim"))
            for score in scores
        ]
        shown.add_row(Text(method), *cells)
    return shown
